// A pairwise energy U(y) = sum_u unary_u(y_u) + sum_{e=(u,v)} table_e(y_u, y_v), to be minimised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/rounding.hpp"

namespace gapcut::infer {

// Represents an energy over memory that others own and that must outlive the view.
// Requires (see check): every node has at least one label; no self loops; entries are finite or +inf (forbidden),
// and the magnitudes of all finite entries sum to less than kLargestSum. Edges may repeat, in either direction.
struct EnergyView {
    std::span<const std::int32_t> labels;    // (V,) K_u >= 1
    std::span<const std::int64_t> unary_at;  // (V + 1,) where node u's K_u entries start
    std::span<const double> unary;
    std::span<const std::int32_t> tail, head;  // (E,) edge (u, v)
    std::span<const std::int64_t> table_at;    // (E,) where its K_u x K_v row-major entries start; may repeat
    std::span<const double> tables;

    std::int64_t n_nodes() const { return static_cast<std::int64_t>(labels.size()); }
    std::int64_t n_edges() const { return static_cast<std::int64_t>(tail.size()); }
    const double* unary_of(std::int64_t u) const { return unary.data() + unary_at[u]; }
    const double* table_of(std::int64_t e) const { return tables.data() + table_at[e]; }
    double pair(std::int64_t e, std::int32_t k, std::int32_t l) const {
        return table_of(e)[static_cast<std::int64_t>(k) * labels[head[e]] + l];
    }
};

// Below this sum no message can overflow, so +inf always means forbidden.
inline constexpr double kLargestSum = 1e290;

// Checks sizes and ranges (not the entries); throws std::invalid_argument.
void check(const EnergyView& energy);

// (V + E,) the terms of U(labels), nodes first. Requires labels in range (checked; throws std::invalid_argument).
std::vector<double> terms(const EnergyView& energy, std::span<const std::int32_t> labels);

// sum of the minima of all terms, rounded down: the weakest useful lower bound of U.
double independent_bound(const EnergyView& energy);

// For every node the label of its least unary entry, the first in case of ties.
std::vector<std::int32_t> unary_labels(const EnergyView& energy);

}  // namespace gapcut::infer
