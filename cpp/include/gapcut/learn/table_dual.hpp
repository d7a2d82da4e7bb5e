// Dual points of the LP-relaxed one-hot problem (mathematics.md, Tables made feasible).
//
// Labels z on the simplex of every node and any tables m >= 0 give a point of the local polytope: rows of m that are
// above z at the tail are scaled down to it, columns alike, and the product of what is then missing in rows and columns
// is added. Its plane
//     h = Psi(x, y) - Psi(x, z, m),   d = sum_u 2 loss_u sum_{k != y_u} z_uk
// is one of the learning problem, whatever z and m are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/learn/relaxed_dual.hpp"
#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// z: (N, K) row-major, entries >= 0, not all zero at a node; each node's are divided by their sum. tables: (M,) of each
// label pair, entries >= 0; zeros where the span is empty. Sums over graphs. The same bits for any number of threads.
RelaxedPlane table_sums(const Problem& problem, std::span<const float> z,
                        std::span<const std::span<const float>> tables, int threads, const StopTest& stop = {});

// A point as the caller keeps it: (N, K) and (K K, M), what lies in the polytope up to single precision.
struct TablePoint {
    std::vector<float> labels, tables;
};
struct TablePointView {
    std::span<const float> labels, tables;
};

// The point itself.
TablePoint feasible_point(const Problem& problem, std::span<const float> z,
                          std::span<const std::span<const float>> tables, int threads, const StopTest& stop = {});

// Of each graph, shares (2 + L, n_graphs) of two points and of labelings (L, N), and of the truth what they leave of 1.
TablePoint mixed_point(const Problem& problem, TablePointView one, TablePointView two,
                       std::span<const std::int32_t> labelings, std::span<const double> shares, int threads);

// Planes of each of some graphs, (graphs.size(), dim()); returns their losses.
std::vector<double> table_planes(const Problem& problem, std::span<const float> z,
                                 std::span<const std::span<const float>> tables, std::span<const std::int32_t> graphs,
                                 double* planes, int threads, const StopTest& stop = {});

// Whether no graph has a cycle, two edges between the same nodes being one: the local polytope then has no corners but
// labelings.
bool acyclic(const Problem& problem);

// Whether two edges join the same nodes, either way. Each has a table of its own; message passing adds their scores up
// first, so its bounds are of a tighter problem.
bool parallel_edges(const Problem& problem);

}  // namespace gapcut
