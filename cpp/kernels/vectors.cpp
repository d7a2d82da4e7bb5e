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

// Rows of few numbers stay in registers.
void add_rows(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out) {
    in_registers<Doubles, Double1>(n, [=]<class V>(std::int64_t k) {
        V sum = V::load(out + k);
        const double* row = rows + k;
        for (std::int64_t d = 0; d < dims; ++d, row += n) sum = multiply_add(V::fill(x[d]), V::load(row), sum);
        sum.store(out + k);
    });
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

}  // namespace gapcut::GAPCUT_TARGET
