// A proven upper bound of the oracle's maximum without a cut.
//
// For a split b = c + c' of each arc's coefficient, c, c' >= 0, and z in {0,1}:  b z_u z_v <= c z_u + c' z_v.  So
//
//     max_z  sum_i a_i z_i + sum_ij b_ij z_i z_j  <=  sum_i max(0, a_i + the shares of i),
//
// with equality for the best split, linear-programming duality of a tight relaxation. The primal-dual iteration holds
// a split that becomes the best one (its d1, d2): near its end this bound is within a fraction of the gap of what the
// cut would prove, for the price of one pass over the arcs, all threads at work, whatever the network looks like.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// How arcs are split: for each label pair (K * K) what the tail's and the head's share are in proportion to, (M,) each
// and >= 0. Evenly where a pair has none (empty spans), or both are zero.
struct ArcShares {
    std::vector<std::span<const float>> tail, head;
};

// Throws std::invalid_argument if the sizes are not those of the problem.
void check_shares(const Problem& problem, const ArcShares& shares);

// c / b of one arc, in [0, 1] whatever the two are.
inline float share_of_tail(float tail, float head) {
    const float sum = tail + head;
    const float share = tail / sum;
    return share >= 0.0F && share <= 1.0F ? share : 0.5F;  // also where the sum is zero or not finite
}

struct SlackBound {
    double bound = 0.0;     // never negative, rounding included
    double rounding = 0.0;  // the part of it that pays for floating point
};

// Mean over graphs of an upper bound of max_z Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z)). The same bits for any number
// of threads. Throws like SparseWeights.
SlackBound share_bound(const Problem& problem, std::span<const double> weights, const ArcShares& shares, int threads,
                       const StopTest& stop = {});

}  // namespace gapcut
