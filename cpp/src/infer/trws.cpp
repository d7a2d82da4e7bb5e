#include "gapcut/infer/trws.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gapcut/infer/sweep.hpp"

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
        std::vector<double> table_minima;
        packed_ = Packed::build(reduced_, order, table_minima);
        current_.resize(order.size());
        best_.resize(order.size());
        for (std::size_t c = 0; c + 1 < starts.size(); ++c) {
            Run run;
            run.first = starts[c], run.last = starts[c + 1];
            start(run, table_minima);
            runs_.push_back(std::move(run));
        }
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
    // Independent minima, and the labels of least unary cost: valid before the first sweep.
    void start(Run& run, const std::vector<double>& table_minima) {
        LowerSum bound;
        for (std::int64_t i = run.first; i < run.last; ++i) {
            const double* u = packed_.unary.data() + packed_.unary_at[i];
            const double* least = std::min_element(u, u + packed_.labels[i]);
            best_[i] = static_cast<std::int32_t>(least - u);
            bound.add(*least);
            for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1]; ++e) bound.add(table_minima[e]);
            std::fill_n(packed_.chosen.data() + packed_.unary_at[i], packed_.width[i], 0.0);
        }
        run.bound = bound.value();
        run.done = run.bound == kInfinity;
    }

    std::int64_t entries(std::int64_t i, bool forward) const {
        std::int64_t count = 0;
        if (forward) {
            for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1]; ++e)
                count += std::int64_t{packed_.labels[i]} * packed_.labels[packed_.target[e]];
        } else {
            for (std::int64_t q = packed_.backward_at[i]; q < packed_.backward_at[i + 1]; ++q)
                count += std::int64_t{packed_.labels[i]} * packed_.labels[packed_.source[packed_.backward[q]]];
        }
        return count;
    }

    // One half-sweep; false if stop() struck.
    bool half(Run& run, Sweep& s, bool forward) {
        for (std::int64_t done = 0, size = run.last - run.first; done < size && !s.infeasible;) {
            if (stop_ && stop_()) return stopped_ = true, false;
            std::int64_t next = done;
            for (std::int64_t count = 0; next < size && count < kEntriesPerAsk; ++next) {
                const std::int64_t e = entries(forward ? run.first + next : run.last - 1 - next, forward);
                count += e;
                entries_ += static_cast<double>(e);
            }
            const auto before = std::chrono::steady_clock::now();
            if (forward)
                forward_sweep(packed_, s, run.first + done, run.first + next, current_);
            else
                backward_sweep(packed_, s, run.last - next, run.last - done);
            seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
            done = next;
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
        run.done = closed(run) || stalled(run) || run.sweeps >= settings_.max_sweeps;
    }

    bool closed(const Run& run) const {
        return run.energy < kInfinity && run.energy - run.bound <= settings_.tolerance * run.magnitude;
    }

    bool stalled(const Run& run) const {
        const std::size_t n = run.bounds.size(), back = static_cast<std::size_t>(settings_.patience);
        if (n <= back) return false;
        const double rise = run.bound - run.bounds[n - 1 - back];
        if (run.energy == kInfinity) return rise <= settings_.tolerance * std::abs(run.bound);
        const double fall = run.energies[n - 1 - back] - run.energy;
        return std::max(rise, fall) <= settings_.least_progress * (run.energy - run.bound);
    }

    TrwsResult result() {
        TrwsResult out;
        out.labels.assign(reduced_.component().size(), 0);
        for (std::size_t i = 0; i < best_.size(); ++i) out.labels[packed_.node[i]] = best_[i];
        reduced_.complete(out.labels);
        for (const Run& run : runs_) {
            reduced_.constants()[reduced_.component()[packed_.node[run.first]]].add(run.bound);
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
    double entries_ = 0.0, seconds_ = 0.0;
    bool stopped_ = false;
};

}  // namespace

TrwsResult trws(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop) {
    return Solver(energy, settings, stop).solve();
}

}  // namespace gapcut::infer
