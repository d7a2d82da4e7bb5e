#include <algorithm>

#include "gapcut/oracle/slack_bound.hpp"
#include "quad.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

template <class V>
GAPCUT_INLINE V positive(V x) {
    return max(x, V::fill(0.0F));
}
constexpr std::int64_t kFloatsALine = 16;
constexpr std::int64_t kEdgesAhead = 16;  // edges between prefetching a row and reading it

template <class T>
GAPCUT_INLINE void prefetch_rows(std::int64_t i, std::int64_t n, const std::int32_t* at, std::int64_t first,
                                 const T* rows, std::int64_t width) {
    constexpr std::int64_t kLine = 64 / sizeof(T);
    for (auto j = i + kEdgesAhead; j < i + kEdgesAhead + 4 && j < n; ++j)
        for (std::int64_t k = 0; k < width; k += kLine) prefetch_line(rows + (at[j] - first) * width + k);
}

// Four edges at a time; two of them may have a node in common.
template <class Q, class T>
GAPCUT_INLINE void scatter(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                           const T* list, std::int64_t stride, T* rows) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prefetch_rows(i, n, at, first, rows, width);
        T *r0 = rows + (at[i] - first) * width, *r1 = rows + (at[i + 1] - first) * width;
        T *r2 = rows + (at[i + 2] - first) * width, *r3 = rows + (at[i + 3] - first) * width;
        for (std::int64_t k = 0; k < width; k += 4) {
            const T* from = list + k * stride + i;
            Q a = Q::load(from), b = Q::load(from + stride);
            Q c = Q::load(from + 2 * stride), d = Q::load(from + 3 * stride);
            transpose(a, b, c, d);
            (Q::load(r0 + k) + a).store(r0 + k);
            (Q::load(r1 + k) + b).store(r1 + k);
            (Q::load(r2 + k) + c).store(r2 + k);
            (Q::load(r3 + k) + d).store(r3 + k);
        }
    }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) rows[(at[i] - first) * width + k] += list[k * stride + i];
}

// Four registers of one sum over n rows.
GAPCUT_INLINE void weighted_sum(std::int64_t n, std::int64_t width, const float* weight, const float* row, float* sum) {
    constexpr auto size = Floats::size;
    Floats s0 = Floats::load(sum), s1 = Floats::load(sum + size);
    Floats s2 = Floats::load(sum + 2 * size), s3 = Floats::load(sum + 3 * size);
    for (std::int64_t i = 0; i < n; ++i, row += width) {
        const Floats w = Floats::fill(weight[i]);
        s0 = multiply_add(w, Floats::load(row), s0), s1 = multiply_add(w, Floats::load(row + size), s1);
        s2 = multiply_add(w, Floats::load(row + 2 * size), s2), s3 = multiply_add(w, Floats::load(row + 3 * size), s3);
    }
    s0.store(sum), s1.store(sum + size), s2.store(sum + 2 * size), s3.store(sum + 3 * size);
}

// `blocks` registers of four sums over n rows.
template <int blocks>
GAPCUT_INLINE void weighted_sums(std::int64_t n, std::int64_t width, const float* const weight[4], const float* row,
                                 float* sum) {
    const float *w0 = weight[0], *w1 = weight[1], *w2 = weight[2], *w3 = weight[3];
    const Floats zero = Floats::fill(0.0F);
    Floats a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    for (std::int64_t i = 0; i < n; ++i, row += width) {
        const Floats f0 = Floats::fill(w0[i]), f1 = Floats::fill(w1[i]);
        const Floats f2 = Floats::fill(w2[i]), f3 = Floats::fill(w3[i]);
        const Floats a = Floats::load(row);
        a0 = multiply_add(f0, a, a0), a1 = multiply_add(f1, a, a1);
        a2 = multiply_add(f2, a, a2), a3 = multiply_add(f3, a, a3);
        if constexpr (blocks == 2) {
            const Floats b = Floats::load(row + Floats::size);
            b0 = multiply_add(f0, b, b0), b1 = multiply_add(f1, b, b1);
            b2 = multiply_add(f2, b, b2), b3 = multiply_add(f3, b, b3);
        }
    }
    const auto add = [width](float* to, Floats x0, Floats x1, Floats x2, Floats x3) {
        (Floats::load(to) + x0).store(to);
        (Floats::load(to + width) + x1).store(to + width);
        (Floats::load(to + 2 * width) + x2).store(to + 2 * width);
        (Floats::load(to + 3 * width) + x3).store(to + 3 * width);
    };
    add(sum, a0, a1, a2, a3);
    if constexpr (blocks == 2) add(sum + Floats::size, b0, b1, b2, b3);
}

