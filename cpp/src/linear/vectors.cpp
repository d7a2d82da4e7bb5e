#include "gapcut/linear/vectors.hpp"

#include "gapcut/target.hpp"

namespace gapcut {

GAPCUT_HOT double dot(const double* __restrict a, const double* __restrict b, std::int64_t n) {
    double lane[kLanes] = {};
    std::int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k) lane[k] += a[j + k] * b[j + k];
    double rest = 0.0;
    for (; j < n; ++j) rest += a[j] * b[j];
    return add_lanes(lane) + rest;
}

GAPCUT_HOT void add_scaled(double* __restrict y, double s, const double* __restrict a, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) y[j] += s * a[j];
}

GAPCUT_HOT void add_combination(double* __restrict out, const double* __restrict x, std::int64_t count,
                                const double* __restrict rows, std::int64_t n) {
    for (std::int64_t d = 0; d < count; ++d)
        for (std::int64_t k = 0; k < n; ++k) out[k] += x[d] * rows[d * n + k];
}

}  // namespace gapcut
