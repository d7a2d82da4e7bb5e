// Dual points from relaxed labels (mathematics.md, Threshold decomposition).
//
// For any z in [0,1]^{V x K} and m = min(z_u, z_v), the pair
//     h = Psi(x, y) - Psi(x, z, m),   d = sum_uk loss_u |z_uk - y_uk|
// is a convex combination of planes of true labelings: with the threshold labelings z^t = [z >= t],
// z = integral of z^t dt and min(z_u, z_v) = integral of z_u^t z_v^t dt over t in (0,1]. So it is a valid plane of the
// learning problem, whatever produced z, and needs no cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

struct RelaxedPlane {
    std::vector<double> plane;  // mean or sum over graphs, dim() long
    double loss = 0.0;          // likewise
};

// Sums. z: (N, K) row-major, entries in [0,1]. They run over fixed shards in order: same bits for any number of
// threads.
RelaxedPlane relaxed_sums(const Problem& problem, std::span<const float> z, int threads, const StopTest& stop = {});

// sum_i [Psi(x_i, y_i) - Psi(x_i, z_i, min)] in full coordinates, without restriction to those in use.
std::vector<double> relaxed_difference(const Problem& problem, std::span<const float> z, int threads,
                                       const StopTest& stop = {});

}  // namespace gapcut
