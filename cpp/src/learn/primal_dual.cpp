#include "gapcut/learn/primal_dual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "edge_phase.hpp"
#include "gapcut/learn/metric.hpp"
#include "node_phase.hpp"
#include "operations.hpp"
#include "table_phase.hpp"

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

void check_snapshot(const Problem& p, const PrimalDualSnapshot& copy, std::size_t weights, std::size_t pairwise,
                    const EdgePhase& edges, bool simplex) {
    const auto labels = static_cast<std::size_t>(p.nodes.rows() * p.n_labels);
    const auto sized = copy.w.size() == weights && copy.w_step.size() == weights &&
                       copy.pair_gradient.size() == pairwise && std::ssize(copy.kappa) == p.n_labels &&
                       copy.z.size() == labels && copy.z_step.size() == labels &&
                       copy.arcs.size() == edges.saved_size(copy.active.size());
    if (!sized) throw std::invalid_argument("the snapshot is of another problem");
    const auto finite = [](auto x) { return std::isfinite(x); };
    const auto unit = [](float x) { return x >= 0.0F && x <= 1.0F; };
    bool sound = std::ranges::all_of(copy.w, finite) && std::ranges::all_of(copy.w_step, finite) &&
                 std::ranges::all_of(copy.pair_gradient, finite) && std::ranges::all_of(copy.arcs, finite) &&
                 (simplex ? std::ranges::all_of(copy.z, finite) : std::ranges::all_of(copy.z, unit)) &&
                 std::ranges::all_of(copy.z_step, unit) &&
                 std::ranges::all_of(copy.kappa, [](double k) { return std::isfinite(k) && k > 0.0; });
    std::int32_t last = -1;
    for (const auto pair : copy.active) {
        sound = sound && pair > last && pair < p.n_labels * p.n_labels;
        last = pair;
    }
    if (!sound || copy.iteration < 0 || !(copy.primal_weight > 0.0 && std::isfinite(copy.primal_weight)))
        throw std::invalid_argument("the snapshot holds numbers out of range");
}

}  // namespace

struct PrimalDual::State {
    const Problem& p;
    PrimalDualSettings settings;
    int threads;
    std::unique_ptr<Workers> workers;  // while advance() runs
    double unit;                       // weights outside = unit * weights inside
    double c = 0.0;
    NodePhase nodes;
    std::unique_ptr<EdgePhase> edges;
    Metric metric;
    std::vector<double> lower, upper;         // full coordinates, inside units
    std::vector<std::uint8_t> bounded_label;  // some unary weight of the label has a bound
    std::vector<std::uint8_t> bounded_pair;   // likewise
    std::vector<double> w, w_step, w_bar;     // w, w~ and the extrapolated 2 w~ - w, full
    std::vector<double> true_sum;             // q
    std::vector<double> unary_gradient, pair_gradient;
    std::vector<double> kappa, right, history;
    double damping;
    std::int64_t iteration = 0, metric_changed = 0, safe_since = -1, since_trade_off = 0;

    State(const Problem& problem, std::span<const double> lo, std::span<const double> hi, const PrimalDualSettings& s,
          int t)
        : p(problem), settings(s), threads(std::max(1, t)), unit(loss_unit(problem)), nodes(problem, unit, s.one_label),
          metric(problem, s.theta, s.primal_weight, s.diagonal, t, nodes.rows()), damping(s.damping) {
        expand_box(lo, hi);
        if (s.one_label)
            edges = table_phase();
        else
            edges = std::make_unique<ArcPhase>(problem);
        w.resize(static_cast<std::size_t>(p.full_dim()));
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = std::clamp(0.0, lower[j], upper[j]);
        w_step = w_bar = w;
        true_sum = true_feature_sum(p);
        pair_gradient.assign(w.size() - static_cast<std::size_t>(p.unary_size()), 0.0);
        kappa.assign(static_cast<std::size_t>(p.n_labels), s.kappa0);
    }

    void expand_box(std::span<const double> lo, std::span<const double> hi) {
        lower.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
        upper = lower;
        bounded_label.assign(static_cast<std::size_t>(p.n_labels), 0);
        bounded_pair.assign(static_cast<std::size_t>(p.n_labels) * static_cast<std::size_t>(p.n_labels), 0);
        for (std::int64_t i = 0; i < p.dim(); ++i) {
            const auto j = p.coordinates[i];
            lower[j] = lo[i] / unit;
            upper[j] = hi[i] / unit;
            if (std::isfinite(lo[i]) || std::isfinite(hi[i])) bounded(j) = 1;
        }
        for (std::int64_t j = 0; j < p.full_dim(); ++j)
            if (p.slot[j] < 0) bounded(j) = 1;
    }

