#include "gapcut/infer/cycles.hpp"

#include <algorithm>
#include <cmath>

#include "candidates.hpp"
#include "gapcut/infer/packed.hpp"

namespace gapcut::infer {
namespace {

constexpr int kSweepsBetween = 10;             // two looks at the progress; the first triplets come after so many
constexpr double kSlow = 0.02;                 // part of the gap in so many sweeps: with less, triplets are added;
constexpr double kStuck = 2e-3;                // with less, soft sweeps follow,
constexpr double kStopped = 0.01;              // or it ends, where it has gained less than this since it softened last
constexpr double kLeastGain = 1e-5;            // part of the gap: what triplets must promise, after the first round
constexpr std::int64_t kFirstRound = 4;        // triplets that are added at once, times the number of edges; then once
constexpr double kMostTableEntries = 1 << 24;  // of all triplets, three tables each
constexpr int kLooksPerStopTest = 256;         // at candidates
constexpr double kMostWorkLate = 1 << 26;      // entries of triplets that a bound may look at when the time is over
// Soft sweeps: temperatures are parts of the mean range of the tables.
constexpr double kFirstTemperature = 0.016, kLastPart = 1.0 / 30.0, kCooling = 0.25;
constexpr int kSoftSweeps = 30;  // at each
constexpr int kMostInVain = 3;   // soft sweeps again, colder, where they have gained little

class Tightening {
  public:
    Tightening(const EnergyView& energy, const CycleSettings& settings, const StopTest& stop)
        : settings_(settings), stop_(stop), reduced_(energy), order_(breadth_first(reduced_)), graph_(reduced_, order_),
          upper_(settings.upper) {
        n_edges_ = std::ssize(graph_.edges());
        range_ = graph_.mean_range();
        out_.labels.assign(reduced_.component().size(), 0);
        for (const LowerSum& c : reduced_.constants()) constant_.add(c.value());
    }

    CycleResult run() {
        judge();
        double before = out_.bound;
        while (out_.sweeps < settings_.max_sweeps && !closed() && sweep()) {
            if (++out_.sweeps % kSweepsBetween != 0) continue;
            judge();
            const double rise = out_.bound - before;
            before = out_.bound;
            if (rise > kSlow * gap() || add_triplets() || rise > kStuck * gap()) continue;
            in_vain_ = out_.bound - softened_ <= kStopped * gap() ? in_vain_ + 1 : 0;
            if (in_vain_ == kMostInVain) break;
            softened_ = out_.bound;
            soften(kFirstTemperature * std::pow(kCooling, in_vain_));
        }
        if (!out_.stopped || graph_.work() < kMostWorkLate) judge();
        reduced_.complete(out_.labels);
        out_.triplets = std::ssize(graph_.triplets());
        return std::move(out_);
    }

  private:
    static std::vector<std::int32_t> breadth_first(const Reduction& reduced) {
        std::vector<std::int64_t> starts;
        return node_order(reduced, NodeOrder::breadth_first, starts);
    }

    double gap() const { return upper_ - out_.bound; }
    bool closed() const { return gap() <= settings_.tolerance * std::abs(upper_); }

    // Away from where sharp sweeps are stuck.
    void soften(double first) {
        for (double t = first; t > kLastPart * first; t *= kCooling)
            for (int i = 0; i < kSoftSweeps; ++i)
                if (!sweep(t * range_)) return;
    }

    // False: the time or the work is over.
    bool sweep(double temperature = 0.0) {
        for (const bool forward : {true, false}) {
            if (read_ >= settings_.most_entries) return false;
            if (stop_ && stop_()) return out_.stopped = true, false;
            read_ += graph_.half_sweep(forward, temperature, stop_);
        }
        return true;
    }

    // Bound and labeling of what the messages are now.
    void judge() {
        LowerSum sum = constant_;
        sum.add(graph_.bound());
        out_.bound = std::max(out_.bound, sum.value());
        const double value = constant_.value() + graph_.decode(labels_);
        if (!(value < value_)) return;
        value_ = value;
        upper_ = std::min(upper_, value);
        for (std::size_t i = 0; i < order_.size(); ++i) out_.labels[order_[i]] = labels_[i];
    }

    // At first all there are, as long as there is room: where messages are stuck, none of them promises anything. Then
    // those that promise most. Whether there were any.
    bool add_triplets() {
        if (entries_ >= kMostTableEntries) return false;
        graph_.spread();
        const std::int64_t begin = std::ssize(graph_.triplets());
        const double least = begin == 0 ? -kInfinity : kLeastGain * gap();
        const std::int64_t most = begin + std::max(begin == 0 ? kFirstRound * n_edges_ : n_edges_, std::int64_t{100});
        const auto found = find_candidates(graph_, least, most - begin, settings_.most_entries, stop_, read_);
        int looked = 0;
        for (const Candidate& c : found) {
            if (std::ssize(graph_.triplets()) >= most || entries_ >= kMostTableEntries) break;
            if (++looked % kLooksPerStopTest == 0 && stop_ && stop_()) break;  // find() walks along the edges of a hub
            // The other diagonal of a cycle says no more.
            if (graph_.find(c.i, c.j) < 0 && c.middles.size() == 2 && graph_.find(c.middles[0], c.middles[1]) >= 0)
                continue;
            for (const std::int32_t middle : c.middles) entries_ += graph_.add(c.i, c.j, middle);
        }
        return std::ssize(graph_.triplets()) > begin;
    }

    const CycleSettings& settings_;
    const StopTest& stop_;
    Reduction reduced_;
    std::vector<std::int32_t> order_, labels_;
    Triplets graph_;
    LowerSum constant_;  // what reduction added
    std::int64_t n_edges_ = 0;
    double range_ = 0.0, upper_, value_ = kInfinity, softened_ = -kInfinity, read_ = 0.0, entries_ = 0.0;
    int in_vain_ = 0;
    CycleResult out_;
};

}  // namespace

CycleResult tighten(const EnergyView& energy, const CycleSettings& settings, const StopTest& stop) {
    return Tightening(energy, settings, stop).run();
}

}  // namespace gapcut::infer
