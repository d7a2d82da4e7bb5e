// Registers of the target that a file is compiled for, as values: Floats and Doubles fill one register each, Quad is
// four doubles (one register where it holds four, otherwise two or four). All files here are compiled once for every
// target, each into the namespace GAPCUT_TARGET, so that no inline function of one target is linked into another.
//
// min(a, b) is a < b ? a : b and max(a, b) is a > b ? a : b in each lane, whatever is NaN. multiply_add may round once
// or twice. No vector here is wider than the registers of its target (tests/kernels/test_widths.py).
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#elif defined(__aarch64__) || defined(_M_ARM64)
#include <arm_neon.h>
#endif

#if defined(_MSC_VER)
#define GAPCUT_INLINE __forceinline
#else
#define GAPCUT_INLINE __attribute__((always_inline)) inline
#endif

namespace gapcut::GAPCUT_TARGET {

// Loads, stores and arithmetic that all x86 registers name alike: P is _mm, _mm256 or _mm512, S is ps or pd.
#define GAPCUT_X86_REGISTER(V, T, R, N, P, S)                                  \
    struct V {                                                                 \
        static constexpr std::int64_t size = N;                                \
        R v;                                                                   \
        static GAPCUT_INLINE V load(const T* p) { return {P##_loadu_##S(p)}; } \
        static GAPCUT_INLINE V fill(T x) { return {P##_set1_##S(x)}; }         \
        GAPCUT_INLINE void store(T* p) const { P##_storeu_##S(p, v); }         \
    };                                                                         \
    GAPCUT_INLINE V operator+(V a, V b) { return {P##_add_##S(a.v, b.v)}; }    \
    GAPCUT_INLINE V operator-(V a, V b) { return {P##_sub_##S(a.v, b.v)}; }    \
    GAPCUT_INLINE V operator*(V a, V b) { return {P##_mul_##S(a.v, b.v)}; }    \
    GAPCUT_INLINE V operator/(V a, V b) { return {P##_div_##S(a.v, b.v)}; }    \
    GAPCUT_INLINE V min(V a, V b) { return {P##_min_##S(a.v, b.v)}; }          \
    GAPCUT_INLINE V max(V a, V b) { return {P##_max_##S(a.v, b.v)}; }

// multiply_add(a, b, c) = a b + c; select_less(a, b, x, y): x where a < b, otherwise y.
#define GAPCUT_SSE2_REGISTER(V, T, R, N, S)                                     \
    GAPCUT_X86_REGISTER(V, T, R, N, _mm, S)                                     \
    GAPCUT_INLINE V multiply_add(V a, V b, V c) { return a * b + c; }           \
    GAPCUT_INLINE V select_less(V a, V b, V x, V y) {                           \
        const R less = _mm_cmplt_##S(a.v, b.v);                                 \
        return {_mm_or_##S(_mm_and_##S(less, x.v), _mm_andnot_##S(less, y.v))}; \
    }

#define GAPCUT_AVX2_REGISTER(V, T, R, N, S)                                                   \
    GAPCUT_X86_REGISTER(V, T, R, N, _mm256, S)                                                \
    GAPCUT_INLINE V multiply_add(V a, V b, V c) { return {_mm256_fmadd_##S(a.v, b.v, c.v)}; } \
    GAPCUT_INLINE V select_less(V a, V b, V x, V y) {                                         \
        return {_mm256_blendv_##S(y.v, x.v, _mm256_cmp_##S(a.v, b.v, _CMP_LT_OQ))};           \
    }

#define GAPCUT_AVX512_REGISTER(V, T, R, N, S)                                                  \
    GAPCUT_X86_REGISTER(V, T, R, N, _mm512, S)                                                 \
    GAPCUT_INLINE V multiply_add(V a, V b, V c) { return {_mm512_fmadd_##S(a.v, b.v, c.v)}; }  \
    GAPCUT_INLINE V select_less(V a, V b, V x, V y) {                                          \
        return {_mm512_mask_blend_##S(_mm512_cmp_##S##_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)}; \
    }

#define GAPCUT_NEON_REGISTER(V, T, R, N, S)                                              \
    struct V {                                                                           \
        static constexpr std::int64_t size = N;                                          \
        R v;                                                                             \
        static GAPCUT_INLINE V load(const T* p) { return {vld1q_##S(p)}; }               \
        static GAPCUT_INLINE V fill(T x) { return {vdupq_n_##S(x)}; }                    \
        GAPCUT_INLINE void store(T* p) const { vst1q_##S(p, v); }                        \
    };                                                                                   \
    GAPCUT_INLINE V operator+(V a, V b) { return {vaddq_##S(a.v, b.v)}; }                \
    GAPCUT_INLINE V operator-(V a, V b) { return {vsubq_##S(a.v, b.v)}; }                \
    GAPCUT_INLINE V operator*(V a, V b) { return {vmulq_##S(a.v, b.v)}; }                \
    GAPCUT_INLINE V operator/(V a, V b) { return {vdivq_##S(a.v, b.v)}; }                \
    GAPCUT_INLINE V min(V a, V b) { return {vbslq_##S(vcltq_##S(a.v, b.v), a.v, b.v)}; } \
    GAPCUT_INLINE V max(V a, V b) { return {vbslq_##S(vcgtq_##S(a.v, b.v), a.v, b.v)}; } \
    GAPCUT_INLINE V multiply_add(V a, V b, V c) { return {vfmaq_##S(c.v, a.v, b.v)}; }   \
    GAPCUT_INLINE V select_less(V a, V b, V x, V y) { return {vbslq_##S(vcltq_##S(a.v, b.v), x.v, y.v)}; }

// One number, for what a loop leaves beyond its last whole register, and where no instruction set is known.
#define GAPCUT_SCALAR_REGISTER(V, T)                                          \
    struct V {                                                                \
        static constexpr std::int64_t size = 1;                               \
        T v;                                                                  \
        static GAPCUT_INLINE V load(const T* p) { return {*p}; }              \
        static GAPCUT_INLINE V fill(T x) { return {x}; }                      \
        GAPCUT_INLINE void store(T* p) const { *p = v; }                      \
    };                                                                        \
    GAPCUT_INLINE V operator+(V a, V b) { return {a.v + b.v}; }               \
    GAPCUT_INLINE V operator-(V a, V b) { return {a.v - b.v}; }               \
    GAPCUT_INLINE V operator*(V a, V b) { return {a.v * b.v}; }               \
    GAPCUT_INLINE V operator/(V a, V b) { return {a.v / b.v}; }               \
    GAPCUT_INLINE V min(V a, V b) { return a.v < b.v ? a : b; }               \
    GAPCUT_INLINE V max(V a, V b) { return a.v > b.v ? a : b; }               \
    GAPCUT_INLINE V multiply_add(V a, V b, V c) { return {a.v * b.v + c.v}; } \
    GAPCUT_INLINE V select_less(V a, V b, V x, V y) { return a.v < b.v ? x : y; }

GAPCUT_SCALAR_REGISTER(Float1, float)
GAPCUT_SCALAR_REGISTER(Double1, double)

#if defined(__AVX512F__)
GAPCUT_AVX512_REGISTER(Floats, float, __m512, 16, ps)
GAPCUT_AVX512_REGISTER(Doubles, double, __m512d, 8, pd)
#elif defined(__AVX2__)
GAPCUT_AVX2_REGISTER(Floats, float, __m256, 8, ps)
GAPCUT_AVX2_REGISTER(Doubles, double, __m256d, 4, pd)
#elif defined(__SSE2__) || defined(_M_X64)
GAPCUT_SSE2_REGISTER(Floats, float, __m128, 4, ps)
GAPCUT_SSE2_REGISTER(Doubles, double, __m128d, 2, pd)
#elif defined(__aarch64__) || defined(_M_ARM64)
GAPCUT_NEON_REGISTER(Floats, float, float32x4_t, 4, f32)
GAPCUT_NEON_REGISTER(Doubles, double, float64x2_t, 2, f64)
#else
using Floats = Float1;
using Doubles = Double1;
#endif

// The sum over the lanes, halves first.
template <class V, class T>
GAPCUT_INLINE T sum_of(V x, T) {
    T lane[V::size];
    x.store(lane);
    for (std::int64_t width = V::size / 2; width > 0; width /= 2)
        for (std::int64_t k = 0; k < width; ++k) lane[k] += lane[k + width];
    return lane[0];
}
GAPCUT_INLINE float sum_of(Floats x) { return sum_of(x, 0.0F); }
GAPCUT_INLINE double sum_of(Doubles x) { return sum_of(x, 0.0); }

// The nearest values in [0, 1].
template <class V>
GAPCUT_INLINE V unit(V x) {
    return min(max(x, V::fill(0.0F)), V::fill(1.0F));
}

// f<V>(i) for all i < n: V a whole register as long as there are so many, then one number.
template <class V, class V1, class F>
GAPCUT_INLINE void in_registers(std::int64_t n, F f) {
    std::int64_t i = 0;
    if constexpr (V::size > 1)
        for (; i + V::size <= n; i += V::size) f.template operator()<V>(i);
    for (; i < n; ++i) f.template operator()<V1>(i);
}

// Prefetches the cache line at p.
GAPCUT_INLINE void prefetch_line([[maybe_unused]] const void* p) {
#if defined(__SSE2__) || defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
#elif defined(__GNUC__)
    __builtin_prefetch(p);
#endif
}

}  // namespace gapcut::GAPCUT_TARGET
