#include "gapcut/infer/trws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "gapcut/infer/few_sweep.hpp"
#include "gapcut/infer/min_marginals.hpp"
#include "gapcut/infer/small_sweep.hpp"
#include "gapcut/infer/soft_sweep.hpp"
#include "gapcut/infer/sweep.hpp"
#include "gapcut/kernels.hpp"
#include "stopping.hpp"

namespace gapcut::infer {
namespace {

constexpr std::int64_t kEntriesPerStopTest = 1 << 20;  // between two calls of stop()

// One component of the core in the order: its nodes [first, last), what is known about it, whether it is done.
struct Run {
    std::int64_t first = 0, last = 0;
    double bound = -kInfinity, energy = kInfinity, magnitude = 0.0;
    std::vector<double> bounds, energies;  // after every sweep
    int sweeps = 0;
    bool done = false, stalled = false;  // stalled: stalled with an open gap
};

// Annealing out of a fixed point. Temperatures are parts of the mean range of the tables: the first is low enough to
// keep most of what the sharp sweeps found, the last needs_escape about 0.05 % to the optimum of the relaxation.
constexpr double kFirstTemperature = 0.016, kLastTemperature = 0.9e-3, kCooling = 0.25;
constexpr int kMaxSoftSweeps = 100,
              kSoftCheckInterval = 5;   // sweeps at one temperature at most; between two checks of progress
constexpr double kSoftProgress = 1e-3;  // in kSoftCheckInterval sweeps, of the bound's distance to the smooth function

class Solver {
  public:
    Solver(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop, const TrwsListener& listener)
        : settings_(settings), stop_(stop), listener_(listener), reduced_(energy) {
        std::vector<std::int64_t> starts;
        const auto order = node_order(reduced_, settings.order, starts);
        packed_ = Packed::arrange(reduced_, order);
        if (FewPacked::fits(packed_))
            few_ = FewPacked::build(reduced_, packed_);
        else if (SmallPacked::fits(packed_))
            small_ = SmallPacked::build(reduced_, packed_);
        else
            packed_.load(reduced_);
        count_work();
        current_.resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {  // start: labels of least unary cost
            const double* u = packed_.unary.data() + packed_.unary_at[i];
            best_.push_back(static_cast<std::int32_t>(std::min_element(u, u + packed_.labels[i]) - u));
        }
        for (std::size_t c = 0; c + 1 < starts.size(); ++c) {
            Run run;
            run.first = starts[c], run.last = starts[c + 1];
            runs_.push_back(std::move(run));
        }
    }

    // The first number says which layout the others are in.
    void set_messages(const std::vector<double>& messages) {
        if (messages.empty()) return;
        if (messages[0] == kGeneral) to_general();
        std::int64_t size = 1;
        for (const Buffer* part : message_parts()) size += part->size();
        if (messages[0] != layout() || std::ssize(messages) != size) return;
        const double* next = messages.data() + 1;
        for (const Buffer* part : message_parts()) {
            std::copy_n(next, part->size(), part->data());
            next += part->size();
        }
    }

    void get_messages(std::vector<double>& messages) const {
        messages.clear();
        if (stopped_) return;  // some may lie in the other direction
        messages.push_back(layout());
        for (const Buffer* part : message_parts())
            messages.insert(messages.end(), part->data(), part->data() + part->size());
    }

    // After solve(): excess of all labels, given the result; its bound rises to +inf where that is proven here.
    std::vector<double> excess(const EnergyView& energy, TrwsResult& found) {
        std::vector<double> out(energy.unary.size(), 0.0);
        to_general();
        if (stopped_) std::fill_n(packed_.messages.data(), packed_.messages.size(), 0.0);
        for (const Run& run : runs_) {
            const double bound = run.bound > -kInfinity ? run.bound : independent_minima(run);
            if (found.bound < kInfinity &&
                !core_excess(reduced_, packed_, run.first, run.last, bound, energy.unary_at, out))
                found.bound = kInfinity;
        }
        reduced_.spread(out);
        return out;
    }

    bool is_forest() const { return runs_.empty(); }

    TrwsResult solve() {
        // Rounds of doubling length, so that under a time limit every component gets its turn.
        bool open = true;
        for (int round = 4; open && !stopped_; round *= 2) {
            open = false;
            for (Run& run : runs_) {
                for (int i = 0; i < round && runs_on(run); ++i) sweep(run);
                open |= runs_on(run);
            }
            if (listener_ && open) listener_(result());
        }
        const auto needs_escape = [&](const Run& run) { return run.stalled && !run.done && !stopped_; };
        if (!settings_.escape || std::none_of(runs_.begin(), runs_.end(), needs_escape)) return result();
        to_general();  // soft sweeps know no other layout
        for (Run& run : runs_)
            if (needs_escape(run)) escape(run);
        return result();
    }

