// The tables of a learned model on one graph: unary = -X W', table_e = -sum_d phi_d(e) W[:, :, d].
//
// Learned pairwise weights are sparse (2-10 % non-zero), so zero weights and zero features are skipped. Sums run
// over ascending d whatever the storage, so the same features give the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/row_matrix.hpp"

namespace gapcut::infer {

// (V, K) from node features (V, Dn) and weights (K, Dn) row-major.
std::vector<double> unary_tables(const RowMatrix& nodes, std::int64_t n_labels, const double* weights);

// (E, K, K) from edge features (E, De) and weights (K, K, De) row-major.
std::vector<double> pairwise_tables(const RowMatrix& edges, std::int64_t n_labels, const double* weights);

}  // namespace gapcut::infer