// out[j][i] = sum_d factor[j][d] row[d * stride + i] for four j, i over two registers.
GAPCUT_INLINE void sum_four(std::int64_t dims, const float* const factor[4], const float* row, std::int64_t stride,
                            float* const out[4]) {
    constexpr auto size = Floats::size;
    const float *x0 = factor[0], *x1 = factor[1], *x2 = factor[2], *x3 = factor[3];
    const Floats zero = Floats::fill(0.0F);
    Floats a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    for (std::int64_t d = 0; d < dims; ++d, row += stride) {
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

}  // namespace

float arc_step(std::int64_t n, ArcSteps steps, const float* gain, const float* z_tail, const float* z_head, float* m,
               float* d1, float* d2, float* to_tail, float* to_head) {
    Floats change_d = Floats::fill(0.0F), change_m = change_d;
    Float1 change_d1{0.0F}, change_m1{0.0F};
    const auto step = [=]<class V>(std::int64_t e, V& moved_d, V& moved_m) {
        const V tau = V::fill(steps.tau), sigma = V::fill(steps.sigma), rho = V::fill(steps.over_relaxation);
        const V a = V::load(d1 + e), b = V::load(d2 + e), old = V::load(m + e), two = V::fill(2.0F);
        const V step_a = positive(a - tau * (V::load(z_tail + e) - old)) - a;
        const V step_b = positive(b - tau * (V::load(z_head + e) - old)) - b;
        const V out_a = multiply_add(two, step_a, a), out_b = multiply_add(two, step_b, b);
        const V step_m = unit(multiply_add(sigma, V::load(gain + e) - out_a - out_b, old)) - old;
        positive(multiply_add(rho, step_a, a)).store(d1 + e);
        positive(multiply_add(rho, step_b, b)).store(d2 + e);
        unit(multiply_add(rho, step_m, old)).store(m + e);
        (V::load(to_tail + e) + out_a).store(to_tail + e);
        (V::load(to_head + e) + out_b).store(to_head + e);
        moved_d = multiply_add(step_a, step_a, multiply_add(step_b, step_b, moved_d));
        moved_m = multiply_add(step_m, step_m, moved_m);
    };
    std::int64_t e = 0;
    for (; e + Floats::size <= n; e += Floats::size) step(e, change_d, change_m);
    for (; e < n; ++e) step(e, change_d1, change_m1);
    return (sum_of(change_d) + change_d1.v) / steps.tau + (sum_of(change_m) + change_m1.v) / steps.sigma;
}

float label_step(std::int64_t n, float rho, const float* sigma, const float* score, float* z, float* z_step) {
    Floats sum = Floats::fill(0.0F);
    Float1 sum1{0.0F};
    const auto step = [=]<class V>(std::int64_t i, V& moved) {
        const V old = V::load(z + i), size = V::load(sigma + i);
        const V next = unit(multiply_add(size, V::load(score + i), old)), change = next - old;
        next.store(z_step + i);
        unit(multiply_add(V::fill(rho), change, old)).store(z + i);
        moved = moved + change * change / size;
    };
    std::int64_t i = 0;
    for (; i + Floats::size <= n; i += Floats::size) step(i, sum);
    for (; i < n; ++i) step(i, sum1);
    return sum_of(sum) + sum1.v;
}

// Four registers of sums stay while the columns pass.
void sum_columns(std::int64_t n, std::int64_t count, const std::int32_t* feature, const float* weight,
                 const float* columns, std::int64_t stride, float* out) {
    constexpr auto size = Floats::size;
    std::int64_t i = 0;
    for (; i + 4 * size <= n; i += 4 * size) {
        Floats s0 = Floats::fill(0.0F), s1 = s0, s2 = s0, s3 = s0;
        for (std::int64_t q = 0; q < count; ++q) {
            const float* x = columns + feature[q] * stride + i;
            const Floats w = Floats::fill(weight[q]);
            s0 = multiply_add(w, Floats::load(x), s0), s1 = multiply_add(w, Floats::load(x + size), s1);
            s2 = multiply_add(w, Floats::load(x + 2 * size), s2), s3 = multiply_add(w, Floats::load(x + 3 * size), s3);
        }
        s0.store(out + i), s1.store(out + i + size), s2.store(out + i + 2 * size), s3.store(out + i + 3 * size);
    }
    for (; i < n; ++i) {
        float sum = 0.0F;
        for (std::int64_t q = 0; q < count; ++q) sum += weight[q] * columns[feature[q] * stride + i];
        out[i] = sum;
    }
}

void add_scaled_floats(std::int64_t n, float factor, const float* x, float* out) {
    in_registers<Floats, Float1>(n, [=]<class V>(std::int64_t i) {
        multiply_add(V::fill(factor), V::load(x + i), V::load(out + i)).store(out + i);
    });
}

void gather_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* rows,
                 float* list, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prefetch_rows(i, n, at, first, rows, width);
        const float *r0 = rows + (at[i] - first) * width, *r1 = rows + (at[i + 1] - first) * width;
        const float *r2 = rows + (at[i + 2] - first) * width, *r3 = rows + (at[i + 3] - first) * width;
        for (std::int64_t k = 0; k < width; k += 4) {
            FloatQuad a = FloatQuad::load(r0 + k), b = FloatQuad::load(r1 + k);
            FloatQuad c = FloatQuad::load(r2 + k), d = FloatQuad::load(r3 + k);
            transpose(a, b, c, d);
            float* to = list + k * stride + i;
            a.store(to), b.store(to + stride), c.store(to + 2 * stride), d.store(to + 3 * stride);
        }
    }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) list[k * stride + i] = rows[(at[i] - first) * width + k];
}