    // Whether a weight of the label, or label pair, of this coordinate has a bound.
    std::uint8_t& bounded(std::int64_t j) {
        return j < p.unary_size() ? bounded_label[j / p.node_dim()] : bounded_pair[(j - p.unary_size()) / p.edge_dim()];
    }

    std::unique_ptr<EdgePhase> table_phase() const {
        const auto pairwise = std::span(lower).subspan(static_cast<std::size_t>(p.unary_size()));
        const auto negative = [](auto x) { return x < 0; };
        const auto columns = nonnegative_columns(p);
        const bool at_most =
            settings.spare && std::ranges::none_of(pairwise, negative) &&
            std::ranges::all_of(columns.begin() + p.node_dim(), columns.end(), [](auto x) { return x; });
        std::vector<std::int32_t> pairs;
        for (std::int32_t pair = 0; pair < p.n_labels * p.n_labels; ++pair) {
            const auto* slot = p.slot.data() + p.unary_size() + pair * p.edge_dim();
            const auto used = [](std::int32_t at) { return at >= 0; };
            if (!at_most || std::any_of(slot, slot + p.edge_dim(), used)) pairs.push_back(pair);
        }
        return std::make_unique<TablePhase>(p, at_most, pairs);
    }

    void for_shards(std::int64_t count, const std::function<void(std::int64_t)>& f) const {
        const auto item = [&](std::int64_t shard, int) { f(shard); };
        if (workers)
            workers->run(count, item);
        else
            parallel_for(count, threads, item);
    }

    // The primal weight at which both halves of the saddle point, each in its metric, are equally far from where they
    // began, the rule of PDLP (Applegate et al. 2021). It is at most halved or doubled, and not raised before the
    // labels have moved.
    void update_primal_weight() {
        if (settings.rebalance <= 0.0 || edges->active_pairs().empty()) return;
        std::vector<EdgePhase::Distance> parts(EdgePhase::kShards);
        for_shards(EdgePhase::kShards, [&](std::int64_t s) { parts[s] = edges->squared_distance(s); });
        double weights = weight_norm(), labels = nodes.squared_distance();
        for (const auto& part : parts) {
            weights += part.multipliers / metric.arc_tau();
            labels += part.labels / metric.arc_sigma();
        }
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
        for (int k = 0; k < p.n_labels; ++k) kappa[k] = std::max(1.0, damping * edges->crowding(k));
        refresh_metric();
    }

