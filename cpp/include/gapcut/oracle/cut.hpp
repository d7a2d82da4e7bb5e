// The exact oracle of the relaxed binary problem (mathematics.md, Exact oracle): for each graph
//     max over z in {0,1}^{V x K} of  Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z)),
// one closure problem a graph. Needs pairwise and clique weights >= 0, and features of edges and cliques >= 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gapcut/flow/closure.hpp"
#include "gapcut/oracle/clique_terms.hpp"
#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// The answer for one graph. `bound` is proven: no z does better, floating point and integer rounding included.
struct CutAnswer {
    double loss = 0.0;   // Delta_b(y, z)
    double bound = 0.0;  // >= the maximum, and >= 0
};

struct CutTotals {
    std::vector<double> plane;  // mean over graphs of Psi(x, y) - Psi(x, z), dim() long
    double loss = 0.0, bound = 0.0;
    ClosureStats stats;  // summed
};

class CutOracle {
  public:
    // Keeps a reference: the problem must outlive the oracle and stay as it is. Throws std::invalid_argument naming the
    // first negative feature of an edge or clique.
    explicit CutOracle(const Problem& problem, int threads);
    ~CutOracle();
    CutOracle(const CutOracle&) = delete;
    CutOracle& operator=(const CutOracle&) = delete;

    const Problem& problem() const { return problem_; }

    // Solves the named graphs. Row r of `planes` (graphs.size() x dim(), row-major) is the plane of graphs[r].
    std::vector<CutAnswer> evaluate(std::span<const double> weights, std::span<const std::int32_t> graphs,
                                    double* planes, const StopTest& stop = {});

    // Solves all graphs and averages. Sums run over fixed shards in index order: the bits do not depend on `threads`.
    // `multipliers` near the best split leave little for the flow to do; any split gives the same maximum.
    CutTotals total(std::span<const double> weights, const StopTest& stop = {},
                    const ArcMultipliers* multipliers = nullptr);

    // The maximisers themselves: for each named graph V * K bytes, row-major, concatenated.
    std::vector<std::uint8_t> labelings(std::span<const double> weights, std::span<const std::int32_t> graphs,
                                        const StopTest& stop = {});

    void use_persistency(bool on);

    // The minimum cuts that solving one graph at these weights takes.
    CoreNetwork core_network(std::span<const double> weights, std::int32_t graph);

  private:
    struct Scratch;  // one a thread

    void check_graphs(std::span<const std::int32_t> graphs) const;
    CutAnswer solve(const struct SparseWeights& weights, std::span<const double> compact, std::int64_t graph,
                    const ArcMultipliers* multipliers, Scratch& scratch) const;

    static constexpr std::int64_t kShard = 8;  // graphs summed together by total()

    const Problem& problem_;
    int threads_;
    CliqueTerms cliques_;
    std::vector<double> absolute_;       // absolute_feature_sums
    std::vector<std::int32_t> columns_;  // (dim(),) the column behind each weight
    std::vector<std::unique_ptr<Scratch>> scratch_;
};

}  // namespace gapcut