void scatter_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* list,
                  std::int64_t stride, float* rows) {
    scatter<FloatQuad>(n, width, at, first, list, stride, rows);
}

void scatter_double_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                         const double* list, std::int64_t stride, double* rows) {
    scatter<Quad>(n, width, at, first, list, stride, rows);
}

void add_transposed(std::int64_t n, std::int64_t width, const float* rows, float* out, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::int64_t k = 0; k < width; k += 4) {
            const float* from = rows + i * width + k;
            FloatQuad a = FloatQuad::load(from), b = FloatQuad::load(from + width);
            FloatQuad c = FloatQuad::load(from + 2 * width), d = FloatQuad::load(from + 3 * width);
            transpose(a, b, c, d);
            float* to = out + k * stride + i;
            (FloatQuad::load(to) + a).store(to);
            (FloatQuad::load(to + stride) + b).store(to + stride);
            (FloatQuad::load(to + 2 * stride) + c).store(to + 2 * stride);
            (FloatQuad::load(to + 3 * stride) + d).store(to + 3 * stride);
        }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) out[k * stride + i] += rows[i * width + k];
}

bool least(std::int64_t n, const float* a, const float* b, float* out) {
    Floats any = Floats::fill(0.0F);
    float any1 = 0.0F;
    std::int64_t i = 0;
    for (; i + Floats::size <= n; i += Floats::size) {
        const Floats x = min(Floats::load(a + i), Floats::load(b + i));
        x.store(out + i);
        any = max(any, x);
    }
    for (; i < n; ++i) any1 = std::max(any1, out[i] = std::min(a[i], b[i]));
    return sum_of(any) + any1 > 0.0F;
}

