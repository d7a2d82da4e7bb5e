// Products of features with several lists of factors at once.
#pragma once

#include "simd.hpp"

namespace gapcut::GAPCUT_TARGET {

// out[j][i] = sum_d factor[j][d] row[d * stride + i] for four j, i over two registers. Rows are prefetched `ahead`
// values (0: not at all), where there are too many for the processor to see that they go on.
template <std::int64_t ahead>
GAPCUT_INLINE void sum_four(std::int64_t dims, const float* const factor[4], const float* row, std::int64_t stride,
                            float* const out[4]) {
    constexpr auto size = Floats::size;
    const float *x0 = factor[0], *x1 = factor[1], *x2 = factor[2], *x3 = factor[3];
    const Floats zero = Floats::fill(0.0F);
    Floats a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    for (std::int64_t d = 0; d < dims; ++d, row += stride) {
        if constexpr (ahead > 0) prefetch_line(row + ahead);
        const Floats a = Floats::load(row), b = Floats::load(row + size);
        const Floats f0 = Floats::fill(x0[d]), f1 = Floats::fill(x1[d]);
        const Floats f2 = Floats::fill(x2[d]), f3 = Floats::fill(x3[d]);
        a0 = multiply_add(f0, a, a0), b0 = multiply_add(f0, b, b0);
        a1 = multiply_add(f1, a, a1), b1 = multiply_add(f1, b, b1);
        a2 = multiply_add(f2, a, a2), b2 = multiply_add(f2, b, b2);
        a3 = multiply_add(f3, a, a3), b3 = multiply_add(f3, b, b3);
    }
    a0.store(out[0]), b0.store(out[0] + size), a1.store(out[1]), b1.store(out[1] + size);
    a2.store(out[2]), b2.store(out[2] + size), a3.store(out[3]), b3.store(out[3] + size);
}

}  // namespace gapcut::GAPCUT_TARGET
