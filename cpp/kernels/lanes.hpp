// What the half-sweeps of TRW-S have in common: lanes rounded down, sums that pay for their rounding, the entries of
// few labels in blocks of four, prefetching.
#pragma once

#include "gapcut/infer/packed.hpp"
#include "gapcut/rounding.hpp"
#include "quad.hpp"

#if defined(__clang__)
#define GAPCUT_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define GAPCUT_UNROLL _Pragma("GCC unroll 16")
#else
#define GAPCUT_UNROLL
#endif

namespace gapcut::GAPCUT_TARGET {

using infer::kLanes;

GAPCUT_INLINE void store(double* p, Quad x) { x.store(p); }

GAPCUT_INLINE Quad down(Quad t) { return t * select_less(t, Quad::fill(0.0), Quad::fill(kAbove), Quad::fill(kBelow)); }
GAPCUT_INLINE double down(double t) { return t * (t < 0.0 ? kAbove : kBelow); }

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
    GAPCUT_INLINE double value() const { return down(sum - (2.0 * count + 4.0) * kUnit * absolute); }
};

// The least of n = kLanes * blocks values.
GAPCUT_INLINE double min_of(const double* x, std::int64_t n) {
    Quad m = Quad::load(x);
    for (std::int64_t i = kLanes; i < n; i += kLanes) m = min(Quad::load(x + i), m);
    return min_of(m);
}

GAPCUT_INLINE std::int32_t first_least(const double* x, std::int64_t width, std::int32_t labels) {
    const double least = min_of(x, width);
    for (std::int32_t k = 0; k < labels; ++k)
        if (x[k] == least) return k;
    return 0;
}

template <int K>
inline constexpr int kBlocks = (K + 3) / 4;

// K entries as numbers.
template <int K>
struct Entries {
    double at[4 * kBlocks<K>];
    GAPCUT_INLINE explicit Entries(const Quad* x) {
        GAPCUT_UNROLL for (int b = 0; b < kBlocks<K>; ++b) x[b].store(at + 4 * b);
    }
    GAPCUT_INLINE double operator[](int k) const { return at[k]; }

    GAPCUT_INLINE double lowest() const {
        double low = at[0];
        GAPCUT_UNROLL for (int k = 1; k < K; ++k) low = at[k] < low ? at[k] : low;
        return low;
    }
    GAPCUT_INLINE std::int32_t place_of_least() const {
        const double least = lowest();
        std::int32_t place = K - 1;
        GAPCUT_UNROLL for (int k = K - 2; k >= 0; --k) place = at[k] == least ? k : place;
        return place;
    }
};

GAPCUT_INLINE void prefetch(const double* p, std::int64_t count) {
    constexpr std::int64_t kLine = 8, kMost = 64;
    for (std::int64_t i = 0; i < count && i < kMost; i += kLine) prefetch_line(p + i);
}

}  // namespace gapcut::GAPCUT_TARGET
