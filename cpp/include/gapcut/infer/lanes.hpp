// Four doubles at a time. With the vector extensions of GCC and Clang the compiler maps them to whatever the target
// has; elsewhere they are plain loops.
#pragma once

#include <cstdint>

#if (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12) || defined(__clang__)
#define GAPCUT_VECTOR_EXTENSION 1
#define GAPCUT_INLINE __attribute__((always_inline)) inline
#pragma GCC diagnostic ignored "-Wpsabi"  // everything that returns lanes is inlined
#else
#define GAPCUT_VECTOR_EXTENSION 0
#define GAPCUT_INLINE inline
#endif

namespace gapcut::infer {

inline constexpr std::int64_t kLanes = 4;

#if GAPCUT_VECTOR_EXTENSION
using Lanes = double __attribute__((vector_size(32)));

GAPCUT_INLINE Lanes load(const double* p) { return *reinterpret_cast<const Lanes*>(p); }
GAPCUT_INLINE Lanes load_anywhere(const double* p) {
    using Unaligned = double __attribute__((vector_size(32), aligned(8)));
    return *reinterpret_cast<const Unaligned*>(p);
}
GAPCUT_INLINE void store(double* p, const Lanes& x) { *reinterpret_cast<Lanes*>(p) = x; }
GAPCUT_INLINE void store_anywhere(double* p, const Lanes& x) {
    using Unaligned = double __attribute__((vector_size(32), aligned(8)));
    *reinterpret_cast<Unaligned*>(p) = x;
}
GAPCUT_INLINE Lanes fill(double x) { return Lanes{x, x, x, x}; }
GAPCUT_INLINE Lanes least(const Lanes& a, const Lanes& b) { return a < b ? a : b; }
GAPCUT_INLINE Lanes most(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
GAPCUT_INLINE Lanes magnitude(const Lanes& a) { return a < 0.0 ? -a : a; }
// where a < b: x, otherwise y
GAPCUT_INLINE Lanes select_less(const Lanes& a, const Lanes& b, const Lanes& x, const Lanes& y) {
    return a < b ? x : y;
}
// The minimum over the lanes of each of four.
GAPCUT_INLINE Lanes least_across(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
    const Lanes ab = least(__builtin_shufflevector(a, b, 0, 4, 2, 6), __builtin_shufflevector(a, b, 1, 5, 3, 7));
    const Lanes cd = least(__builtin_shufflevector(c, d, 0, 4, 2, 6), __builtin_shufflevector(c, d, 1, 5, 3, 7));
    return least(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
}
// The last two, then zeros.
GAPCUT_INLINE Lanes last_two(const Lanes& a) { return __builtin_shufflevector(a, fill(0.0), 2, 3, 4, 5); }
// The even (odd) lanes of both, taking turns.
GAPCUT_INLINE Lanes even_lanes(const Lanes& a, const Lanes& b) { return __builtin_shufflevector(a, b, 0, 4, 2, 6); }
GAPCUT_INLINE Lanes odd_lanes(const Lanes& a, const Lanes& b) { return __builtin_shufflevector(a, b, 1, 5, 3, 7); }
using TwoLanes = double __attribute__((vector_size(16)));
GAPCUT_INLINE Lanes load_two(const double* p, const double* q) {
    const TwoLanes a = *reinterpret_cast<const TwoLanes*>(p), b = *reinterpret_cast<const TwoLanes*>(q);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}
GAPCUT_INLINE void store_first_two(double* p, const Lanes& x) {
    *reinterpret_cast<TwoLanes*>(p) = __builtin_shufflevector(x, x, 0, 1);
}
GAPCUT_INLINE void store_last_two(double* p, const Lanes& x) {
    *reinterpret_cast<TwoLanes*>(p) = __builtin_shufflevector(x, x, 2, 3);
}
// Rows become columns.
GAPCUT_INLINE void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Lanes ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Lanes cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), b = __builtin_shufflevector(ba, dc, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab, cd, 2, 3, 6, 7), d = __builtin_shufflevector(ba, dc, 2, 3, 6, 7);
}
#else
struct alignas(32) Lanes {
    double v[4];
    double operator[](int i) const { return v[i]; }
};
template <class F>
inline Lanes each(F f) {
    return Lanes{{f(0), f(1), f(2), f(3)}};
}
inline Lanes load(const double* p) {
    return each([&](int i) { return p[i]; });
}
inline Lanes load_anywhere(const double* p) { return load(p); }
inline void store(double* p, const Lanes& x) {
    for (int i = 0; i < 4; ++i) p[i] = x.v[i];
}
inline void store_anywhere(double* p, const Lanes& x) { store(p, x); }
inline Lanes fill(double x) { return Lanes{{x, x, x, x}}; }
inline Lanes operator+(const Lanes& a, const Lanes& b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
}
inline Lanes operator-(const Lanes& a, const Lanes& b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
}
inline Lanes operator*(const Lanes& a, const Lanes& b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
}
inline Lanes select_less(const Lanes& a, const Lanes& b, const Lanes& x, const Lanes& y) {
    return each([&](int i) { return a.v[i] < b.v[i] ? x.v[i] : y.v[i]; });
}
inline Lanes least(const Lanes& a, const Lanes& b) { return select_less(a, b, a, b); }
inline Lanes most(const Lanes& a, const Lanes& b) { return select_less(b, a, a, b); }
inline Lanes magnitude(const Lanes& a) {
    return each([&](int i) { return a.v[i] < 0.0 ? -a.v[i] : a.v[i]; });
}
inline Lanes least_across(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
    const auto low = [](const Lanes& x) {
        double m = x.v[0];
        for (int i = 1; i < 4; ++i) m = x.v[i] < m ? x.v[i] : m;
        return m;
    };
    return Lanes{{low(a), low(b), low(c), low(d)}};
}
inline Lanes last_two(const Lanes& a) { return Lanes{{a.v[2], a.v[3], 0.0, 0.0}}; }
inline Lanes even_lanes(const Lanes& a, const Lanes& b) { return Lanes{{a.v[0], b.v[0], a.v[2], b.v[2]}}; }
inline Lanes odd_lanes(const Lanes& a, const Lanes& b) { return Lanes{{a.v[1], b.v[1], a.v[3], b.v[3]}}; }
inline Lanes load_two(const double* p, const double* q) { return Lanes{{p[0], p[1], q[0], q[1]}}; }
inline void store_first_two(double* p, const Lanes& x) { p[0] = x.v[0], p[1] = x.v[1]; }
inline void store_last_two(double* p, const Lanes& x) { p[0] = x.v[2], p[1] = x.v[3]; }
inline void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Lanes rows[4] = {a, b, c, d};
    Lanes* const columns[4] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) columns[i]->v[j] = rows[j].v[i];
}
#endif

// The least of n = kLanes * blocks values.
GAPCUT_INLINE double least_of(const double* x, std::int64_t n) {
    Lanes m = load(x);
    for (std::int64_t i = kLanes; i < n; i += kLanes) m = least(load(x + i), m);
    const double a = m[0] < m[1] ? m[0] : m[1], b = m[2] < m[3] ? m[2] : m[3];
    return a < b ? a : b;
}

}  // namespace gapcut::infer
