#include <algorithm>

#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {

double dot(const double* a, const double* b, std::int64_t n) {
    constexpr auto size = Doubles::size;
    Doubles s0 = Doubles::fill(0.0), s1 = s0, s2 = s0, s3 = s0;
    std::int64_t j = 0;
    for (; j + 4 * size <= n; j += 4 * size) {
        s0 = multiply_add(Doubles::load(a + j), Doubles::load(b + j), s0);
        s1 = multiply_add(Doubles::load(a + j + size), Doubles::load(b + j + size), s1);
        s2 = multiply_add(Doubles::load(a + j + 2 * size), Doubles::load(b + j + 2 * size), s2);
        s3 = multiply_add(Doubles::load(a + j + 3 * size), Doubles::load(b + j + 3 * size), s3);
    }
    for (; j + size <= n; j += size) s0 = multiply_add(Doubles::load(a + j), Doubles::load(b + j), s0);
    double rest = 0.0;
    for (; j < n; ++j) rest += a[j] * b[j];
    return sum_of((s0 + s1) + (s2 + s3)) + rest;
}

void add_scaled(double* y, double s, const double* a, std::int64_t n) {
    in_registers<Doubles, Double1>(
        n, [=]<class V>(std::int64_t j) { multiply_add(V::fill(s), V::load(a + j), V::load(y + j)).store(y + j); });
}

// Sums k[0], ... stay in as many registers while the rows pass. They may overlap: what both hold is the same.
template <class V, int registers>
GAPCUT_INLINE void sum_rows(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out,
                            const std::int64_t (&k)[4]) {
    constexpr bool two = registers > 1, three = registers > 2, four = registers > 3;
    V s0 = V::load(out + k[0]), s1 = s0, s2 = s0, s3 = s0;
    if constexpr (two) s1 = V::load(out + k[1]);
    if constexpr (three) s2 = V::load(out + k[2]);
    if constexpr (four) s3 = V::load(out + k[3]);
    for (std::int64_t d = 0; d < dims; ++d, rows += n) {
        const V w = V::fill(x[d]);
        s0 = multiply_add(w, V::load(rows + k[0]), s0);
        if constexpr (two) s1 = multiply_add(w, V::load(rows + k[1]), s1);
        if constexpr (three) s2 = multiply_add(w, V::load(rows + k[2]), s2);
        if constexpr (four) s3 = multiply_add(w, V::load(rows + k[3]), s3);
    }
    s0.store(out + k[0]);
    if constexpr (two) s1.store(out + k[1]);
    if constexpr (three) s2.store(out + k[2]);
    if constexpr (four) s3.store(out + k[3]);
}

void add_rows(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out) {
    constexpr auto size = Doubles::size;
    std::int64_t k = 0;
    const auto sum = [&]<class V, int registers>(std::int64_t last) {
        sum_rows<V, registers>(dims, n, x, rows, out,
                               {k, registers > 2 ? k + V::size : last, registers > 3 ? k + 2 * V::size : last, last});
    };
    for (; k + 4 * size <= n; k += 4 * size) sum.template operator()<Doubles, 4>(k + 3 * size);
    const auto left = n - k;
    if (left > 3 * size) return sum.template operator()<Doubles, 4>(n - size);
    if (left > 2 * size) return sum.template operator()<Doubles, 3>(n - size);
    if (left > size) return sum.template operator()<Doubles, 2>(n - size);
    if (left == size) return sum.template operator()<Doubles, 1>(k);
    for (; k + 4 <= n; k += 4) sum.template operator()<Double1, 4>(k + 3);
    if (k + 3 == n) return sum.template operator()<Double1, 3>(k + 2);
    if (k + 2 == n) return sum.template operator()<Double1, 2>(k + 1);
    if (k + 1 == n) sum.template operator()<Double1, 1>(k);
}