float square(std::int64_t n, const float* x) {
    Floats sum = Floats::fill(0.0F);
    float sum1 = 0.0F;
    std::int64_t i = 0;
    for (; i + Floats::size <= n; i += Floats::size) {
        const Floats a = Floats::load(x + i);
        sum = multiply_add(a, a, sum);
    }
    for (; i < n; ++i) sum1 += x[i] * x[i];
    return sum_of(sum) + sum1;
}

void add_weighted_rows(std::int64_t n, std::int64_t width, const float* const weight[4], const float* rows,
                       float* sum) {
    std::int64_t d = 0;
    if (weight[1] == weight[0])
        for (; d + 4 * Floats::size <= width; d += 4 * Floats::size)
            weighted_sum(n, width, weight[0], rows + d, sum + d);
    for (; d + 2 * Floats::size <= width; d += 2 * Floats::size) weighted_sums<2>(n, width, weight, rows + d, sum + d);
    if (d < width) weighted_sums<1>(n, width, weight, rows + d, sum + d);
}

// Each row of by_feature is read once for four nodes: two registers of it at a time, or the even and odd features with
// sums of their own, so that eight of them are under way.
void scores_of(std::int64_t dims, std::int64_t width, std::int64_t stride, const float* rows, const float* by_feature,
               float* out) {
    constexpr auto size = Floats::size;
    const float *x0 = rows, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    const float* const nodes[4] = {x0, x1, x2, x3};
    for (std::int64_t d = 4 * stride; d < 8 * stride; d += kFloatsALine) prefetch_line(rows + d);  // of the next four
    std::int64_t k = 0;
    for (; k + 2 * size <= width; k += 2 * size) {
        float* const to[4] = {out + k, out + width + k, out + 2 * width + k, out + 3 * width + k};
        sum_four(dims, nodes, by_feature + k, width, to);
    }
    for (; k < width; k += size) {
        const Floats zero = Floats::fill(0.0F);
        Floats a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
        const float* w = by_feature + k;
        std::int64_t d = 0;
        for (; d + 2 <= dims; d += 2, w += 2 * width) {
            const Floats a = Floats::load(w), b = Floats::load(w + width);
            a0 = multiply_add(Floats::fill(x0[d]), a, a0), b0 = multiply_add(Floats::fill(x0[d + 1]), b, b0);
            a1 = multiply_add(Floats::fill(x1[d]), a, a1), b1 = multiply_add(Floats::fill(x1[d + 1]), b, b1);
            a2 = multiply_add(Floats::fill(x2[d]), a, a2), b2 = multiply_add(Floats::fill(x2[d + 1]), b, b2);
            a3 = multiply_add(Floats::fill(x3[d]), a, a3), b3 = multiply_add(Floats::fill(x3[d + 1]), b, b3);
        }
        if (d < dims) {
            const Floats a = Floats::load(w);
            a0 = multiply_add(Floats::fill(x0[d]), a, a0), a1 = multiply_add(Floats::fill(x1[d]), a, a1);
            a2 = multiply_add(Floats::fill(x2[d]), a, a2), a3 = multiply_add(Floats::fill(x3[d]), a, a3);
        }
        float* to = out + k;
        (a0 + b0).store(to), (a1 + b1).store(to + width);
        (a2 + b2).store(to + 2 * width), (a3 + b3).store(to + 3 * width);
    }
}

void add_split(std::int64_t n, const double* b, const float* tail, const float* head, double* to_tail,
               double* to_head) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double whole = b[i] > 0.0 ? b[i] : 0.0;
        const double c = whole * static_cast<double>(tail_fraction(tail[i], head[i]));
        to_tail[i] += c;
        to_head[i] += whole - c;
    }
}

}  // namespace gapcut::GAPCUT_TARGET