  private:
    // Sum of the minima of all terms: the bound of a component that had no time for a half-sweep.
    double independent_minima(const Run& run) const {
        LowerSum bound;
        const double* seen = nullptr;  // edges that follow each other often share a table
        double least = kInfinity;
        for (std::int64_t i = run.first; i < run.last; ++i) {
            const double* unary = packed_.unary.data() + packed_.unary_at[i];
            bound.add(*std::min_element(unary, unary + packed_.labels[i]));
            for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1]; ++e) {
                const Pair& p = reduced_.pairs()[static_cast<std::size_t>(packed_.pair[e])];
                const std::int64_t size = std::int64_t{reduced_.n_labels(p.low)} * reduced_.n_labels(p.high);
                if (p.table != seen) least = *std::min_element(p.table, p.table + size);
                seen = p.table;
                bound.add(least);
            }
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

    // The end of a chunk of nodes that starts at `from` (forward) or ends there (backward): about kEntriesPerStopTest
    // entries, one node at least, inside the component.
    std::int64_t chunk_end(const Run& run, std::int64_t from, bool forward) const {
        const auto& work = work_[forward];
        if (forward) {
            const auto end =
                std::lower_bound(work.begin() + from + 1, work.begin() + run.last, work[from] + kEntriesPerStopTest);
            return end - work.begin();
        }
        const auto end =
            std::upper_bound(work.begin() + run.first, work.begin() + from - 1, work[from] - kEntriesPerStopTest);
        return end - work.begin();
    }

    bool runs_on(const Run& run) const { return !run.done && !run.stalled && !stopped_; }

    // f(from, to) on the component's nodes, chunk by chunk in the sweep's order, while it returns true; false if stop()
    // struck.
    template <class F>
    bool in_chunks(const Run& run, bool forward, F&& f) {
        const std::int64_t end = forward ? run.last : run.first;
        for (std::int64_t at = forward ? run.first : run.last; at != end;) {
            if (stop_ && stop_()) return stopped_ = true, false;
            const std::int64_t next = chunk_end(run, at, forward);
            if (!f(std::min(at, next), std::max(at, next))) break;
            at = next;
        }
        return true;
    }

    void sweep_forward(Sweep& s, std::int64_t from, std::int64_t to) {
        if (few_) return kernels().few_forward_sweep(*few_, packed_, s, from, to, current_.data());
        if (small_) return kernels().small_forward_sweep(*small_, packed_, s, from, to, current_.data());
        kernels().forward_sweep(packed_, s, from, to, current_.data());
    }

    void sweep_backward(Sweep& s, std::int64_t from, std::int64_t to) {
        if (few_) return kernels().few_backward_sweep(*few_, packed_, s, from, to);
        if (small_) return kernels().small_backward_sweep(*small_, packed_, s, from, to);
        kernels().backward_sweep(packed_, s, from, to);
    }

    // One half-sweep; false if stop() struck.
    bool half(Run& run, Sweep& s, bool forward) {
        const bool whole = in_chunks(run, forward, [&](std::int64_t from, std::int64_t to) {
            forward ? sweep_forward(s, from, to) : sweep_backward(s, from, to);
            entries_ += static_cast<double>(work_[forward][to] - work_[forward][from]);
            return !s.infeasible;
        });
        if (!whole) return false;
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
        if (run.energies.empty() || ahead.energy < run.energy) {
            run.energy = ahead.energy;
            run.magnitude = ahead.magnitude;
            std::copy(current_.begin() + run.first, current_.begin() + run.last, best_.begin() + run.first);
        }
        run.bounds.push_back(run.bound);
        run.energies.push_back(run.energy);
        run.done = closed(run, settings_) || run.sweeps >= settings_.max_sweeps;
        run.stalled = infer::stalled(run, settings_);
    }

    void escape(Run& run) {
        SoftSweep soft(packed_, run.first, run.last);
        const double highest = kFirstTemperature * soft.scale();
        for (double t = highest; t > 0.0 && t >= kLastTemperature * soft.scale() && !run.done && !stopped_;
             t *= kCooling) {
            anneal(run, soft, t);
            if (!run.done && !stopped_) sweep(run);
            if (listener_) listener_(result());
        }
        run.bounds.clear(), run.energies.assign(1, run.energy);
        for (run.stalled = false; runs_on(run);) sweep(run);
    }

