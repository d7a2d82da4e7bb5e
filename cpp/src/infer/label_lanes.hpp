// The entries of K labels, K few, in blocks of lanes.
#pragma once

#include <cstdint>

#include "gapcut/infer/lanes.hpp"

#if defined(__GNUC__)
#define GAPCUT_UNROLL _Pragma("GCC unroll 16")
#else
#define GAPCUT_UNROLL
#endif

namespace gapcut::infer {

template <int K>
inline constexpr int kBlocks = (K + 3) / 4;

template <int K>
GAPCUT_INLINE double entry(const Lanes* x, int k) {
    return x[k / 4][k % 4];
}

template <int K>
GAPCUT_INLINE double lowest_of(const Lanes* x) {
    double low = entry<K>(x, 0);
    GAPCUT_UNROLL for (int k = 1; k < K; ++k) low = entry<K>(x, k) < low ? entry<K>(x, k) : low;
    return low;
}

GAPCUT_INLINE double sum_of(const Lanes& x) { return (x[0] + x[1]) + (x[2] + x[3]); }

template <int K>
GAPCUT_INLINE std::int32_t place_of_least(const Lanes* x) {
    const double least = lowest_of<K>(x);
    std::int32_t place = K - 1;
    GAPCUT_UNROLL for (int k = K - 2; k >= 0; --k) place = entry<K>(x, k) == least ? k : place;
    return place;
}

}  // namespace gapcut::infer
