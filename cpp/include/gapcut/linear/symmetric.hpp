// Small dense symmetric systems in double precision: what the metric of the primal-dual learner is made of.
#pragma once

#include <cstdint>
#include <vector>

namespace gapcut {

// A symmetric n x n matrix, stored whole, row-major.
struct Symmetric {
    std::int64_t n = 0;
    std::vector<double> values;

    explicit Symmetric(std::int64_t size = 0) : n(size), values(static_cast<std::size_t>(size * size), 0.0) {}
    double& operator()(std::int64_t i, std::int64_t j) { return values[i * n + j]; }
    double operator()(std::int64_t i, std::int64_t j) const { return values[i * n + j]; }
    const double* row(std::int64_t i) const { return values.data() + i * n; }
    void multiply(const double* x, double* out) const;
};

// factor * matrix + shift * identity
Symmetric scaled(const Symmetric& matrix, double factor, double shift);

// Improves x for  min 1/2 x'Hx - g'x  over lower <= x <= upper  by cyclic coordinate descent from the x given, at most
// `sweeps` times over the coordinates. Coordinates at a bound are exactly at it. `residual` is scratch.
void box_descent(const Symmetric& H, const double* g, const double* lower, const double* upper, int sweeps, double* x,
                 std::vector<double>& residual);

}  // namespace gapcut
