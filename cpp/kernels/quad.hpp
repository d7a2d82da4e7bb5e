// Four doubles, one for each of four edges or labels: what the sweeps of message passing work on.
#pragma once

#include "simd.hpp"

namespace gapcut::GAPCUT_TARGET {

#if defined(__AVX2__)
#if defined(__AVX512F__)
GAPCUT_AVX2_REGISTER(Quad, double, __m256d, 4, pd)
#else
using Quad = Doubles;
#endif

// Of two quads the even lanes, the odd lanes, taking turns; the first halves, the last halves, one after the other.
GAPCUT_INLINE Quad evens(Quad a, Quad b) { return {_mm256_unpacklo_pd(a.v, b.v)}; }
GAPCUT_INLINE Quad odds(Quad a, Quad b) { return {_mm256_unpackhi_pd(a.v, b.v)}; }
GAPCUT_INLINE Quad firsts(Quad a, Quad b) { return {_mm256_permute2f128_pd(a.v, b.v, 0x20)}; }
GAPCUT_INLINE Quad lasts(Quad a, Quad b) { return {_mm256_permute2f128_pd(a.v, b.v, 0x31)}; }
// Two doubles from each of two places, and back.
GAPCUT_INLINE Quad load_two(const double* p, const double* q) {
    return {_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1)};
}
GAPCUT_INLINE void store_two(Quad x, double* p, double* q) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128(x.v));
    _mm_storeu_pd(q, _mm256_extractf128_pd(x.v, 1));
}
#else
// Two values side by side, as one of twice as many lanes.
template <class H>
struct Halves {
    static constexpr std::int64_t size = 2 * H::size;
    H first, last;
    static GAPCUT_INLINE Halves load(const double* p) { return {H::load(p), H::load(p + H::size)}; }
    static GAPCUT_INLINE Halves fill(double x) { return {H::fill(x), H::fill(x)}; }
    GAPCUT_INLINE void store(double* p) const { first.store(p), last.store(p + H::size); }
    friend GAPCUT_INLINE Halves operator+(Halves a, Halves b) { return {a.first + b.first, a.last + b.last}; }
    friend GAPCUT_INLINE Halves operator-(Halves a, Halves b) { return {a.first - b.first, a.last - b.last}; }
    friend GAPCUT_INLINE Halves operator*(Halves a, Halves b) { return {a.first * b.first, a.last * b.last}; }
    friend GAPCUT_INLINE Halves min(Halves a, Halves b) { return {min(a.first, b.first), min(a.last, b.last)}; }
    friend GAPCUT_INLINE Halves max(Halves a, Halves b) { return {max(a.first, b.first), max(a.last, b.last)}; }
    friend GAPCUT_INLINE Halves select_less(Halves a, Halves b, Halves x, Halves y) {
        return {select_less(a.first, b.first, x.first, y.first), select_less(a.last, b.last, x.last, y.last)};
    }
};

// Two lanes: one register or two.
#if defined(__SSE2__) || defined(_M_X64)
using Pair = Doubles;
GAPCUT_INLINE Pair evens(Pair a, Pair b) { return {_mm_unpacklo_pd(a.v, b.v)}; }
GAPCUT_INLINE Pair odds(Pair a, Pair b) { return {_mm_unpackhi_pd(a.v, b.v)}; }
#elif defined(__aarch64__) || defined(_M_ARM64)
using Pair = Doubles;
GAPCUT_INLINE Pair evens(Pair a, Pair b) { return {vzip1q_f64(a.v, b.v)}; }
GAPCUT_INLINE Pair odds(Pair a, Pair b) { return {vzip2q_f64(a.v, b.v)}; }
#else
using Pair = Halves<Double1>;
GAPCUT_INLINE Pair evens(Pair a, Pair b) { return {a.first, b.first}; }
GAPCUT_INLINE Pair odds(Pair a, Pair b) { return {a.last, b.last}; }
#endif

using Quad = Halves<Pair>;
GAPCUT_INLINE Quad evens(Quad a, Quad b) { return {evens(a.first, b.first), evens(a.last, b.last)}; }
GAPCUT_INLINE Quad odds(Quad a, Quad b) { return {odds(a.first, b.first), odds(a.last, b.last)}; }
GAPCUT_INLINE Quad firsts(Quad a, Quad b) { return {a.first, b.first}; }
GAPCUT_INLINE Quad lasts(Quad a, Quad b) { return {a.last, b.last}; }
GAPCUT_INLINE Quad load_two(const double* p, const double* q) { return {Pair::load(p), Pair::load(q)}; }
GAPCUT_INLINE void store_two(Quad x, double* p, double* q) { x.first.store(p), x.last.store(q); }
#endif

