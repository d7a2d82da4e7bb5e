// Loss-augmented inference on all graphs of a problem, threads over graphs: what the native oracles share. They differ
// in their Maximiser, which solves one graph:
//
//     Weights, Scratch, Label    weights as solve() reads them, shared by all threads; memory of one thread
//     problem(), scratch()       the problem; new scratch memory
//     prepare(compact)           throws std::invalid_argument for weights the oracle cannot take
//     solve(weights, graph, scratch, plane)   the answer; adds Psi(x, y) - Psi(x, z) to the row `plane` (dim(),)
//     labels(scratch)            the labeling of the last solve()
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut {

// The answer for one graph. `bound` is proven: no z does better, rounding included.
struct GraphAnswer {
    double loss = 0.0;   // of the labeling found
    double bound = 0.0;  // >= the maximum, and >= 0
};

// Means over all graphs, or sums.
struct OracleTotals {
    std::vector<double> plane;  // (dim(),)
    double loss = 0.0, bound = 0.0;
};

// Throws std::invalid_argument naming the first graph that does not exist.
void check_graphs(const Problem& problem, std::span<const std::int32_t> graphs);

// Throws std::overflow_error unless the bound of a graph is a number.
double checked_bound(double bound);

template <class Maximiser>
class Oracle {
  public:
    using Weights = typename Maximiser::Weights;
    using Scratch = typename Maximiser::Scratch;
    using Labels = std::vector<typename Maximiser::Label>;

    Oracle(Maximiser maximiser, int threads) : maximiser_(std::move(maximiser)) {
        for (int t = 0; t < std::max(1, threads); ++t) scratch_.push_back(maximiser_.scratch());
    }
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    const Problem& problem() const { return maximiser_.problem(); }

    // What was found for some graphs, one entry a graph; `labels` are concatenated.
    struct Answers {
        std::vector<double> losses, bounds;
        Labels labels;
    };

    // Solves the named graphs. Row r of `planes` (graphs.size() x dim(), zero on entry) is the plane of graphs[r].
    Answers evaluate(std::span<const double> compact, std::span<const std::int32_t> graphs, double* planes,
                     const StopTest& stop = {}) {
        check_graphs(problem(), graphs);
        const Weights weights = maximiser_.prepare(compact);
        Answers answers{std::vector<double>(graphs.size()), std::vector<double>(graphs.size()), {}};
        std::vector<Labels> found(graphs.size());
        run(
            std::ssize(graphs),
            [&](std::int64_t item, Scratch& s) {
                const auto one = maximiser_.solve(weights, graphs[item], s, planes + item * problem().dim());
                answers.losses[item] = one.loss;
                answers.bounds[item] = one.bound;
                found[item] = maximiser_.labels(s);
            },
            stop);
        for (const Labels& labels : found) answers.labels.insert(answers.labels.end(), labels.begin(), labels.end());
        return answers;
    }

    OracleTotals total(std::span<const double> compact, const StopTest& stop = {}) {
        return total(maximiser_.prepare(compact), stop);
    }

    // The same, not divided by the number of graphs.
    OracleTotals sums(std::span<const double> compact, const StopTest& stop = {}) {
        return sums(maximiser_.prepare(compact), stop);
    }

  protected:
    OracleTotals total(const Weights& weights, const StopTest& stop) {
        OracleTotals all = sums(weights, stop);
        const auto count = static_cast<double>(problem().n_graphs());
        for (double& x : all.plane) x /= count;
        all.loss /= count;
        all.bound = mean_above(all.bound, count);
        return all;
    }

    // Of all graphs, over fixed shards in index order: the bits do not depend on the number of threads.
    OracleTotals sums(const Weights& weights, const StopTest& stop) {
        const std::int64_t n = problem().n_graphs(), dim = problem().dim();
        std::vector<OracleTotals> part(static_cast<std::size_t>((n + kShard - 1) / kShard));
        run(
            std::ssize(part),
            [&](std::int64_t shard, Scratch& s) {
                OracleTotals& sum = part[shard];
                sum.plane.assign(static_cast<std::size_t>(dim), 0.0);
                for (auto g = shard * kShard; g < std::min(n, (shard + 1) * kShard); ++g) {
                    const GraphAnswer answer = maximiser_.solve(weights, g, s, sum.plane.data());
                    sum.loss += answer.loss;
                    sum.bound += answer.bound;
                }
            },
            stop);
        OracleTotals all;
        all.plane.assign(static_cast<std::size_t>(dim), 0.0);
        for (const OracleTotals& sum : part) {
            for (std::int64_t c = 0; c < dim; ++c) all.plane[c] += sum.plane[c];
            all.loss += sum.loss;
            all.bound += sum.bound;
        }
        return all;
    }

    Maximiser maximiser_;
    std::vector<Scratch> scratch_;  // one a thread

    template <class F>
    void run(std::int64_t count, const F& f, const StopTest& stop) {
        parallel_for(
            count, static_cast<int>(scratch_.size()), [&](std::int64_t item, int worker) { f(item, scratch_[worker]); },
            stop);
    }

  private:
    static constexpr std::int64_t kShard = 8;  // graphs summed together by total()
};

}  // namespace gapcut
