// The quadratic program of a working set of planes (paper, supplement B, with the box eliminated by Eq. 21):
//
//     max_a  D(a) = sum_t a_t d_t - conjugate(sum_t a_t h_t),   a >= 0,  sum a <= C,
//
// whose primal is  min_w 1/2 |w|^2 + C max(0, max_t d_t - h_t'w)  over the box, with w = clamp(sum_t a_t h_t).
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/planes/box.hpp"

namespace gapcut {

struct PlaneSet {
    const double* planes;  // (count, dim) rows h_t
    const double* losses;  // (count,) d_t
    std::int64_t count, dim;

    const double* row(std::int64_t t) const { return planes + t * dim; }
};

struct QPOptions {
    double tolerance = 1e-9;  // stop when gap <= tolerance * primal value
    std::int64_t max_iterations = 1000;
};

// value = D(alpha), gap = primal value at weights - value >= 0 up to rounding, weights = clamp(sum alpha_t h_t):
// entries at a bound of the box are there exactly.
struct QPSolution {
    std::vector<double> alpha, weights;
    double value = 0, gap = 0;
    std::int64_t iterations = 0;
};

// Semismooth Newton: a simplex QP on the planes that matter with the gram over the free coordinates, then an exact
// line search; where that gains little, pairwise steps, which always gain. `start` (count) or empty for zero.
// Ends early, with an honest gap, when rounding forbids further ascent. Throws Interrupted if stop() turns true.
QPSolution solve_newton(const PlaneSet& set, const Box& box, double C, std::vector<double> start,
                        const QPOptions& options, const StopTest& stop = {});

// Dual coordinate descent in the manner of Ramanan (2013), as the paper has it (3.2.3): one alpha at a time in random
// order, w clipped after every step; a step that would break sum a <= C takes its mass from the worst active plane. An
// iteration is a sweep over the planes.
QPSolution solve_coordinate(const PlaneSet& set, const Box& box, double C, std::vector<double> start,
                            const QPOptions& options, const StopTest& stop = {});

}  // namespace gapcut
