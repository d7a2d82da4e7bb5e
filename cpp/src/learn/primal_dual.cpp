#include "gapcut/learn/primal_dual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "gapcut/learn/metric.hpp"
#include "operations.hpp"
#include "pair_ties.hpp"

namespace gapcut {
namespace {

constexpr double kZero = 1e-9;  // smaller weights count as zero: rounding would keep pairs active otherwise
// Sums of floats differ by so much from what they stand for: labels that are still the true ones would activate pairs.
constexpr double kRounding = 1e-6;

constexpr std::int64_t kFirstUpdate =
    10;  // iterations before the metric is first adapted; then at twice as many, and so on
constexpr std::int64_t kMinIterations = 40;  // iterations before distances say enough to raise the primal weight
constexpr double kBoldest = 0.2;             // least factor of the primal weight with one label a node
constexpr std::ptrdiff_t kHistory = 10;      // residuals that the monitor compares

void check_snapshot(const Problem& p, const PrimalDualSnapshot& copy, std::size_t weights, std::size_t pairwise) {
    const auto sized = copy.w.size() == weights && copy.w_step.size() == weights &&
                       copy.pair_gradient.size() == pairwise && std::ssize(copy.kappa) == p.n_labels;
    if (!sized) throw std::invalid_argument("the snapshot is of another problem");
    const auto finite = [](double x) { return std::isfinite(x); };
    bool sound = std::ranges::all_of(copy.w, finite) && std::ranges::all_of(copy.w_step, finite) &&
                 std::ranges::all_of(copy.pair_gradient, finite) &&
                 std::ranges::all_of(copy.kappa, [](double k) { return std::isfinite(k) && k > 0.0; });
    std::int32_t last = -1;
    for (const auto pair : copy.active) {
        sound = sound && pair > last && pair < p.n_labels * p.n_labels;
        last = pair;
    }
    if (!sound || copy.iteration < 0 || !(copy.primal_weight > 0.0 && std::isfinite(copy.primal_weight)))
        throw std::invalid_argument("the snapshot holds numbers out of range");
}

// Full coordinates of the box, in units of `unit`.
std::vector<double> expanded(const Problem& p, std::span<const double> compact, double unit) {
    std::vector<double> full(static_cast<std::size_t>(p.full_dim()), 0.0);
    for (std::int64_t i = 0; i < p.dim(); ++i) full[p.coordinates[i]] = compact[i] / unit;
    return full;
}

}  // namespace

struct PrimalDual::State {
    const Problem& p;
    PrimalDualSettings settings;
    int threads;
    std::unique_ptr<Workers> workers;  // while advance() runs
    std::vector<StepShard*> shards;    // empty: elsewhere
    Ask elsewhere;
    double unit;  // weights outside = unit * weights inside
    double c = 0.0;
    PairTies ties;
    Metric metric;
    std::vector<double> lower, upper;         // full coordinates, inside units
    std::vector<std::uint8_t> bounded_label;  // some unary weight of the label has a bound
    std::vector<std::uint8_t> bounded_pair;   // likewise
    std::vector<double> w, w_step, w_bar;     // w, w~ and the extrapolated 2 w~ - w, full
    std::vector<double> true_sum;             // q
    std::vector<double> unary_gradient, pair_gradient;
    std::vector<std::int32_t> active;  // label pairs in use, ascending
    std::vector<std::uint8_t> needed;  // (K * K,) whether one in use must stay, also without weights
    bool asked = false;                // gradients and `needed` are those of the state
    std::vector<double> kappa, right, history;
    double damping;
    std::int64_t iteration = 0, metric_changed = 0, safe_since = -1, since_trade_off = 0;

