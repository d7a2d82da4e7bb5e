// Vector kernels for weights kept in a box, w = clamp(x), and the exact line search along a dual direction.
//
// All lengths are the number of compact weights. The sums run in a fixed order, so results repeat bit for bit on one
// machine.
#pragma once

#include <cstdint>
#include <vector>

namespace gapcut {

// The box of the weights: lower[j] <= w[j] <= upper[j], -inf and inf where a side is open.
struct Box {
    std::vector<double> lower, upper;

    std::int64_t dim() const { return static_cast<std::int64_t>(lower.size()); }
    // Throws std::invalid_argument unless both sides have equal length and lower <= upper.
    void check() const;
};

// w = clamp(x)
void clamp(const Box& box, const double* x, double* w);

// x += s * y and w = clamp(x)
void move_and_clamp(const Box& box, double* x, double s, const double* y, double* w);

// (clamp(x + s y) - clamp(x))'y, how far the slope along y has fallen at s, and the sum of y_j^2 over the coordinates
// strictly inside the box there. The difference is taken before the sum: near an optimum the two parts cancel.
struct Slope {
    double value, curvature;
};
Slope slope_at(const Box& box, const double* x, const double* y, double s);

// The coordinates with lower < x < upper, the ones that move with x.
void free_coordinates(const Box& box, const double* x, std::vector<std::int32_t>& out);

// argmax over s in [0, longest] of  gain * s - conjugate(x + s y): concave and piecewise quadratic, so safeguarded
// Newton steps on the derivative end after a few kinks. ascent = gain - clamp(x)'y is its derivative at 0, which the
// caller knows more precisely than the difference of the two. Requires longest finite. Returns 0 if ascent <= 0.
double line_search(const Box& box, const double* x, const double* y, double ascent, double longest);

}  // namespace gapcut
