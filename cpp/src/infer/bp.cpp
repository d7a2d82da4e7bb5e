#include "gapcut/infer/bp.hpp"

#include <algorithm>
#include <cmath>

namespace gapcut::infer {
namespace {

class Solver {
  public:
    Solver(const FactorGraph& graph, const BpSettings& settings, const StopTest& stop)
        : graph_(graph), settings_(settings), pace_(stop), marginal_(graph), says_(graph),
          heard_(says_.add.size(), 0.0) {
        std::vector<std::int64_t> starts;
        order_ = factor_order(graph, true, starts);
        for (std::int64_t u = 0; u < graph.n_nodes(); ++u) {
            const double* x = graph.unary_of(u);
            result_.labels.push_back(static_cast<std::int32_t>(std::min_element(x, x + graph.n_labels(u)) - x));
        }
        best_ = graph.energy(result_.labels);
        labels_ = result_.labels;
    }

    BpResult solve() {
        int idle = 0;
        for (int sweep = 0; sweep < settings_.max_sweeps && !result_.converged && idle < settings_.patience; ++sweep) {
            change_ = largest_ = 0.0;
            if (!half(true) || !half(false)) break;
            ++result_.sweeps;
            decode(graph_, marginal_, order_, says_, labels_);
            ++idle;
            if (const double e = graph_.energy(labels_); e < best_) best_ = e, result_.labels = labels_, idle = 0;
            result_.converged = change_ <= settings_.tolerance * largest_;
        }
        result_.stopped = pace_.struck();
        return std::move(result_);
    }

  private:
    bool half(bool forward) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (pace_.struck()) return false;
            if (!step(order_[forward ? i : order_.size() - 1 - i])) return result_.infeasible = true, false;
        }
        return true;
    }

    // Hears all factors of u, then says to each what the others said. False: u has no label left.
    bool step(std::int32_t u) {
        const std::int32_t n = graph_.n_labels(u);
        const auto places = graph_.places(u);
        const char* alive = says_.alive.data() + graph_.unary_at(u);
        belief_.assign(graph_.unary_of(u), graph_.unary_of(u) + n);
        std::int64_t entries = 1;
        for (const std::int64_t p : places) {
            message_.resize(static_cast<std::size_t>(n));
            marginal_(p, says_.add.data(), nullptr, message_.data());
            entries += graph_.table_size(graph_.factor(p));
            hear(u, p);
        }
        pace_(entries);
        if (!says_.any_alive(graph_, u)) return false;
        for (const std::int64_t p : places) {
            double* say = says_.add.data() + graph_.message_at(p);
            const double* heard = heard_.data() + graph_.message_at(p);
            double least = kInfinity;
            for (std::int32_t k = 0; k < n; ++k)
                if (alive[k]) say[k] = belief_[k] - heard[k], least = std::min(least, say[k]);
            for (std::int32_t k = 0; k < n; ++k)
                if (alive[k]) say[k] -= least;
        }
        return true;
    }

    // Damps message_ into heard_, its least entry over living labels 0, and adds it to the belief.
    void hear(std::int32_t u, std::int64_t p) {
        const std::int32_t n = graph_.n_labels(u);
        double* heard = heard_.data() + graph_.message_at(p);
        double least = kInfinity;
        for (std::int32_t k = 0; k < n; ++k) {
            if (message_[k] == kInfinity) says_.kill(graph_, u, k);
            if (says_.alive[graph_.unary_at(u) + k]) least = std::min(least, message_[k]);
        }
        for (std::int32_t k = 0; k < n; ++k) {
            if (!says_.alive[graph_.unary_at(u) + k]) continue;
            const double next = (1.0 - settings_.damping) * (message_[k] - least) + settings_.damping * heard[k];
            change_ = std::max(change_, std::abs(next - heard[k]));
            largest_ = std::max(largest_, std::abs(next));
            heard[k] = next;
            belief_[k] += next;
        }
    }

    const FactorGraph& graph_;
    BpSettings settings_;
    PacedStop pace_;
    MinMarginal marginal_;
    Sayings says_;
    std::vector<double> heard_, belief_, message_;
    std::vector<std::int32_t> order_, labels_;
    BpResult result_;
    double best_ = kInfinity, change_ = 0.0, largest_ = 0.0;
};

}  // namespace

BpResult belief_propagation(const FactorGraph& graph, const BpSettings& settings, const StopTest& stop) {
    return Solver(graph, settings, stop).solve();
}

}  // namespace gapcut::infer
