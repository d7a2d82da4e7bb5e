#include "gapcut/planes/box.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gapcut/linear/vectors.hpp"
#include "gapcut/target.hpp"

namespace gapcut {
void Box::check() const {
    if (lower.size() != upper.size()) throw std::invalid_argument("lower and upper need one entry per weight");
    for (std::size_t j = 0; j < lower.size(); ++j)
        if (!(lower[j] <= upper[j])) throw std::invalid_argument("a lower bound of a weight exceeds its upper bound");
}

GAPCUT_HOT void clamp(const Box& box, const double* x, double* w) {
    const double *lo = box.lower.data(), *hi = box.upper.data();
    const auto n = box.dim();
    for (std::int64_t j = 0; j < n; ++j) {
        const double v = x[j] > lo[j] ? x[j] : lo[j];
        w[j] = v < hi[j] ? v : hi[j];
    }
}

GAPCUT_HOT void move_and_clamp(const Box& box, double* x, double s, const double* y, double* w) {
    const double *lo = box.lower.data(), *hi = box.upper.data();
    const auto n = box.dim();
    for (std::int64_t j = 0; j < n; ++j) {
        x[j] += s * y[j];
        const double v = x[j] > lo[j] ? x[j] : lo[j];
        w[j] = v < hi[j] ? v : hi[j];
    }
}

GAPCUT_HOT Slope slope_at(const Box& box, const double* x, const double* y, double s) {
    const double *lo = box.lower.data(), *hi = box.upper.data();
    const auto n = box.dim();
    double value[kLanes] = {}, curvature[kLanes] = {};
    const auto one = [&](std::int64_t j, std::int64_t k) {
        const double moved = x[j] + s * y[j];
        const double up = moved > lo[j] ? moved : lo[j];
        const double from = x[j] > lo[j] ? x[j] : lo[j];
        const double change = (up < hi[j] ? up : hi[j]) - (from < hi[j] ? from : hi[j]);
        const double free = (moved > lo[j]) & (moved < hi[j]) ? y[j] : 0.0;
        value[k] += change * y[j];
        curvature[k] += free * free;
    };
    std::int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k) one(j + k, k);
    for (std::int64_t k = 0; j < n; ++j, ++k) one(j, k);
    return {add_lanes(value), add_lanes(curvature)};
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
