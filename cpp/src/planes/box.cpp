#include "gapcut/planes/box.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gapcut/kernels.hpp"

namespace gapcut {
void Box::check() const {
    if (lower.size() != upper.size()) throw std::invalid_argument("lower and upper need one entry per weight");
    for (std::size_t j = 0; j < lower.size(); ++j)
        if (!(lower[j] <= upper[j])) throw std::invalid_argument("a lower bound of a weight exceeds its upper bound");
}

void clamp(const Box& box, const double* x, double* w) {
    kernels().clamp(box.dim(), box.lower.data(), box.upper.data(), x, w);
}

void move_and_clamp(const Box& box, double* x, double s, const double* y, double* w) {
    kernels().move_and_clamp(box.dim(), box.lower.data(), box.upper.data(), s, y, x, w);
}

Slope slope_at(const Box& box, const double* x, const double* y, double s) {
    Slope slope;
    kernels().box_slope(box.dim(), box.lower.data(), box.upper.data(), x, y, s, &slope.value, &slope.curvature);
    return slope;
}

void free_coordinates(const Box& box, const double* x, std::vector<std::int32_t>& out) {
    out.clear();
    for (std::int64_t j = 0; j < box.dim(); ++j)
        if (x[j] > box.lower[j] && x[j] < box.upper[j]) out.push_back(static_cast<std::int32_t>(j));
}

double line_search(const Box& box, const double* x, const double* y, double ascent, double longest) {
    constexpr int kNewtonSteps = 60;
    constexpr double kResolution = 1e-14;
    if (!(longest > 0.0) || !(ascent > 0.0)) return 0.0;
    double lo = 0.0, hi = longest, s = std::min(1.0, longest);
    for (int step = 0; step < kNewtonSteps; ++step) {
        const auto [fallen, curvature] = slope_at(box, x, y, s);
        const double rest = ascent - fallen;
        if (rest == 0.0 || (rest > 0.0 && s == longest)) return s;
        (rest > 0.0 ? lo : hi) = s;
        double next = curvature > 0.0 ? s + rest / curvature : (rest > 0.0 ? longest : 0.5 * (lo + hi));
        if (rest > 0.0 && next >= longest) next = hi == longest ? longest : 0.5 * (lo + hi);
        if (!(next > lo && (next < hi || next == longest))) next = 0.5 * (lo + hi);
        if (std::abs(next - s) <= kResolution * std::max(s, next)) return next;
        s = next;
    }
    return lo;  // the last point known to lie on the ascending side
}

}  // namespace gapcut
