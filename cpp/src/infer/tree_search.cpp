#include "gapcut/infer/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "gapcut/infer/reduce.hpp"

namespace gapcut::infer {
namespace {

constexpr double kEntriesPerStopTest = 1 << 18;
constexpr double kEntriesOfWhole = 1 << 22;   // forests of the whole graph are made of graphs up to this size,
constexpr int kWholeInVain = 6;               // until so many in a row do not help
constexpr std::int64_t kLargestWindow = 200;  // nodes
constexpr int kForestsOfWindow = 4;
constexpr std::int64_t kFirstCycle = 100;
constexpr double kHighestTemperature = 0.2;  // of the mean range of the tables

class Search {
  public:
    Search(const EnergyView& energy, std::vector<std::int32_t>&& labels, const TreeSearchSettings& settings,
           const StopTest& stop)
        : energy_(energy), reduced_(energy), settings_(settings), stop_(stop), random_(settings.seed),
          labels_(std::move(labels)) {
        link();
        const auto n = static_cast<std::size_t>(energy.n_nodes());
        parent_.assign(n, kOutside), inside_.assign(n, 0), place_.assign(n, 0), window_of_.assign(n, 0);
    }

    TreeSearchResult run() {
        TreeSearchResult out;
        if (!reduced_.core().empty()) {
            whole();
            windows(out);
        }
        reduced_.complete(labels_);
        out.labels = std::move(labels_);
        out.stopped = stopped_;
        return out;
    }

  private:
    static constexpr std::int64_t kOutside = -2, kRoot = -1;

    // A pair at a node.
    struct Link {
        std::int32_t other;
        std::int64_t pair;
    };

    // What is forbidden costs more than all that is allowed can, so that labelings with less of it are better.
    void link() {
        const auto n = static_cast<std::size_t>(energy_.n_nodes());
        link_at_.assign(n + 1, 0);
        double total = 0.0;
        const auto& pairs = reduced_.pairs();
        for (std::size_t p = 0; p < pairs.size(); ++p)
            if (reduced_.alive(static_cast<std::int64_t>(p)))
                ++link_at_[pairs[p].low + 1], ++link_at_[pairs[p].high + 1];
        std::partial_sum(link_at_.begin(), link_at_.end(), link_at_.begin());
        links_.resize(static_cast<std::size_t>(link_at_.back()));
        std::vector<std::int64_t> next(link_at_.begin(), link_at_.end() - 1);
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if (!reduced_.alive(static_cast<std::int64_t>(p))) continue;
            links_[next[pairs[p].low]++] = {pairs[p].high, static_cast<std::int64_t>(p)};
            links_[next[pairs[p].high]++] = {pairs[p].low, static_cast<std::int64_t>(p)};
            const std::int32_t rows = reduced_.n_labels(pairs[p].low), columns = reduced_.n_labels(pairs[p].high);
            entries_ += static_cast<double>(rows) * columns;
            double most = 0.0, least = kInfinity;
            for (std::int32_t k = 0; k < rows; ++k)
                for (std::int32_t l = 0; l < columns; ++l)
                    if (const double x = pairs[p].at(true, k, l); x < kInfinity)
                        most = std::max(most, std::abs(x)), least = std::min(least, x);
            total += most;
            if (least < kInfinity) scale_ += std::min(most - least, 2.0 * most) / static_cast<double>(pairs.size());
        }
        for (const std::int32_t u : reduced_.core()) {
            double most = 0.0;
            for (std::int32_t k = 0; k < reduced_.n_labels(u); ++k)
                if (const double x = reduced_.unary_of(u)[k]; x < kInfinity) most = std::max(most, std::abs(x));
            total += most;
        }
        forbidden_ = 2.0 * total + 1.0;
    }

    double unary(std::int32_t u, std::int32_t k) const { return std::min(reduced_.unary_of(u)[k], forbidden_); }

    // Entry of the pair at u's label k and the other's label l.
    double entry(const Link& link, std::int32_t u, std::int32_t k, std::int32_t l) const {
        const Pair& p = reduced_.pairs()[static_cast<std::size_t>(link.pair)];
        return std::min(p.at(p.low == u, k, l), forbidden_);
    }

    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

    bool stops() {
        if (stopped_ || read_ >= settings_.most_entries) return true;
        if (read_ < next_test_) return false;
        next_test_ = read_ + kEntriesPerStopTest;
        return stopped_ = stop_ && stop_();
    }

