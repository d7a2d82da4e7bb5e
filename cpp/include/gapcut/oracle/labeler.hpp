// Loss-augmented inference on the one-hot problem: what is shared by its native oracles, which differ in the solver of
// one graph (dynamic programming, message passing).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gapcut/oracle/one_hot.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut {

// Solves one graph; one a thread, with its scratch memory.
class GraphSolver {
  public:
    virtual ~GraphSolver() = default;

    // Writes V labels and returns an upper bound of the maximum of sum gain + sum table over all labelings, up to
    // OneHotProblem::rounding. May end early, with a valid bound, when stop() turns true.
    virtual double solve(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                         const std::vector<double>& gains, std::int32_t* labels) = 0;
};

struct LabelerAnswer {
    double loss = 0.0;   // Delta(y, z)
    double bound = 0.0;  // proven: >= the maximum over all z, and >= 0
};

struct LabelerTotals {
    std::vector<double> plane;  // mean over graphs, dim() long
    double loss = 0.0, bound = 0.0;
};

class Labeler {
  public:
    using Factory = std::function<std::unique_ptr<GraphSolver>()>;

    // Keeps a reference: the problem must outlive the oracle and stay as it is.
    Labeler(const Problem& problem, int threads, const Factory& make);

    Labeler(const Labeler&) = delete;
    Labeler& operator=(const Labeler&) = delete;

    const OneHotProblem& one_hot() const { return one_hot_; }
    const Problem& problem() const { return one_hot_.problem(); }

    // Solves the named graphs. Row r of `planes` (graphs.size() x dim(), zero on entry) is the plane of graphs[r].
    std::vector<LabelerAnswer> evaluate(std::span<const double> weights, std::span<const std::int32_t> graphs,
                                        double* planes, const StopTest& stop = {});

    // Solves all graphs and averages. Sums run over fixed shards in index order: the bits do not depend on `threads`.
    LabelerTotals total(std::span<const double> weights, const StopTest& stop = {});

    // The labels found, one a node of the named graphs, concatenated.
    std::vector<std::int32_t> labelings(std::span<const double> weights, std::span<const std::int32_t> graphs,
                                        const StopTest& stop = {});

  private:
    struct Worker {
        std::unique_ptr<GraphSolver> solver;
        std::vector<double> gains;
        std::vector<std::int32_t> labels;
    };

    double solve(const OneHotWeights& w, std::int64_t graph, Worker& worker) const;

    static constexpr std::int64_t kShard = 8;  // graphs summed together by total()

    OneHotProblem one_hot_;
    std::vector<Worker> workers_;
};

// Throws std::invalid_argument naming the first graph that does not exist.
void check_graphs(const Problem& problem, std::span<const std::int32_t> graphs);

}  // namespace gapcut
