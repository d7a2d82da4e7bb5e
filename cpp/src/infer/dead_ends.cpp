#include "gapcut/infer/dead_ends.hpp"

#include <algorithm>
#include <deque>

namespace gapcut::infer {
namespace {

class Eliminator {
  public:
    Eliminator(const FactorGraph& graph, std::int64_t largest, const StopTest& stop)
        : graph_(graph), largest_(largest), pace_(stop), says_(graph), marginal_(graph) {}

    std::vector<char> run() {
        std::deque<std::int32_t> queue;
        std::vector<char> queued(static_cast<std::size_t>(graph_.n_nodes()), 1);
        for (std::int32_t u = 0; u < graph_.n_nodes(); ++u) queue.push_back(u);
        while (!queue.empty() && !pace_.struck()) {
            const std::int32_t u = queue.front();
            queue.pop_front();
            queued[u] = 0;
            const bool pruned = unsupported(u), changed = dominated(u) || pruned;
            if (!says_.any_alive(graph_, u)) break;
            if (!changed) continue;
            graph_.each_neighbour(u, [&](std::int32_t v) {
                if (!queued[v]) queued[v] = 1, queue.push_back(v);
            });
        }
        return std::move(says_.alive);
    }

  private:
    bool alive(std::int32_t u, std::int32_t k) const { return says_.alive[graph_.unary_at(u) + k] != 0; }

    // Kills labels that some factor forbids whatever living labels the other members take.
    bool unsupported(std::int32_t u) {
        bool changed = false;
        message_.resize(static_cast<std::size_t>(graph_.n_labels(u)));
        for (const std::int64_t p : graph_.places(u)) {
            marginal_(p, says_.add.data(), nullptr, message_.data());
            pace_(graph_.table_size(graph_.factor(p)));
            for (std::int32_t k = 0; k < graph_.n_labels(u); ++k)
                if (alive(u, k) && message_[k] == kInfinity) says_.kill(graph_, u, k), changed = true;
        }
        return changed;
    }

    // Kills dominated labels, one after the other.
    bool dominated(std::int32_t u) {
        const std::int32_t n = graph_.n_labels(u);
        std::int64_t work = 0;
        for (const std::int64_t p : graph_.places(u)) work += n * graph_.table_size(graph_.factor(p));
        if (n < 2 || work > largest_) return false;
        bool changed = false;
        for (std::int32_t l = 0; l < n && !pace_.struck(); ++l) {
            if (!alive(u, l)) continue;
            excess_.assign(static_cast<std::size_t>(n), 0.0);
            for (std::int32_t k = 0; k < n; ++k)
                excess_[k] = k == l || !alive(u, k) ? -kInfinity : down(graph_.unary_of(u)[k] - graph_.unary_of(u)[l]);
            for (const std::int64_t p : graph_.places(u)) {
                if (!subtract_least(p, l)) break;
                pace_(graph_.table_size(graph_.factor(p)));
            }
            for (std::int32_t k = 0; k < n; ++k)
                if (excess_[k] >= 0.0) says_.kill(graph_, u, k), changed = true;
        }
        return changed;
    }

    // excess[k] += min over living labels of the others of table(k, .) - table(l, .); false if no k is left to hope
    // for.
    bool subtract_least(std::int64_t place, std::int32_t l) {
        const std::int64_t f = graph_.factor(place), inside = graph_.stride(place);
        const std::int32_t n = graph_.n_labels(graph_.member(place));
        list_living_cells(place);
        bool hope = false;
        for (std::int32_t k = 0; k < n; ++k) {
            if (excess_[k] == -kInfinity) continue;
            const double* own = graph_.table_of(f) + k * inside;
            const double* other = graph_.table_of(f) + l * inside;
            double least = kInfinity;
            for (const std::int64_t c : cells_) {
                if (own[c] == kInfinity) continue;
                if (other[c] == kInfinity) {
                    least = -kInfinity;
                    break;
                }
                least = std::min(least, own[c] - other[c]);
            }
            excess_[k] = least == -kInfinity ? least : down(excess_[k] + down(least));
            hope |= excess_[k] > -kInfinity;
        }
        return hope;
    }

    // Offsets of the cells with living labels at all members but `place`, whose label is 0.
    void list_living_cells(std::int64_t place) {
        cells_.assign(1, 0);
        for (std::int64_t q = graph_.first(graph_.factor(place)); q < graph_.last(graph_.factor(place)); ++q) {
            if (q == place) continue;
            wider_.clear();
            for (const std::int64_t c : cells_)
                for (std::int32_t k = 0; k < graph_.n_labels(graph_.member(q)); ++k)
                    if (alive(graph_.member(q), k)) wider_.push_back(c + k * graph_.stride(q));
            cells_.swap(wider_);
        }
    }

    const FactorGraph& graph_;
    std::int64_t largest_;
    PacedStop pace_;
    Sayings says_;
    MinMarginal marginal_;
    std::vector<double> message_, excess_;
    std::vector<std::int64_t> cells_, wider_;
};

}  // namespace

std::vector<char> dead_ends(const FactorGraph& graph, std::int64_t largest, const StopTest& stop) {
    return Eliminator(graph, largest, stop).run();
}

}  // namespace gapcut::infer
