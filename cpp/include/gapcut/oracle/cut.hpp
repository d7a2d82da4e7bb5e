// The exact oracle of the relaxed binary problem (mathematics.md, Exact oracle): for each graph
//     max over z in {0,1}^{V x K} of  Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z)),
// one closure problem a graph. Needs pairwise and clique weights >= 0, and features of edges and cliques >= 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/flow/closure.hpp"
#include "gapcut/oracle/clique_terms.hpp"
#include "gapcut/oracle/driver.hpp"
#include "gapcut/oracle/shares.hpp"
#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/oracle/sparse_weights.hpp"

namespace gapcut {

class CutMaximiser {
  public:
    using Label = std::uint8_t;  // K a node, row-major
    struct Weights {
        SparseWeights sparse;
        std::vector<double> compact;
        const ArcMultipliers* multipliers;  // what the flow starts from; may be null
    };
    struct Scratch {
        Closure closure;
        ClosureStats stats;              // summed over graphs
        std::vector<double> scores;      // (V, K) of the graph at hand
        std::vector<double> potentials;  // of one edge, by active label pair
        std::vector<double> plane;       // full_dim
    };

    // Keeps a reference: the problem must outlive the oracle and stay as it is. Throws std::invalid_argument naming the
    // first negative feature of an edge or clique.
    explicit CutMaximiser(const Problem& problem);

    const Problem& problem() const { return problem_; }
    Scratch scratch() const { return {}; }
    Weights prepare(std::span<const double> compact, const ArcMultipliers* multipliers = nullptr) const;
    // `plane` may be null.
    GraphAnswer solve(const Weights& weights, std::int64_t graph, Scratch& s, double* plane) const;
    const std::vector<std::uint8_t>& labels(const Scratch& s) const { return s.closure.labels(); }

    // Writes the shares of the graph's arcs that its cut proves best.
    void share(const Weights& weights, std::int64_t graph, Scratch& s, ArcShares& shares) const;

  private:
    void pose(const Weights& weights, std::int64_t graph, Scratch& s) const;

    const Problem& problem_;
    CliqueTerms cliques_;
    std::vector<double> absolute_;       // absolute_feature_sums
    std::vector<std::int32_t> columns_;  // (dim(),) the column behind each weight
};

class CutOracle : public Oracle<CutMaximiser> {
  public:
    CutOracle(const Problem& problem, int threads) : Oracle(CutMaximiser(problem), threads) {}

    // Summed over graphs. `multipliers` near the best split leave little for the flow to do; any split gives the same
    // maximum.
    OracleTotals sums(std::span<const double> compact, const ArcMultipliers& multipliers, const StopTest& stop = {});

    // The splits of all arcs that prove the maxima; the flow starts from `multipliers` if there are any.
    ArcShares shares(std::span<const double> compact, const ArcMultipliers* multipliers, const StopTest& stop = {});

    // Sizes of the closure problems at these weights, summed over all graphs.
    ClosureStats statistics(std::span<const double> compact);

    void use_persistency(bool on);

    // The minimum cuts that solving one graph at these weights takes.
    CoreNetwork core_network(std::span<const double> compact, std::int32_t graph);
};

}  // namespace gapcut