GAPCUT_INLINE void store_as(Quad x, double* p) { x.store(p); }
GAPCUT_INLINE void store_as(Quad x, float* p) {
#if defined(__AVX2__)
    _mm_storeu_ps(p, _mm256_cvtpd_ps(x.v));
#else
    double lane[4];
    x.store(lane);
    for (int i = 0; i < 4; ++i) p[i] = static_cast<float>(lane[i]);
#endif
}

GAPCUT_INLINE Quad magnitude(Quad a) { return max(a, Quad::fill(0.0) - a); }

// Rows become columns.
GAPCUT_INLINE void transpose(Quad& a, Quad& b, Quad& c, Quad& d) {
    const Quad ab = evens(a, b), ba = odds(a, b), cd = evens(c, d), dc = odds(c, d);
    a = firsts(ab, cd), b = firsts(ba, dc), c = lasts(ab, cd), d = lasts(ba, dc);
}

// Four floats, for rows of labels.
#if defined(__SSE2__) || defined(_M_X64)
#if defined(__AVX2__)
GAPCUT_X86_REGISTER(FloatQuad, float, __m128, 4, _mm, ps)
#else
using FloatQuad = Floats;
#endif
GAPCUT_INLINE void transpose(FloatQuad& a, FloatQuad& b, FloatQuad& c, FloatQuad& d) {
    _MM_TRANSPOSE4_PS(a.v, b.v, c.v, d.v);
}
#elif defined(__aarch64__) || defined(_M_ARM64)
using FloatQuad = Floats;
GAPCUT_INLINE void transpose(FloatQuad& a, FloatQuad& b, FloatQuad& c, FloatQuad& d) {
    const float32x4_t ab = vzip1q_f32(a.v, b.v), ba = vzip2q_f32(a.v, b.v);
    const float32x4_t cd = vzip1q_f32(c.v, d.v), dc = vzip2q_f32(c.v, d.v);
    const auto halves = [](float32x4_t x) { return vreinterpretq_f64_f32(x); };
    const auto whole = [](float64x2_t x) { return vreinterpretq_f32_f64(x); };
    a.v = whole(vzip1q_f64(halves(ab), halves(cd))), b.v = whole(vzip2q_f64(halves(ab), halves(cd)));
    c.v = whole(vzip1q_f64(halves(ba), halves(dc))), d.v = whole(vzip2q_f64(halves(ba), halves(dc)));
}
#else
struct FloatQuad {
    float v[4];
    static GAPCUT_INLINE FloatQuad load(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
    GAPCUT_INLINE void store(float* p) const { p[0] = v[0], p[1] = v[1], p[2] = v[2], p[3] = v[3]; }
};
GAPCUT_INLINE FloatQuad operator+(FloatQuad a, FloatQuad b) {
    return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2], a.v[3] + b.v[3]}};
}
GAPCUT_INLINE void transpose(FloatQuad& a, FloatQuad& b, FloatQuad& c, FloatQuad& d) {
    const FloatQuad rows[4] = {a, b, c, d};
    FloatQuad* const columns[4] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) columns[i]->v[j] = rows[j].v[i];
}
#endif

// The minimum over the lanes of each of four.
GAPCUT_INLINE Quad min_across(Quad a, Quad b, Quad c, Quad d) {
    const Quad ab = min(evens(a, b), odds(a, b)), cd = min(evens(c, d), odds(c, d));
    return min(firsts(ab, cd), lasts(ab, cd));
}

// The sums over the lanes of each of four.
GAPCUT_INLINE Quad sums_across(Quad a, Quad b, Quad c, Quad d) {
    transpose(a, b, c, d);
    return (a + b) + (c + d);
}

// The lanes as numbers.
struct Lanes {
    double at[4];
    GAPCUT_INLINE explicit Lanes(Quad x) { x.store(at); }
    GAPCUT_INLINE double operator[](std::int64_t i) const { return at[i]; }
};

GAPCUT_INLINE double min_of(Quad x) {
    const Lanes m(x);
    const double a = m[0] < m[1] ? m[0] : m[1], b = m[2] < m[3] ? m[2] : m[3];
    return a < b ? a : b;
}
GAPCUT_INLINE double total_of(Quad x) {
    const Lanes m(x);
    return (m[0] + m[1]) + (m[2] + m[3]);
}

}  // namespace gapcut::GAPCUT_TARGET