    // Marks an induced forest among `nodes`, grown from random roots, in forest_: parents before children.
    void grow(const std::vector<std::int32_t>& nodes) {
        forest_.clear();
        for (const std::int32_t u : nodes) inside_[u] = 1, parent_[u] = kOutside, place_[u] = 0;
        order_ = nodes;
        for (std::size_t i = 0; i < order_.size(); ++i)
            std::swap(order_[i],
                      order_[i + static_cast<std::size_t>(below(static_cast<std::int64_t>(order_.size() - i)))]);
        for (const std::int32_t root : order_) {
            if (parent_[root] != kOutside || place_[root] > 0) continue;  // has a neighbour in a tree
            front_.assign(1, {root, kRoot});
            while (!front_.empty()) {
                std::swap(front_[static_cast<std::size_t>(below(std::ssize(front_)))], front_.back());
                const auto [u, from] = front_.back();
                front_.pop_back();
                if (parent_[u] != kOutside || place_[u] > 1) continue;
                parent_[u] = from;
                forest_.push_back(u);
                for (std::int64_t i = link_at_[u]; i < link_at_[u + 1]; ++i) {
                    const std::int32_t v = links_[i].other;
                    if (!inside_[v] || parent_[v] != kOutside) continue;
                    if (++place_[v] == 1) front_.push_back({v, links_[i].pair});
                }
            }
        }
        for (const std::int32_t u : nodes) inside_[u] = 0;
    }

    // The best labels of the forest, given all others.
    void optimise(const std::vector<std::int32_t>& nodes) {
        grow(nodes);
        cost_at_.resize(forest_.size());
        std::int64_t size = 0;
        for (std::size_t i = 0; i < forest_.size(); ++i) {
            place_[forest_[i]] = static_cast<std::int32_t>(i);
            cost_at_[i] = size;
            size += reduced_.n_labels(forest_[i]);
        }
        costs_.resize(static_cast<std::size_t>(size));
        for (const std::int32_t u : forest_) condition(u);
        for (std::size_t i = forest_.size(); i-- > 0;) send(forest_[i]);
        for (const std::int32_t u : forest_) choose(u);
        for (const std::int32_t u : nodes) parent_[u] = kOutside;
    }

    // costs = unary and all neighbours that keep their labels.
    void condition(std::int32_t u) {
        double* cost = costs_.data() + cost_at_[place_[u]];
        const std::int32_t n = reduced_.n_labels(u);
        for (std::int32_t k = 0; k < n; ++k) cost[k] = unary(u, k);
        read_ += n;  // also where no pair is left: the search must end
        for (std::int64_t i = link_at_[u]; i < link_at_[u + 1]; ++i) {
            const Link& link = links_[i];
            if (parent_[link.other] != kOutside) continue;
            for (std::int32_t k = 0; k < n; ++k) cost[k] += entry(link, u, k, labels_[link.other]);
            read_ += n;
        }
    }

    std::int32_t parent_of(std::int32_t u) const {
        const Pair& p = reduced_.pairs()[static_cast<std::size_t>(parent_[u])];
        return p.low == u ? p.high : p.low;
    }

    void send(std::int32_t u) {
        if (parent_[u] < 0) return;
        const std::int32_t v = parent_of(u), rows = reduced_.n_labels(u), columns = reduced_.n_labels(v);
        const Link link{v, parent_[u]};
        const double* own = costs_.data() + cost_at_[place_[u]];
        double* other = costs_.data() + cost_at_[place_[v]];
        for (std::int32_t l = 0; l < columns; ++l) {
            double best = kInfinity;
            for (std::int32_t k = 0; k < rows; ++k) best = std::min(best, own[k] + entry(link, u, k, l));
            other[l] += best;
        }
        read_ += static_cast<double>(rows) * columns;
    }

    // Ties go to a random label, so that plateaus are left.
    void choose(std::int32_t u) {
        const double* own = costs_.data() + cost_at_[place_[u]];
        const std::int32_t n = reduced_.n_labels(u);
        const auto cost = [&](std::int32_t k) {
            return parent_[u] < 0 ? own[k] : own[k] + entry({0, parent_[u]}, u, k, labels_[parent_of(u)]);
        };
        std::int32_t k = static_cast<std::int32_t>(below(n)), best = k;
        double least = cost(k);
        for (std::int32_t i = 1; i < n; ++i) {
            k = k + 1 < n ? k + 1 : 0;
            if (const double x = cost(k); x < least) least = x, best = k;
        }
        labels_[u] = best;
    }

    // All terms at these nodes; window_of_ marks them.
    double energy_of(const std::vector<std::int32_t>& nodes) {
        double sum = 0.0;
        for (const std::int32_t u : nodes) {
            sum += unary(u, labels_[u]);
            for (std::int64_t i = link_at_[u]; i < link_at_[u + 1]; ++i) {
                const Link& link = links_[i];
                if (window_of_[link.other] && link.other < u) continue;
                sum += entry(link, u, labels_[u], labels_[link.other]);
            }
            read_ += static_cast<double>(link_at_[u + 1] - link_at_[u]);
        }
        return sum;
    }

