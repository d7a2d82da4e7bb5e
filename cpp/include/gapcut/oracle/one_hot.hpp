// The one-hot learning problem, graph by graph (mathematics.md, Learning problems): one label per node, a wrong one
// costs 2 loss_u (both of its wrong indicators), pairwise weights may have any sign:
//     max over labelings z of  Delta(y, z) - w'(Psi(x, y) - Psi(x, z))
//   = max over z of  sum_u gain_u(z_u) + sum_e table_e(z_tail, z_head)  -  the same sum at z = y.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/problem.hpp"

namespace gapcut {

// Weights as these oracles read them, one row a feature; rows are padded with zeros to a multiple of eight.
struct OneHotWeights {
    std::int64_t width = 0;          // K padded
    std::vector<double> unary;       // (Dn, width)
    std::vector<double> pairwise;    // (De, K, width): first label by second
    std::vector<double> transposed;  // (De, K, width): second label by first
    std::vector<std::uint8_t> used;  // (De,) whether the feature has any weight
    std::vector<double> absolute;    // (Dn + De,) sums of |w| over the labels, or label pairs, of a feature
};

class OneHotProblem {
  public:
    // Keeps a reference: the problem must outlive this and stay as it is.
    explicit OneHotProblem(const Problem& problem);

    const Problem& problem() const { return problem_; }

    // Throws std::invalid_argument for a wrong length or a weight that is not finite.
    OneHotWeights prepare(std::span<const double> compact) const;

    // (V, width) gains of the graph's nodes; what lies beyond K is of no meaning.
    void gains(const OneHotWeights& w, std::int64_t graph, std::vector<double>& out) const;

    // (K, width) table of one edge, added to `out`; transposed: the head's label counts the rows.
    void add_table(const OneHotWeights& w, std::int64_t edge, bool transposed, double* out) const;

    // What rounding can hide between sums of such gains and tables, however they were found, and the true slack.
    double rounding(const OneHotWeights& w, std::int64_t graph) const;

    // Adds Psi(x, y) - Psi(x, z) to the compact row `plane` and returns Delta(y, z).
    double add_plane(std::int64_t graph, const std::int32_t* labels, double* plane) const;

    // The same for shares z (V, K) in [0, 1] of labels, with loss_u |z_uk - y_uk| a share, and shares m (E, K, K) of
    // label pairs; without m (nullptr) the products z_uk z_vl. Any numbers of labels may add up to anything.
    double add_fractional_plane(std::int64_t graph, const double* z, const double* m, double* plane) const;

  private:
    void add_unary(std::int64_t node, std::int64_t label, double share, double* plane) const;
    void add_pair(std::int64_t edge, std::int64_t pair, double share, double* plane) const;

    const Problem& problem_;
    std::vector<double> absolute_;  // absolute_feature_sums
};

}  // namespace gapcut