    State(const Problem& problem, std::span<const double> lo, std::span<const double> hi, const PrimalDualSettings& s,
          int t, std::vector<StepShard*> parts, Ask ask, std::vector<std::int32_t> tied)
        : p(problem), settings(s), threads(std::max(1, t)), shards(std::move(parts)), elsewhere(std::move(ask)),
          unit(loss_unit(problem)), ties(std::move(tied), std::int64_t{p.n_labels} * p.n_labels),
          metric(problem, s.theta, s.primal_weight, s.diagonal, t,
                 shards.size() == 1 ? shards.front()->rows() : FloatRows{}, ties.counts()),
          lower(expanded(problem, lo, unit)), upper(expanded(problem, hi, unit)), damping(s.damping) {
        find_bounds(lo, hi);
        if (s.one_label) active = step_setup(p, lo, s).pairs;
        needed.assign(bounded_pair.size(), s.one_label);
        w.resize(static_cast<std::size_t>(p.full_dim()));
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = std::clamp(0.0, lower[j], upper[j]);
        w_step = w_bar = w;
        true_sum = true_feature_sum(p);
        ties.average(std::span(true_sum).subspan(static_cast<std::size_t>(p.unary_size())), p.edge_dim());
        unary_gradient.assign(static_cast<std::size_t>(p.unary_size()), 0.0);
        pair_gradient.assign(w.size() - unary_gradient.size(), 0.0);
        kappa.assign(static_cast<std::size_t>(p.n_labels), s.kappa0);
    }

    void find_bounds(std::span<const double> lo, std::span<const double> hi) {
        bounded_label.assign(static_cast<std::size_t>(p.n_labels), 0);
        bounded_pair.assign(static_cast<std::size_t>(p.n_labels) * static_cast<std::size_t>(p.n_labels), 0);
        for (std::int64_t i = 0; i < p.dim(); ++i)
            if (std::isfinite(lo[i]) || std::isfinite(hi[i])) bounded(p.coordinates[i]) = 1;
        for (std::int64_t j = 0; j < p.full_dim(); ++j)
            if (p.slot[j] < 0) bounded(j) = 1;
    }

    // Whether a weight of the label, or label pair, of this coordinate has a bound.
    std::uint8_t& bounded(std::int64_t j) {
        return j < p.unary_size() ? bounded_label[j / p.node_dim()] : bounded_pair[(j - p.unary_size()) / p.edge_dim()];
    }

    void for_items(std::int64_t count, const std::function<void(std::int64_t)>& f) const {
        const auto item = [&](std::int64_t i, int) { f(i); };
        if (workers)
            workers->run(count, item);
        else
            parallel_for(count, threads, item);
    }

    StepOrder order(bool inactive) const {
        return {w_bar, active, kappa, metric.label_sigma(), damping, metric.arc_tau(), metric.arc_sigma(), inactive};
    }

    // The sum of what all shards answer.
    std::vector<double> ask(StepQuestion question, const StepOrder& order) const {
        const auto numbers = order.packed(p.n_labels);
        if (shards.empty()) return elsewhere(question, numbers);
        std::vector<std::vector<double>> answers;
        for (StepShard* shard : shards)
            answers.push_back(shard->ask(question, numbers, [&](auto count, const auto& f) { for_items(count, f); }));
        return tree_sum(std::move(answers));
    }

    // The pairs not active are looked at in few iterations only; between, their gradients stay as they are.
    bool screens(std::int64_t at) const { return at < 10 || at % settings.screening_interval == 0; }

    // Gradients at the state that `question` leads to, where iteration `next` begins.
    double take_gradients(StepQuestion question, std::int64_t next) {
        const auto De = p.edge_dim();
        const StepOrder all = order(screens(next));
        const auto answer = StepAnswer::unpacked(p, all, ask(question, all));
        unary_gradient = answer.unary;
        if (all.inactive)
            pair_gradient = answer.pairs;
        else
            for (std::size_t i = 0; i < active.size(); ++i)
                std::copy_n(answer.pairs.begin() + static_cast<std::ptrdiff_t>(i) * De, De,
                            pair_gradient.begin() + active[i] * De);
        for (std::size_t i = 0; i < active.size(); ++i) needed[active[i]] = answer.needed[i] > 0.0;
        ties.average(pair_gradient, De);
        ties.join(needed);
        asked = true;
        return answer.residual;
    }

