// What the half-sweeps of TRW-S share: lanes rounded down, sums that pay for their rounding, prefetching.
#pragma once

#include <cstdint>

#include "gapcut/infer/lanes.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut::infer {

GAPCUT_INLINE Lanes down(const Lanes& t) { return t * select_less(t, fill(0.0), fill(kAbove), fill(kBelow)); }

GAPCUT_INLINE double size_of(double x) { return x < 0.0 ? -x : x; }

// d_i and m_e of one node, summed with their rounding.
struct NodeValue {
    double sum = 0.0, absolute = 0.0, count = 0.0;

    GAPCUT_INLINE void add(double x) { add(x, size_of(x), 1.0); }
    // The sum of n numbers in any order, and the sum of their magnitudes.
    GAPCUT_INLINE void add(double x, double magnitude, double n) {
        sum += x;
        absolute += magnitude;
        count += n;
    }
    GAPCUT_INLINE double value() const { return gapcut::down(sum - (2.0 * count + 4.0) * kUnit * absolute); }
};

GAPCUT_INLINE std::int32_t first_least(const double* x, std::int64_t width, std::int32_t labels) {
    const double least = least_of(x, width);
    for (std::int32_t k = 0; k < labels; ++k)
        if (x[k] == least) return k;
    return 0;
}

template <int kWrite = 0>
GAPCUT_INLINE void prefetch(const double* p, std::int64_t count) {
#if GAPCUT_VECTOR_EXTENSION
    constexpr std::int64_t kLine = 8, kMost = 64;
    for (std::int64_t i = 0; i < count && i < kMost; i += kLine) __builtin_prefetch(p + i, kWrite);
#else
    (void)p, (void)count;
#endif
}

}  // namespace gapcut::infer
