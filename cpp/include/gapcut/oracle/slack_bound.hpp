// A proven upper bound of the oracle's maximum without a cut.
//
// For a split b = c + c' of each arc's coefficient, c, c' >= 0, and z in {0,1}:  b z_u z_v <= c z_u + c' z_v.  So
//
//     max_z  sum_i a_i z_i + sum_ij b_ij z_i z_j  <=  sum_i max(0, a_i + what arcs give to i),
//
// a reparametrisation, with equality for the best one (linear-programming duality of a tight relaxation). The
// multipliers d1, d2 of the primal-dual iteration converge to it: near its end this bound is within a fraction of the
// gap of what the cut would prove, for the price of one parallel pass over the arcs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// Multipliers d1, d2 >= 0 of m <= z_tail and m <= z_head, (M,) for each label pair (K * K). Arcs are split in
// proportion to them; evenly where a pair has none (empty spans), or both are zero.
struct ArcMultipliers {
    std::vector<std::span<const float>> tail, head;
};

// Throws std::invalid_argument if the sizes are not those of the problem.
void check_multipliers(const Problem& problem, const ArcMultipliers& multipliers);

// c / b of one arc, in [0, 1] whatever the two are.
inline float tail_fraction(float tail, float head) {
    const float sum = tail + head;
    const float fraction = tail / sum;
    return fraction >= 0.0F && fraction <= 1.0F ? fraction : 0.5F;  // also where the sum is zero or not finite
}

struct SlackBound {
    double bound = 0.0;     // never negative, rounding included
    double rounding = 0.0;  // the part of it that pays for floating point
};

// The same summed over graphs: sums of parts of a problem add up to that of the whole.
SlackBound slack_sum(const Problem& problem, std::span<const double> weights, const ArcMultipliers& multipliers,
                     int threads, const StopTest& stop = {});

// Mean over graphs of an upper bound of max_z Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z)). The same bits for any number
// of threads. Throws like SparseWeights.
SlackBound slack_bound(const Problem& problem, std::span<const double> weights, const ArcMultipliers& multipliers,
                       int threads, const StopTest& stop = {});

}  // namespace gapcut