    void whole() {
        if (entries_ > kEntriesOfWhole) return;
        const std::vector<std::int32_t>& core = reduced_.core();
        for (const std::int32_t u : core) window_of_[u] = 1;
        double now = energy_of(core);
        for (int in_vain = 0; in_vain < kWholeInVain && !stops();) {
            optimise(core);
            const double after = energy_of(core);
            in_vain = after < now ? 0 : in_vain + 1;
            now = after;
        }
        for (const std::int32_t u : core) window_of_[u] = 0;
    }

    // A random node and those nearest to it, in the order in which they are reached.
    void choose_window(std::int64_t size) {
        const auto& core = reduced_.core();
        window_.assign(1, core[static_cast<std::size_t>(below(std::ssize(core)))]);
        window_of_[window_[0]] = 1;
        for (std::size_t i = 0; i < window_.size() && std::ssize(window_) < size; ++i) {
            const std::int64_t first = link_at_[window_[i]], degree = link_at_[window_[i] + 1] - first;
            const std::int64_t begin = degree > 0 ? below(degree) : 0;
            for (std::int64_t d = 0; d < degree && std::ssize(window_) < size; ++d) {
                const std::int32_t v = links_[first + (begin + d) % degree].other;
                if (window_of_[v]) continue;
                window_of_[v] = 1;
                window_.push_back(v);
            }
            read_ += static_cast<double>(degree);
        }
    }

    // Cycles of growing length. The first only goes down; the others also go up, less and less, from the best labeling
    // so far (simulated annealing over windows), and count if they end lower.
    void windows(TreeSearchResult& out) {
        const auto n = std::ssize(reduced_.core());
        double best = 0.0, now = 0.0;  // relative to the energy at the beginning
        std::vector<std::int32_t> best_labels = labels_;
        std::int64_t length = kFirstCycle + n / kLargestWindow;
        for (int cycle = 0; !stops(); ++cycle) {
            const double highest = cycle == 0 ? 0.0 : kHighestTemperature * scale_ * (1.0 - cycle % 3 / 4.0);
            for (std::int64_t i = 0; i < length && !stops(); ++i) {
                now += window(highest * (1.0 - static_cast<double>(i) / static_cast<double>(length)), out);
                if (stopped_ || read_ >= settings_.most_entries) break;
            }
            if (now < best) {
                best = now;
                best_labels = labels_;
            } else {
                labels_ = best_labels;
                now = best;
            }
            length += length / 2;
        }
    }

    // Random labels in the middle of a window, then forests; returns the change of the energy, 0 if it was taken back.
    double window(double temperature, TreeSearchResult& out) {
        choose_window(1 + below(std::min<std::int64_t>(kLargestWindow, std::ssize(reduced_.core()))));
        const double before = energy_of(window_);
        kept_.clear();
        for (const std::int32_t u : window_) kept_.push_back(labels_[u]);
        const std::int64_t kicked = std::min(below(std::ssize(window_) / 2 + 2), std::ssize(window_));
        for (std::int64_t i = 0; i < kicked; ++i)
            labels_[window_[i]] = static_cast<std::int32_t>(below(reduced_.n_labels(window_[i])));
        for (int i = 0; i < kForestsOfWindow; ++i) optimise(window_);
        double change = energy_of(window_) - before;
        ++out.moves, out.improvements += change < 0.0;
        if (change > 0.0 && !(temperature > 0.0 && change < -temperature * std::log(uniform()))) {
            for (std::size_t i = 0; i < window_.size(); ++i) labels_[window_[i]] = kept_[i];
            change = 0.0;
        }
        for (const std::int32_t u : window_) window_of_[u] = 0;
        return change;
    }

    double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

    const EnergyView& energy_;
    Reduction reduced_;
    const TreeSearchSettings& settings_;
    const StopTest& stop_;
    std::mt19937_64 random_;
    std::vector<std::int32_t> labels_, forest_, order_, window_, kept_, place_;
    std::vector<std::int64_t> link_at_, parent_, cost_at_;  // parent_: the pair to it, kRoot, or kOutside
    std::vector<Link> links_;
    std::vector<char> inside_, window_of_;
    std::vector<std::pair<std::int32_t, std::int64_t>> front_;
    std::vector<double> costs_;
    double forbidden_ = 1.0, scale_ = 0.0, entries_ = 0.0, read_ = 0.0, next_test_ = 0.0;
    bool stopped_ = false;
};

}  // namespace

TreeSearchResult tree_search(const EnergyView& energy, std::vector<std::int32_t> labels,
                             const TreeSearchSettings& settings, const StopTest& stop) {
    terms(energy, labels);  // checks them
    return Search(energy, std::move(labels), settings, stop).run();
}

}  // namespace gapcut::infer
