#include "gapcut/infer/trws.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "gapcut/infer/sweep.hpp"
#include "stopping.hpp"

namespace gapcut::infer {
namespace {

constexpr std::int64_t kEntriesPerAsk = 1 << 20;  // between two looks at the clock

// One component of the core in the order: its nodes [first, last), what is known about it, whether it is done.
struct Run {
    std::int64_t first = 0, last = 0;
    double bound = -kInfinity, energy = kInfinity, magnitude = 0.0;
    std::vector<double> bounds, energies;  // after every sweep
    int sweeps = 0;
    bool done = false;
};

class Solver {
public:
    Solver(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop)
        : settings_(settings), stop_(stop), reduced_(energy) {
        std::vector<std::int64_t> starts;
        const auto order = node_order(reduced_, settings.order, starts);
        packed_ = Packed::build(reduced_, order);
        count_work();
        current_.resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {  // labels of least unary cost, until there are better ones
            const double* u = packed_.unary.data() + packed_.unary_at[i];
            best_.push_back(static_cast<std::int32_t>(std::min_element(u, u + packed_.labels[i]) - u));
        }
        for (std::size_t c = 0; c + 1 < starts.size(); ++c) {
            Run run;
            run.first = starts[c], run.last = starts[c + 1];
            runs_.push_back(std::move(run));
        }
    }

    void take(const std::vector<double>& messages) {
        if (std::ssize(messages) == packed_.message_size) std::ranges::copy(messages, packed_.messages.data());
    }

    void leave(std::vector<double>& messages) const {
        messages.assign(packed_.messages.data(), packed_.messages.data() + packed_.message_size);
    }

    TrwsResult solve() {
        // Rounds of doubling length, so that under a time limit every component gets its turn.
        bool open = true;
        for (int round = 4; open && !stopped_; round *= 2) {
            open = false;
            for (Run& run : runs_) {
                for (int i = 0; i < round && !run.done && !stopped_; ++i) sweep(run);
                open |= !run.done;
            }
        }
        return result();
    }

private:
    // Sum of the minima of all terms: the bound of a component that had no time for a half-sweep.
    double independent_minima(const Run& run) const {
        LowerSum bound;
        const auto add = [&](const double* x, std::int64_t n) { bound.add(*std::min_element(x, x + n)); };
        for (std::int64_t i = run.first; i < run.last; ++i) {
            add(packed_.unary.data() + packed_.unary_at[i], packed_.labels[i]);
            for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1]; ++e)
                add(packed_.tables.data() + packed_.table_at[e],
                    std::int64_t{packed_.labels[i]} * packed_.labels[packed_.target[e]]);
        }
        return bound.value();
    }

    // work_[i]: table entries at the nodes before i, counted at the edge's earlier end and at its later end.
    void count_work() {
        for (auto& work : work_) work.assign(static_cast<std::size_t>(packed_.n_nodes()) + 1, 0);
        for (std::int64_t e = 0; e < packed_.n_edges(); ++e) {
            const std::int32_t i = packed_.source[e], j = packed_.target[e];
            const std::int64_t size = std::int64_t{packed_.labels[i]} * packed_.labels[j];
            work_[true][i + 1] += size;
            work_[false][j + 1] += size;
        }
        for (auto& work : work_) std::partial_sum(work.begin(), work.end(), work.begin());
    }

    // The end of a chunk of nodes that starts at `from` (forward) or ends there (backward): about kEntriesPerAsk
    // entries, one node at least, inside the component.
    std::int64_t chunk_end(const Run& run, std::int64_t from, bool forward) const {
        const auto& work = work_[forward];
        if (forward) {
            const auto end = std::lower_bound(work.begin() + from + 1, work.begin() + run.last,
                                              work[from] + kEntriesPerAsk);
            return end - work.begin();
        }
        const auto end = std::upper_bound(work.begin() + run.first, work.begin() + from - 1,
                                          work[from] - kEntriesPerAsk);
        return end - work.begin();
    }

    // One half-sweep; false if stop() struck.
    bool half(Run& run, Sweep& s, bool forward) {
        const std::int64_t end = forward ? run.last : run.first;
        for (std::int64_t at = forward ? run.first : run.last; at != end && !s.infeasible;) {
            if (stop_ && stop_()) return stopped_ = true, false;
            const std::int64_t next = chunk_end(run, at, forward);
            const auto before = std::chrono::steady_clock::now();
            if (forward)
                forward_sweep(packed_, s, at, next, current_);
            else
                backward_sweep(packed_, s, next, at);
            seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
            entries_ += static_cast<double>(std::abs(work_[forward][next] - work_[forward][at]));
            at = next;
        }
        run.bound = std::max(run.bound, s.infeasible ? kInfinity : s.bound.value());
        run.done |= s.infeasible;
        return !s.infeasible;
    }

    void sweep(Run& run) {
        Sweep back(packed_.widest);
        if (!half(run, back, false)) return;
        Sweep ahead(packed_.widest);
        if (!half(run, ahead, true)) return;
        ++run.sweeps;
        if (run.sweeps == 1 || ahead.energy < run.energy) {
            run.energy = ahead.energy;
            run.magnitude = ahead.magnitude;
            std::copy(current_.begin() + run.first, current_.begin() + run.last, best_.begin() + run.first);
        }
        run.bounds.push_back(run.bound);
        run.energies.push_back(run.energy);
        run.done = closed(run, settings_) || stalled(run, settings_) || run.sweeps >= settings_.max_sweeps;
    }

    TrwsResult result() {
        TrwsResult out;
        out.labels.assign(reduced_.component().size(), 0);
        for (std::size_t i = 0; i < best_.size(); ++i) out.labels[packed_.node[i]] = best_[i];
        reduced_.complete(out.labels);
        for (const Run& run : runs_) {
            const double bound = run.bound > -kInfinity ? run.bound : independent_minima(run);
            reduced_.constants()[reduced_.component()[packed_.node[run.first]]].add(bound);
            out.sweeps = std::max(out.sweeps, run.sweeps);
        }
        LowerSum total;
        for (const LowerSum& c : reduced_.constants()) {
            out.component_bound.push_back(c.value());
            total.add(out.component_bound.back());
        }
        out.bound = total.value();
        out.component = reduced_.component();
        out.half_sweep_entries = entries_;
        out.half_sweep_seconds = seconds_;
        out.stopped = stopped_;
        return out;
    }

    TrwsSettings settings_;
    const StopTest& stop_;
    Reduction reduced_;
    Packed packed_;
    std::vector<Run> runs_;
    std::vector<std::int32_t> current_, best_;
    std::array<std::vector<std::int64_t>, 2> work_;  // backward, forward
    double entries_ = 0.0, seconds_ = 0.0;
    bool stopped_ = false;
};

}  // namespace

TrwsResult trws(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop, std::vector<double>* messages) {
    Solver solver(energy, settings, stop);
    if (messages != nullptr) solver.take(*messages);
    TrwsResult result = solver.solve();
    if (messages != nullptr) solver.leave(*messages);
    return result;
}

}  // namespace gapcut::infer