    void refresh_metric() {
        edges->set_damping(damping);
        metric.update(kappa, c);
        nodes.set_sigma(metric);
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
    for (std::size_t j = 0; j < size; ++j) unary_gradient[j] -= true_sum[j];
    return metric.unary().step(unary_gradient, bounded_label, part(lower), part(upper), part(w), part(w_step));
}

// Step 2 for the pairwise weights: a quadratic program of De variables for each label pair, solved by its Cholesky
// factor unless some have bounds.
double PrimalDual::State::pair_step() {
    const auto K = p.n_labels;
    std::vector<double> residual(static_cast<std::size_t>(K), 0.0);
    for_shards(K, [&](std::int64_t k) { residual[k] = pair_step(k); });
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
        const bool active = edges->active(static_cast<std::int32_t>(pair));
        for (std::int64_t d = 0; d < De; ++d) {
            const double given = pair_gradient[pair * De + d], wanted = true_sum[at + d], slope = given - wanted;
            if (active || std::abs(slope) > kRounding * std::max(std::abs(given), std::abs(wanted))) linear[d] -= slope;
        }
        if (bounded_pair[pair]) {
            std::copy(w.begin() + at, w.begin() + at + De, w_step.begin() + at);
            box_descent(metric.pair_hessian(), linear.data(), lower.data() + at, upper.data() + at, settings.sweeps,
                        w_step.data() + at, room);
        } else {
            std::copy(linear.begin(), linear.end(), w_step.begin() + at);
            double* const step = w_step.data() + at;
            metric.pair_factor().solve({&step, 1});
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
    for (std::int32_t pair = 0; pair < p.n_labels * p.n_labels; ++pair) {
        bool needed = false;
        for (std::int64_t d = 0; d < De; ++d) {
            double& x = w_bar[unary + pair * De + d];
            if (std::abs(x) < kZero) x = 0.0;
            needed |= x != 0.0;
        }
        if (needed && !edges->active(pair)) edges->activate(pair, nodes.z_rows());
        if (!needed && edges->active(pair) && !edges->needed(pair)) edges->deactivate(pair);
    }
}

void PrimalDual::State::iterate() {
    if (iteration == 0) {
        refresh_metric();
        for_shards(NodePhase::kShards, [&](std::int64_t s) { nodes.compute_gradient(s); });
    }
    nodes.gradient(unary_gradient);
    const bool screen = iteration < 10 || iteration % settings.screening_interval == 0;
    if (screen)
        for_shards(EdgePhase::kShards, [&](std::int64_t s) { edges->compute_inactive_gradient(s, nodes.z_rows()); });
    if (iteration > 0 || screen) edges->gradient(screen, pair_gradient);

    double residual = unary_step() + pair_step();
    for (std::size_t j = 0; j < w.size(); ++j) w_bar[j] = 2.0 * w_step[j] - w[j];
    choose_active();
    nodes.set_weights(std::span(w_bar).first(static_cast<std::size_t>(p.unary_size())));
    edges->set_weights(std::span(w_bar).subspan(static_cast<std::size_t>(p.unary_size())));
    const ArcSteps steps{static_cast<float>(metric.arc_tau()), static_cast<float>(metric.arc_sigma()),
                         static_cast<float>(settings.over_relaxation)};
    for_shards(EdgePhase::kShards, [&](std::int64_t s) { edges->step(s, steps, nodes.z_rows()); });
    for_shards(NodePhase::kShards,
               [&](std::int64_t s) { nodes.step(s, static_cast<float>(settings.over_relaxation), *edges); });
    residual += edges->residual() + nodes.residual();
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
                       const PrimalDualSettings& settings, int threads) {
    if (std::ssize(lower) != problem.dim() || std::ssize(upper) != problem.dim())
        throw std::invalid_argument("the box has the wrong length");
    state_ = std::make_unique<State>(problem, lower, upper, settings, threads);
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
    PrimalDualSnapshot copy{s.w,         s.w_step,         s.pair_gradient,         s.kappa, {},
                            s.nodes.z(), s.nodes.z_step(), s.edges->active_pairs(), {}};
    copy.history.assign(s.history.end() - std::min<std::ptrdiff_t>(std::ssize(s.history), kHistory), s.history.end());
    copy.arcs = s.edges->save();
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
    check_snapshot(s.p, copy, s.w.size(), s.pair_gradient.size(), *s.edges, s.settings.one_label);
    s.w = copy.w;
    s.w_step = copy.w_step;
    s.pair_gradient = copy.pair_gradient;
    s.kappa = copy.kappa;
    s.history = copy.history;
    s.nodes.set_labels(copy.z, copy.z_step);
    s.edges->load(copy.active, copy.arcs);
    s.damping = copy.damping;
    s.metric.set_primal_weight(copy.primal_weight);
    s.iteration = copy.iteration;
    s.refresh_metric();
    s.metric_changed = copy.metric_changed;
    s.safe_since = copy.safe_since;
    s.since_trade_off = copy.since_trade_off;
    s.for_shards(NodePhase::kShards, [&](std::int64_t shard) { s.nodes.compute_gradient(shard); });
    s.for_shards(EdgePhase::kShards, [&](std::int64_t shard) { s.edges->compute_gradient(shard); });
}

std::int64_t PrimalDual::iterations() const { return state_->iteration; }
std::int64_t PrimalDual::active_pairs() const { return std::ssize(state_->edges->active_pairs()); }
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

std::vector<std::span<const float>> PrimalDual::tables() const { return state_->edges->tables(); }
double PrimalDual::unit() const { return state_->unit; }
ArcMultipliers PrimalDual::multipliers() const { return state_->edges->multipliers(); }

std::vector<float> PrimalDual::labels() const {
    const State& s = *state_;
    const auto N = s.p.nodes.rows();
    const auto K = s.p.n_labels;
    std::vector<float> z(static_cast<std::size_t>(N * K));
    for (int k = 0; k < K; ++k)
        for (std::int64_t u = 0; u < N; ++u) z[u * K + k] = s.nodes.z_step()[k * N + u];
    return z;
}

}  // namespace gapcut