    // Soft sweeps at one temperature, with momentum that is given up whenever the smooth function falls (O'Donoghue and
    // Candes 2015).
    void anneal(Run& run, SoftSweep& soft, double t) {
        const auto all = [&](bool forward, auto&& f) {
            return in_chunks(run, forward,
                             [&](std::int64_t from, std::int64_t to) { return f(from, to), !soft.infeasible(); });
        };
        if (!all(true, [&](std::int64_t from, std::int64_t to) { soft.set_temperature(t, from, to); })) return;
        double value = -kInfinity, seen = -kInfinity;
        int momentum = 0;
        for (int i = 1; i <= kMaxSoftSweeps && !run.done; ++i) {
            soft.reset();
            if (!all(false, [&](std::int64_t from, std::int64_t to) { soft.backward(from, to); }) ||
                !all(true, [&](std::int64_t from, std::int64_t to) { soft.forward(from, to); }) || soft.infeasible())
                return;
            ++soft_sweeps_;
            run.done = ++run.sweeps >= settings_.max_sweeps;
            if (soft.value() < value && momentum > 0) {
                soft.restore();
                momentum = 0;
            } else {
                value = soft.value();
                soft.extrapolate(momentum / (momentum + 3.0));
                ++momentum;
            }
            if (i % kSoftCheckInterval > 0) continue;
            if (value - seen < kSoftProgress * (run.bound - value)) return;
            seen = value;
        }
    }

    TrwsResult result() const {
        TrwsResult out;
        std::vector<LowerSum> constants = reduced_.constants();
        out.labels.assign(reduced_.component().size(), 0);
        for (std::size_t i = 0; i < best_.size(); ++i) out.labels[packed_.node[i]] = best_[i];
        reduced_.complete(out.labels);
        for (const Run& run : runs_) {
            const double bound = run.bound > -kInfinity ? run.bound : independent_minima(run);
            constants[reduced_.component()[packed_.node[run.first]]].add(bound);
            out.sweeps = std::max(out.sweeps, run.sweeps);
        }
        LowerSum total;
        for (const LowerSum& c : constants) {
            out.component_bound.push_back(c.value());
            total.add(out.component_bound.back());
        }
        out.bound = total.value();
        out.component = reduced_.component();
        out.soft_sweeps = soft_sweeps_;
        out.half_sweep_entries = entries_;
        out.stopped = stopped_;
        return out;
    }

    static constexpr double kGeneral = 0.0, kFew = 1.0, kSmall = 2.0;
    double layout() const { return few_ ? kFew : small_ ? kSmall : kGeneral; }

    void to_general() {
        if (!small_ && !few_) return;
        packed_.load(reduced_);
        small_ ? small_->copy_messages(packed_) : few_->copy_messages(packed_);
        small_.reset(), few_.reset();
    }

    std::vector<const Buffer*> message_parts() const {
        if (few_) return {&few_->slots};
        if (small_) return {&small_->from_later, &small_->from_earlier};
        return {&packed_.messages};
    }

    TrwsSettings settings_;
    const StopTest& stop_;
    const TrwsListener& listener_;
    Reduction reduced_;
    Packed packed_;
    std::optional<FewPacked> few_;      // in place of packed_'s tables and messages
    std::optional<SmallPacked> small_;  // likewise
    std::vector<Run> runs_;
    std::vector<std::int32_t> current_, best_;
    std::array<std::vector<std::int64_t>, 2> work_;  // backward, forward
    double entries_ = 0.0;
    int soft_sweeps_ = 0;
    bool stopped_ = false;
};

}  // namespace

TrwsResult trws(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop,
                std::vector<double>* messages, const TrwsListener& listener) {
    Solver solver(energy, settings, stop, listener);
    if (messages != nullptr) solver.set_messages(*messages);
    TrwsResult result = solver.solve();
    if (messages != nullptr) solver.get_messages(*messages);
    return result;
}

MinMarginals min_marginals(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop) {
    Solver solver(energy, settings, stop, {});
    MinMarginals out;
    out.found = solver.solve();
    out.excess = solver.excess(energy, out.found);
    out.exact = solver.is_forest();
    return out;
}

}  // namespace gapcut::infer
