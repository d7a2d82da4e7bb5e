#include "kernels.hpp"

#include <algorithm>

#include "gapcut/target.hpp"

namespace gapcut::kernels {
namespace {

inline float positive(float x) { return x > 0.0F ? x : 0.0F; }
inline float unit(float x) { return x < 0.0F ? 0.0F : (x > 1.0F ? 1.0F : x); }

}  // namespace

GAPCUT_HOT float arc_step(std::int64_t n, ArcSteps steps, const float* __restrict gain, const float* __restrict z_tail,
                          const float* __restrict z_head, float* __restrict m, float* __restrict d1,
                          float* __restrict d2, float* __restrict to_tail, float* __restrict to_head) {
    const float tau = steps.tau, sigma = steps.sigma, relax = steps.relax;
    float change_d = 0.0F, change_m = 0.0F;
    for (std::int64_t e = 0; e < n; ++e) {
        const float a = d1[e], b = d2[e], old = m[e];
        const float step_a = positive(a - tau * (z_tail[e] - old)) - a;
        const float step_b = positive(b - tau * (z_head[e] - old)) - b;
        const float out_a = a + 2.0F * step_a, out_b = b + 2.0F * step_b;
        const float step_m = unit(old + sigma * (gain[e] - out_a - out_b)) - old;
        d1[e] = positive(a + relax * step_a);
        d2[e] = positive(b + relax * step_b);
        m[e] = unit(old + relax * step_m);
        to_tail[e] += out_a;
        to_head[e] += out_b;
        change_d += step_a * step_a + step_b * step_b;
        change_m += step_m * step_m;
    }
    return change_d / tau + change_m / sigma;
}

GAPCUT_HOT float label_step(std::int64_t n, float relax, const float* __restrict sigma, const float* __restrict score,
                            float* __restrict z, float* __restrict z_step) {
    float change = 0.0F;
    for (std::int64_t i = 0; i < n; ++i) {
        const float old = z[i];
        const float next = unit(old + sigma[i] * score[i]);
        const float step = next - old;
        z_step[i] = next;
        z[i] = unit(old + relax * step);
        change += step * step / sigma[i];
    }
    return change;
}

GAPCUT_HOT void add_scaled(std::int64_t n, float factor, const float* __restrict x, float* __restrict out) {
    for (std::int64_t i = 0; i < n; ++i) out[i] += factor * x[i];
}

// Four floats as one value (a vector extension of GCC and Clang).
typedef float Lane4 __attribute__((vector_size(16), aligned(4), may_alias));

// Rows become columns.
[[gnu::always_inline]] inline void transpose(Lane4& a, Lane4& b, Lane4& c, Lane4& d) {
    const Lane4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Lane4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

inline Lane4& four(float* x) { return *reinterpret_cast<Lane4*>(x); }
inline const Lane4& four(const float* x) { return *reinterpret_cast<const Lane4*>(x); }

constexpr std::int64_t kAhead = 16;  // edges between prefetching a row and reading it

inline void prefetch_rows(std::int64_t i, std::int64_t n, const std::int32_t* at, std::int64_t first, const float* rows,
                          std::int64_t width) {
    for (auto j = i + kAhead; j < std::min(i + kAhead + 4, n); ++j) {
        const float* row = rows + (at[j] - first) * width;
        for (std::int64_t k = 0; k < width; k += 16) __builtin_prefetch(row + k);
    }
}

GAPCUT_HOT void gather_rows(std::int64_t n, std::int64_t width, const std::int32_t* __restrict at, std::int64_t first,
                            const float* __restrict rows, float* __restrict list, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prefetch_rows(i, n, at, first, rows, width);
        const float* row[4];
        for (int j = 0; j < 4; ++j) row[j] = rows + (at[i + j] - first) * width;
        for (std::int64_t k = 0; k < width; k += 4) {
            Lane4 x[4] = {four(row[0] + k), four(row[1] + k), four(row[2] + k), four(row[3] + k)};
            transpose(x[0], x[1], x[2], x[3]);
            for (int j = 0; j < 4; ++j) four(list + (k + j) * stride + i) = x[j];
        }
    }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) list[k * stride + i] = rows[(at[i] - first) * width + k];
}

// Not restrict: edges of four may share a node.
GAPCUT_HOT void scatter_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                             const float* list, std::int64_t stride, float* rows) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prefetch_rows(i, n, at, first, rows, width);
        float* row[4];
        for (int j = 0; j < 4; ++j) row[j] = rows + (at[i + j] - first) * width;
        for (std::int64_t k = 0; k < width; k += 4) {
            const float* from = list + k * stride + i;
            Lane4 x[4] = {four(from), four(from + stride), four(from + 2 * stride), four(from + 3 * stride)};
            transpose(x[0], x[1], x[2], x[3]);
            for (int j = 0; j < 4; ++j) four(row[j] + k) += x[j];
        }
    }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) rows[(at[i] - first) * width + k] += list[k * stride + i];
}