    // How many times more a label of a node is pulled at by each edge than by one multiplier.
    double crowding(int label) const {
        if (settings.one_label) return 1.0;
        const auto out = std::ranges::count_if(active, [&](auto pair) { return pair / p.n_labels == label; });
        const auto in = std::ranges::count_if(active, [&](auto pair) { return pair % p.n_labels == label; });
        return static_cast<double>(std::max(out, in));
    }

    // The primal weight at which both halves of the saddle point, each in its metric, are equally far from where they
    // began, the rule of PDLP (Applegate et al. 2021). It is at most halved or doubled, and not raised before the
    // labels have moved.
    void update_primal_weight() {
        if (settings.rebalance <= 0.0 || active.empty()) return;
        const auto found = ask(StepQuestion::distance, order(false));
        const double weights = std::accumulate(found.begin() + 1, found.end(), weight_norm()), labels = found.at(0);
        if (!(weights > 0.0 && labels > 0.0)) return;
        const double now = metric.primal_weight(), wanted = settings.rebalance * now * std::sqrt(labels / weights);
        const double most = since_trade_off < kMinIterations ? now : 2.0 * now;
        const double least = (settings.one_label ? kBoldest : 0.5) * now;
        if (std::isfinite(wanted)) metric.set_primal_weight(std::clamp(wanted, least, most));
    }

    // |w|^2 in the metric.
    double weight_norm() {
        const auto De = p.edge_dim(), unary = p.unary_size();
        right.resize(static_cast<std::size_t>(unary));
        metric.unary().multiply(std::span(w).first(right.size()), right);
        double sum = std::inner_product(right.begin(), right.end(), w.begin(), 0.0);
        right.resize(static_cast<std::size_t>(De));
        for (auto at = unary; at < std::ssize(w); at += De) {
            metric.pair_gram().multiply(w.data() + at, right.data());
            sum += std::inner_product(right.begin(), right.end(), w.begin() + at, 0.0);
        }
        return sum;
    }

    void adapt_metric() {
        for (int k = 0; k < p.n_labels; ++k) kappa[k] = std::max(1.0, damping * crowding(k));
        refresh_metric();
    }

    void refresh_metric() {
        metric.update(kappa, c);
        metric_changed = iteration;
    }