// Blocks of four sums of the left by two registers of the right.
void add_products(std::int64_t n, std::int64_t left_width, const double* left, std::int64_t left_stride,
                  std::int64_t right_width, const double* right, std::int64_t right_stride, double* sum,
                  std::int64_t stride) {
    for (std::int64_t i = 0; i < left_width; i += 4)
        for (std::int64_t j = 0; j < right_width; j += 2 * Doubles::size) {
            const Doubles zero = Doubles::fill(0.0);
            Doubles a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
            const double *x = left + i, *y = right + j;
            for (std::int64_t r = 0; r < n; ++r, x += left_stride, y += right_stride) {
                const Doubles a = Doubles::load(y), b = Doubles::load(y + Doubles::size);
                const Doubles x0 = Doubles::fill(x[0]), x1 = Doubles::fill(x[1]);
                const Doubles x2 = Doubles::fill(x[2]), x3 = Doubles::fill(x[3]);
                a0 = multiply_add(x0, a, a0), b0 = multiply_add(x0, b, b0);
                a1 = multiply_add(x1, a, a1), b1 = multiply_add(x1, b, b1);
                a2 = multiply_add(x2, a, a2), b2 = multiply_add(x2, b, b2);
                a3 = multiply_add(x3, a, a3), b3 = multiply_add(x3, b, b3);
            }
            const auto add = [](double* to, Doubles u, Doubles v) {
                (Doubles::load(to) + u).store(to);
                (Doubles::load(to + Doubles::size) + v).store(to + Doubles::size);
            };
            double* to = sum + i * stride + j;
            add(to, a0, b0), add(to + stride, a1, b1), add(to + 2 * stride, a2, b2), add(to + 3 * stride, a3, b3);
        }
}

void max_plus(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out) {
    in_registers<Doubles, Double1>(n, [=]<class V>(std::int64_t k) {
        const double* row = rows + k;
        V best = V::fill(x[0]) + V::load(row);
        for (std::int64_t d = 1; d < dims; ++d) best = max(V::fill(x[d]) + V::load(row += n), best);
        best.store(out + k);
    });
}

void clamp(std::int64_t n, const double* lower, const double* upper, const double* x, double* w) {
    in_registers<Doubles, Double1>(n, [=]<class V>(std::int64_t j) {
        min(max(V::load(x + j), V::load(lower + j)), V::load(upper + j)).store(w + j);
    });
}

void move_and_clamp(std::int64_t n, const double* lower, const double* upper, double s, const double* y, double* x,
                    double* w) {
    in_registers<Doubles, Double1>(n, [=]<class V>(std::int64_t j) {
        const V moved = multiply_add(V::fill(s), V::load(y + j), V::load(x + j));
        moved.store(x + j);
        min(max(moved, V::load(lower + j)), V::load(upper + j)).store(w + j);
    });
}

void box_slope(std::int64_t n, const double* lower, const double* upper, const double* x, const double* y, double s,
               double* value, double* curvature) {
    Doubles values = Doubles::fill(0.0), curvatures = values;
    Double1 value1{0.0}, curvature1{0.0};
    const auto add = [=]<class V>(std::int64_t j, V& a, V& b) {
        const V from = V::load(x + j), way = V::load(y + j), lo = V::load(lower + j), hi = V::load(upper + j);
        const V moved = multiply_add(V::fill(s), way, from), zero = V::fill(0.0);
        const V change = min(max(moved, lo), hi) - min(max(from, lo), hi);
        const V free = select_less(lo, moved, select_less(moved, hi, way, zero), zero);
        a = multiply_add(change, way, a);
        b = multiply_add(free, free, b);
    };
    std::int64_t j = 0;
    for (; j + Doubles::size <= n; j += Doubles::size) add(j, values, curvatures);
    for (; j < n; ++j) add(j, value1, curvature1);
    *value = sum_of(values) + value1.v;
    *curvature = sum_of(curvatures) + curvature1.v;
}

void ranks(std::int64_t n, const double* x, double* rank) {
    const Doubles zero = Doubles::fill(0.0), one = Doubles::fill(1.0);
    for (std::int64_t i = 0; i < n; i += 2 * Doubles::size) {
        const Doubles a = Doubles::load(x + i), b = Doubles::load(x + i + Doubles::size);
        Doubles below_a = zero, below_b = zero;
        for (std::int64_t j = 0; j < n; ++j) {
            const Doubles other = Doubles::fill(x[j]);
            below_a = below_a + select_less(other, a, one, zero);
            below_b = below_b + select_less(other, b, one, zero);
        }
        below_a.store(rank + i);
        below_b.store(rank + i + Doubles::size);
    }
}

}  // namespace gapcut::GAPCUT_TARGET