GAPCUT_HOT void add_transposed(std::int64_t n, std::int64_t width, const float* __restrict rows, float* __restrict out,
                               std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::int64_t k = 0; k < width; k += 4) {
            const float* from = rows + i * width + k;
            Lane4 x[4] = {four(from), four(from + width), four(from + 2 * width), four(from + 3 * width)};
            transpose(x[0], x[1], x[2], x[3]);
            for (int j = 0; j < 4; ++j) four(out + (k + j) * stride + i) += x[j];
        }
    for (; i < n; ++i)
        for (std::int64_t k = 0; k < width; ++k) out[k * stride + i] += rows[i * width + k];
}

GAPCUT_HOT bool least(std::int64_t n, const float* __restrict a, const float* __restrict b, float* __restrict out) {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = a[i] < b[i] ? a[i] : b[i];
        sum += out[i];
    }
    return sum > 0.0F;
}

GAPCUT_HOT float square(std::int64_t n, const float* __restrict x) {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
    return sum;
}

// Sixteen floats as one value (a vector extension of GCC and Clang): keeps sums in registers, which arrays would not.
typedef float Lane16 __attribute__((vector_size(64), aligned(4), may_alias));

GAPCUT_HOT void add_weighted_rows(std::int64_t n, std::int64_t width, const float* const weight[4],
                                  const float* __restrict rows, float* __restrict sum) {
    const float *s0 = weight[0], *s1 = weight[1], *s2 = weight[2], *s3 = weight[3];
    // the return type is spelled out: deduced, it would lose the alignment of the typedef
    const auto lane = [sum, width](std::int64_t j, std::int64_t at) -> Lane16* {
        return reinterpret_cast<Lane16*>(sum + j * width + at);
    };
    std::int64_t d = 0;
    for (; d + 32 <= width; d += 32) {
        Lane16 a0{}, a1{}, a2{}, a3{}, b0{}, b1{}, b2{}, b3{};
        for (std::int64_t i = 0; i < n; ++i) {
            const Lane16* row = reinterpret_cast<const Lane16*>(rows + i * width + d);
            const Lane16 a = row[0], b = row[1];
            a0 += s0[i] * a;
            b0 += s0[i] * b;
            a1 += s1[i] * a;
            b1 += s1[i] * b;
            a2 += s2[i] * a;
            b2 += s2[i] * b;
            a3 += s3[i] * a;
            b3 += s3[i] * b;
        }
        *lane(0, d) += a0;
        *lane(1, d) += a1;
        *lane(2, d) += a2;
        *lane(3, d) += a3;
        *lane(0, d + 16) += b0;
        *lane(1, d + 16) += b1;
        *lane(2, d + 16) += b2;
        *lane(3, d + 16) += b3;
    }
    if (d == width) return;
    Lane16 a0{}, a1{}, a2{}, a3{};
    for (std::int64_t i = 0; i < n; ++i) {
        const Lane16 a = *reinterpret_cast<const Lane16*>(rows + i * width + d);
        a0 += s0[i] * a;
        a1 += s1[i] * a;
        a2 += s2[i] * a;
        a3 += s3[i] * a;
    }
    *lane(0, d) += a0;
    *lane(1, d) += a1;
    *lane(2, d) += a2;
    *lane(3, d) += a3;
}

// Four rows at once, sixteen labels at once: each row of by_feature is read once for four nodes.
GAPCUT_HOT void scores_of(std::int64_t dims, std::int64_t width, std::int64_t stride, const float* __restrict rows,
                          const float* __restrict by_feature, float* __restrict out) {
    const float *x0 = rows, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    for (std::int64_t k = 0; k < width; k += 16) {
        Lane16 s0{}, s1{}, s2{}, s3{};
        for (std::int64_t d = 0; d < dims; ++d) {
            const Lane16 w = *reinterpret_cast<const Lane16*>(by_feature + d * width + k);
            s0 += x0[d] * w;
            s1 += x1[d] * w;
            s2 += x2[d] * w;
            s3 += x3[d] * w;
        }
        Lane16* to = reinterpret_cast<Lane16*>(out + k);
        const std::int64_t step = width / 16;
        to[0] = s0;
        to[step] = s1;
        to[2 * step] = s2;
        to[3 * step] = s3;
    }
}

}  // namespace gapcut::kernels
