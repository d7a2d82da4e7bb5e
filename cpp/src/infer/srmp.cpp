#include "gapcut/infer/srmp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stopping.hpp"

namespace gapcut::infer {
namespace {

struct Run {
    std::int64_t first = 0, last = 0;  // its nodes in the order
    std::vector<std::int64_t> factors;
    double bound = -kInfinity, energy = kInfinity, magnitude = 0.0;
    std::vector<double> bounds, energies;  // after every sweep
    int sweeps = 0;
    bool done = false, judged = false;
};

class Solver {
  public:
    Solver(const FactorGraph& graph, const TrwsSettings& settings, const std::vector<double>& start,
           const StopTest& stop)
        : graph_(graph), settings_(settings), pace_(stop), marginal_(graph), says_(graph) {
        order_ = factor_order(graph, settings.order == NodeOrder::breadth_first, starts_);
        take(start);
        place_.resize(order_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<std::int32_t>(i);
        n_components_ = graph.components(component_);
        runs_.resize(static_cast<std::size_t>(n_components_));
        for (std::int32_t c = 0; c < n_components_; ++c) runs_[c].first = starts_[c], runs_[c].last = starts_[c + 1];
        for (std::int64_t f = 0; f < graph.n_factors(); ++f)
            runs_[component_[graph.member(graph.first(f))]].factors.push_back(f);
        count_directions();
        for (std::int64_t u = 0; u < graph.n_nodes(); ++u) {
            const double* x = graph.unary_of(u);
            best_.push_back(static_cast<std::int32_t>(std::min_element(x, x + graph.n_labels(u)) - x));
        }
        labels_ = best_;
    }

    TrwsResult solve() {
        for (Run& run : runs_) {
            if (pace_(0)) break;
            judge(run);
        }
        bool open = true;
        for (int round = 4; open && !pace_.struck(); round *= 2) {
            open = false;
            for (Run& run : runs_) {
                for (int i = 0; i < round && !run.done && !pace_.struck(); ++i) sweep(run);
                open |= !run.done;
            }
        }
        return result();
    }

  private:
    void take(const std::vector<double>& start) {
        if (start.empty()) return;
        if (start.size() != says_.add.size()) throw std::invalid_argument("start messages have the wrong length");
        for (std::size_t i = 0; i < start.size(); ++i) {
            if (!std::isfinite(start[i])) throw std::invalid_argument("start messages must be finite");
            if (says_.add[i] < kInfinity) says_.add[i] = start[i];
        }
    }

    // A place goes on forward if a later node shares its factor, backward if an earlier one does.
    void count_directions() {
        for (auto& on : on_) on.assign(static_cast<std::size_t>(graph_.n_places()), 0);
        chain_weight_.assign(order_.size(), 1.0);
        std::vector<std::int32_t> ahead(order_.size(), 0), back(order_.size(), 0);
        for (std::int64_t f = 0; f < graph_.n_factors(); ++f) {
            std::int32_t low = place_[graph_.member(graph_.first(f))], high = low;
            for (std::int64_t p = graph_.first(f); p < graph_.last(f); ++p) {
                low = std::min(low, place_[graph_.member(p)]);
                high = std::max(high, place_[graph_.member(p)]);
            }
            for (std::int64_t p = graph_.first(f); p < graph_.last(f); ++p) {
                const std::int32_t u = graph_.member(p);
                on_[true][p] = place_[u]<high, on_[false][p] = place_[u]> low;
                ahead[u] += on_[true][p], back[u] += on_[false][p];
            }
        }
        for (std::size_t u = 0; u < chain_weight_.size(); ++u)
            if (const int n = std::max(ahead[u], back[u]); n > 1) chain_weight_[u] = 1.0 / n;
    }

    // Moves the factors' min-marginals into u and distributes them. False: u has no label left.
    bool step(std::int32_t u, bool forward) {
        const auto n = static_cast<std::size_t>(graph_.n_labels(u));
        const auto places = graph_.places(u);
        gathered_.resize(n * places.size());
        belief_.assign(graph_.unary_of(u), graph_.unary_of(u) + n);
        std::int64_t entries = 1;
        for (std::size_t i = 0; i < places.size(); ++i) {
            double* m = gathered_.data() + i * n;
            marginal_(places[i], says_.add.data(), nullptr, m);
            for (std::size_t k = 0; k < n; ++k) belief_[k] += m[k];
            entries += graph_.table_size(graph_.factor(places[i]));
        }
        pace_(entries);
        double least = kInfinity;
        for (std::size_t k = 0; k < n; ++k) {
            const std::int64_t at = graph_.unary_at(u) + static_cast<std::int64_t>(k);
            if (belief_[k] == kInfinity && says_.alive[at]) says_.kill(graph_, u, static_cast<std::int32_t>(k));
            if (says_.alive[at]) least = std::min(least, belief_[k]);
        }
        if (least == kInfinity) return false;
        for (std::size_t i = 0; i < places.size(); ++i) {
            double* add = says_.add.data() + graph_.message_at(places[i]);
            const double weight = on_[forward][places[i]] ? chain_weight_[u] : 0.0;
            for (std::size_t k = 0; k < n; ++k)
                if (add[k] < kInfinity) add[k] = weight * (belief_[k] - least) - gathered_[i * n + k];
        }
        return true;
    }

    void sweep(Run& run) {
        for (const bool forward : {true, false})  // decoding goes forward, so it needs what later nodes say last
            for (std::int64_t i = 0; i < run.last - run.first; ++i) {
                if (pace_.struck()) return;
                if (step(order_[forward ? run.first + i : run.last - 1 - i], forward)) continue;
                run.bound = kInfinity;
                run.done = true;
                return;
            }
        ++run.sweeps;
        judge(run);
    }

    // Bound and labeling of what the messages are now.
    void judge(Run& run) {
        run.judged = true;
        run.bound = std::max(run.bound, lower_bound(run));
        decode(graph_, marginal_, {order_.data() + run.first, static_cast<std::size_t>(run.last - run.first)}, says_,
               labels_);
        const auto [energy, magnitude] = energy_of(run);
        if (energy < run.energy) {
            run.energy = energy, run.magnitude = magnitude;
            for (std::int64_t i = run.first; i < run.last; ++i) best_[order_[i]] = labels_[order_[i]];
        }
        run.bounds.push_back(run.bound);
        run.energies.push_back(run.energy);
        run.done = run.bound == kInfinity || closed(run, settings_) || stalled(run, settings_) ||
                   run.sweeps >= settings_.max_sweeps;
    }

    double lower_bound(const Run& run) {
        LowerSum total;
        for (std::int64_t i = run.first; i < run.last; ++i) {
            const std::int32_t u = order_[i];
            double least = kInfinity;
            for (std::int32_t k = 0; k < graph_.n_labels(u); ++k) {
                if (!says_.alive[graph_.unary_at(u) + k]) continue;
                double x = graph_.unary_of(u)[k];
                for (const std::int64_t p : graph_.places(u)) x = down(x - says_.add[graph_.message_at(p) + k]);
                least = std::min(least, x);
            }
            total.add(least);
        }
        for (const std::int64_t f : run.factors) {
            total.add(marginal_.lower_minimum(f, says_.add.data()));
            pace_(graph_.table_size(f));
        }
        return total.value();
    }

    std::pair<double, double> energy_of(const Run& run) const {
        double sum = 0.0, magnitude = 0.0;
        const auto add = [&](double x) { sum += x, magnitude += std::abs(x); };
        for (std::int64_t i = run.first; i < run.last; ++i) add(graph_.unary_of(order_[i])[labels_[order_[i]]]);
        for (const std::int64_t f : run.factors) add(graph_.entry(f, labels_));
        return {sum, magnitude};
    }

    double independent_minima(const Run& run) const {
        LowerSum total;
        const auto add = [&](const double* x, std::int64_t n) { total.add(*std::min_element(x, x + n)); };
        for (std::int64_t i = run.first; i < run.last; ++i) add(graph_.unary_of(order_[i]), graph_.n_labels(order_[i]));
        for (const std::int64_t f : run.factors) add(graph_.table_of(f), graph_.table_size(f));
        return total.value();
    }

    TrwsResult result() {
        TrwsResult out;
        LowerSum total;
        for (const Run& run : runs_) {
            out.component_bound.push_back(run.bound > -kInfinity ? run.bound : independent_minima(run));
            total.add(out.component_bound.back());
            out.sweeps = std::max(out.sweeps, run.sweeps);
        }
        out.labels = std::move(best_);
        out.bound = total.value();
        out.component = std::move(component_);
        out.stopped = pace_.struck();
        return out;
    }

    const FactorGraph& graph_;
    TrwsSettings settings_;
    PacedStop pace_;
    MinMarginal marginal_;
    Sayings says_;
    std::vector<std::int32_t> order_, place_, component_, labels_, best_;
    std::vector<std::int64_t> starts_;
    std::int32_t n_components_ = 0;
    std::vector<Run> runs_;
    std::vector<char> on_[2];  // backward, forward
    std::vector<double> chain_weight_, gathered_, belief_;
};

}  // namespace

TrwsResult srmp(const FactorGraph& graph, const TrwsSettings& settings, const std::vector<double>& start,
                const StopTest& stop) {
    return Solver(graph, settings, start, stop).solve();
}

}  // namespace gapcut::infer