    double unary_step();
    double pair_step();
    double pair_step(std::int64_t label);
    void choose_active();
    void iterate();
    void monitor(double residual);
};

// Step 2 for the unary weights: (L_k + I/c) x = L_k w^k - g_k. Returns |dw|^2 in L.
double PrimalDual::State::unary_step() {
    const auto size = static_cast<std::size_t>(p.unary_size());
    const auto part = [size](std::vector<double>& x) { return std::span(x).first(size); };
    right.resize(size);
    for (std::size_t j = 0; j < size; ++j) right[j] = unary_gradient[j] - true_sum[j];
    return metric.unary().step(right, bounded_label, part(lower), part(upper), part(w), part(w_step));
}

// Step 2 for the pairwise weights: a quadratic program of De variables for each label pair, solved by its Cholesky
// factor unless some have bounds.
double PrimalDual::State::pair_step() {
    const auto K = p.n_labels;
    std::vector<double> residual(static_cast<std::size_t>(K), 0.0);
    for_items(K, [&](std::int64_t k) { residual[k] = pair_step(k); });
    return std::accumulate(residual.begin(), residual.end(), 0.0);
}

// The pairs (label, *).
double PrimalDual::State::pair_step(std::int64_t label) {
    const auto De = p.edge_dim(), K = std::int64_t{p.n_labels};
    std::vector<double> linear(static_cast<std::size_t>(De)), change(linear), room;
    double residual = 0.0;
    for (auto pair = label * K; pair < (label + 1) * K; ++pair) {
        const auto at = p.unary_size() + pair * De;
        metric.pair_gram().multiply(w.data() + at, linear.data());
        const bool in_use = std::ranges::binary_search(active, static_cast<std::int32_t>(pair));
        for (std::int64_t d = 0; d < De; ++d) {
            const double given = pair_gradient[pair * De + d], wanted = true_sum[at + d], slope = given - wanted;
            if (in_use || std::abs(slope) > kRounding * std::max(std::abs(given), std::abs(wanted))) linear[d] -= slope;
        }
        if (bounded_pair[pair]) {
            std::copy(w.begin() + at, w.begin() + at + De, w_step.begin() + at);
            box_descent(metric.pair_hessian(ties.count(pair)), linear.data(), lower.data() + at, upper.data() + at,
                        settings.sweeps, w_step.data() + at, room);
        } else {
            std::copy(linear.begin(), linear.end(), w_step.begin() + at);
            double* const step = w_step.data() + at;
            metric.pair_factor(ties.count(pair)).solve({&step, 1});
        }
        bool any = false;
        for (std::int64_t d = 0; d < De; ++d) any |= (change[d] = w_step[at + d] - w[at + d]) != 0.0;
        if (!any) continue;
        metric.pair_gram().multiply(change.data(), linear.data());
        residual += std::inner_product(change.begin(), change.end(), linear.begin(), 0.0);
    }
    return residual;
}

// Step 3: a pair is active while its extrapolated weights are not zero or its arcs still have positive multipliers d.
void PrimalDual::State::choose_active() {
    const auto De = p.edge_dim(), unary = p.unary_size();
    std::vector<std::int32_t> chosen;
    for (std::int32_t pair = 0; pair < std::ssize(needed); ++pair) {
        bool any = false;
        for (std::int64_t d = 0; d < De; ++d) {
            double& x = w_bar[unary + pair * De + d];
            if (std::abs(x) < kZero) x = 0.0;
            any |= x != 0.0;
        }
        if (any || (needed[pair] && std::ranges::binary_search(active, pair))) chosen.push_back(pair);
    }
    if (!settings.one_label) active.swap(chosen);
}

void PrimalDual::State::iterate() {
    if (iteration == 0) refresh_metric();
    if (!asked) take_gradients(StepQuestion::gradient, iteration);
    double residual = unary_step() + pair_step();
    for (std::size_t j = 0; j < w.size(); ++j) w_bar[j] = 2.0 * w_step[j] - w[j];
    choose_active();
    residual += take_gradients(StepQuestion::step, iteration + 1);
    for (std::size_t j = 0; j < w.size(); ++j) {
        w[j] = std::clamp(w[j] + settings.over_relaxation * (w_step[j] - w[j]), lower[j], upper[j]);
        if (std::abs(w[j]) < kZero && lower[j] <= 0.0) w[j] = 0.0;
    }
    ++iteration;
    monitor(residual);
}

// A residual that grows shows steps that are too long; the label steps are then halved, down to the provably safe ones.
void PrimalDual::State::monitor(double residual) {
    history.push_back(residual);
    ++since_trade_off;
    for (std::int64_t due = kFirstUpdate; due <= since_trade_off; due *= 2)
        if (due == since_trade_off) {
            if (settings.one_label || due >= 2 * kFirstUpdate) update_primal_weight();
            adapt_metric();
        }
    if (iteration < metric_changed + 10 || iteration % 5 != 0 || history.size() < 10 || damping >= 1.0) return;
    const auto recent = history.end() - 5, before = recent - 5;
    const bool finite = std::isfinite(residual);
    if (finite && std::accumulate(recent, history.end(), 0.0) <= std::accumulate(before, recent, 0.0)) return;
    damping = std::min(1.0, 2.0 * damping);
    if (damping == 1.0) safe_since = iteration;
    adapt_metric();
}

PrimalDual::PrimalDual(const Problem& problem, std::span<const double> lower, std::span<const double> upper, double C,
                       const PrimalDualSettings& settings, int threads, std::vector<StepShard*> shards, Ask ask,
                       std::vector<std::int32_t> tied) {
    if (std::ssize(lower) != problem.dim() || std::ssize(upper) != problem.dim())
        throw std::invalid_argument("the box has the wrong length");
    if (shards.empty() == !ask) throw std::invalid_argument("either shards, or who asks them");
    state_ = std::make_unique<State>(problem, lower, upper, settings, threads, std::move(shards), std::move(ask),
                                     std::move(tied));
    set_trade_off(C);
}

PrimalDual::~PrimalDual() = default;

void PrimalDual::set_trade_off(double C) {
    State& s = *state_;
    s.c = C / static_cast<double>(s.p.n_graphs()) / s.unit;
    s.history.clear();
    s.since_trade_off = 0;
    if (s.iteration > 0) s.refresh_metric();
}

void PrimalDual::advance(int iterations, const StopTest& stop) {
    struct WorkersGuard {  // ends the threads also when stop() throws
        State& s;
        explicit WorkersGuard(State& state) : s(state) { s.workers = std::make_unique<Workers>(s.threads); }
        ~WorkersGuard() { s.workers.reset(); }
    } guard(*state_);
    for (int i = 0; i < iterations; ++i) {
        if (stop && stop()) throw Interrupted();
        state_->iterate();
    }
}

PrimalDualSnapshot PrimalDual::snapshot() const {
    const State& s = *state_;
    PrimalDualSnapshot copy{s.w, s.w_step, s.pair_gradient, s.kappa, {}, s.active};
    copy.history.assign(s.history.end() - std::min<std::ptrdiff_t>(std::ssize(s.history), kHistory), s.history.end());
    copy.damping = s.damping;
    copy.primal_weight = s.metric.primal_weight();
    copy.iteration = s.iteration;
    copy.metric_changed = s.metric_changed;
    copy.safe_since = s.safe_since;
    copy.since_trade_off = s.since_trade_off;
    return copy;
}

void PrimalDual::restore(const PrimalDualSnapshot& copy) {
    State& s = *state_;
    check_snapshot(s.p, copy, s.w.size(), s.pair_gradient.size());
    if (s.settings.one_label && copy.active != s.active)
        throw std::invalid_argument("the snapshot is of another problem");
    s.w = copy.w;
    s.w_step = copy.w_step;
    s.pair_gradient = copy.pair_gradient;
    s.kappa = copy.kappa;
    s.history = copy.history;
    s.active = copy.active;
    s.asked = false;
    s.damping = copy.damping;
    s.metric.set_primal_weight(copy.primal_weight);
    s.iteration = copy.iteration;
    s.refresh_metric();
    s.metric_changed = copy.metric_changed;
    s.safe_since = copy.safe_since;
    s.since_trade_off = copy.since_trade_off;
}

std::int64_t PrimalDual::iterations() const { return state_->iteration; }
std::int64_t PrimalDual::active_pairs() const { return std::ssize(state_->active); }
std::int64_t PrimalDual::safe_since() const { return state_->safe_since; }
double PrimalDual::primal_weight() const { return state_->metric.primal_weight(); }
double PrimalDual::residual() const { return state_->history.empty() ? 0.0 : state_->history.back(); }

double PrimalDual::operations() const {
    const State& s = *state_;
    const auto N = static_cast<double>(s.p.nodes.rows()), M = static_cast<double>(s.p.edges.rows());
    const double K = s.p.n_labels, active = static_cast<double>(active_pairs());
    const auto Dn = static_cast<double>(s.p.node_dim());
    const double products = (s.p.edges.sparse() ? 0.7 : 0.45) * entries_a_row(s.p.edges);
    return N * K * (0.7 * Dn + 20.0) + M * (active * (products + 6.0) + 12.0 * K) + 1.5 * K * Dn * Dn;
}

std::vector<double> PrimalDual::weights() const {
    const State& s = *state_;
    std::vector<double> compact;
    compact.reserve(s.p.coordinates.size());
    for (const auto j : s.p.coordinates) {
        const double x = s.w_step[j];
        compact.push_back(s.unit * (std::abs(x) < kZero && s.lower[j] <= 0.0 && s.upper[j] >= 0.0 ? 0.0 : x));
    }
    return compact;
}

double PrimalDual::unit() const { return state_->unit; }

}  // namespace gapcut
