#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

// `blocks` registers of one weighted sum over the rows listed.
template <int blocks>
GAPCUT_INLINE void listed_sums(std::int64_t count, const std::int32_t* at, const float* weight, std::int64_t width,
                               const float* rows, float* sum) {
    Floats s[blocks];
    for (int b = 0; b < blocks; ++b) s[b] = Floats::fill(0.0F);
    for (std::int64_t i = 0; i < count; ++i) {
        const Floats x = Floats::fill(weight[at[i]]);
        const float* row = rows + at[i] * width;
        for (int b = 0; b < blocks; ++b) s[b] = multiply_add(x, Floats::load(row + b * Floats::size), s[b]);
    }
    for (int b = 0; b < blocks; ++b) (Floats::load(sum + b * Floats::size) + s[b]).store(sum + b * Floats::size);
}

}  // namespace

void table_sums(std::int64_t labels, std::int64_t n, const float* const* m, float* rows, float* columns,
                std::int64_t stride) {
    const auto step = [=]<class V>(std::int64_t e) {
        for (std::int64_t l = 0; l < labels; ++l) V::fill(0.0F).store(columns + l * stride + e);
        for (std::int64_t k = 0; k < labels; ++k) {
            V row = V::fill(0.0F);
            for (std::int64_t l = 0; l < labels; ++l) {
                const float* entry = m[k * labels + l];
                if (entry == nullptr) continue;
                const V x = V::load(entry + e);
                row = row + x;
                float* column = columns + l * stride + e;
                (V::load(column) + x).store(column);
            }
            row.store(rows + k * stride + e);
        }
    };
    in_registers<Floats, Float1>(n, step);
}

template <bool at_most>
float message_step(std::int64_t n, float tau, float rho, const float* z, const float* sum, float* d, float* out,
                   float* to_node) {
    Floats change = Floats::fill(0.0F);
    Float1 change1{0.0F};
    const auto step = [=]<class V>(std::int64_t e, V& moved) {
        const V zero = V::fill(0.0F), old = V::load(d + e);
        V next = old - V::fill(tau) * (V::load(z + e) - V::load(sum + e));
        if constexpr (at_most) next = max(next, zero);
        const V by = next - old, ahead = next + by;
        V relaxed = multiply_add(V::fill(rho), by, old);
        if constexpr (at_most) relaxed = max(relaxed, zero);
        relaxed.store(d + e);
        ahead.store(out + e);
        (V::load(to_node + e) + ahead).store(to_node + e);
        moved = multiply_add(by, by, moved);
    };
    std::int64_t e = 0;
    for (; e + Floats::size <= n; e += Floats::size) step(e, change);
    for (; e < n; ++e) step(e, change1);
    return (sum_of(change) + change1.v) / tau;
}
template float message_step<false>(std::int64_t, float, float, const float*, const float*, float*, float*, float*);
template float message_step<true>(std::int64_t, float, float, const float*, const float*, float*, float*, float*);

float table_step(std::int64_t n, float sigma, float rho, const float* gain, const float* out_tail,
                 const float* out_head, float* m) {
    Floats change = Floats::fill(0.0F);
    Float1 change1{0.0F};
    const auto step = [=]<class V>(std::int64_t e, V& moved) {
        const V old = V::load(m + e), force = V::load(gain + e) - V::load(out_tail + e) - V::load(out_head + e);
        const V by = unit(multiply_add(V::fill(sigma), force, old)) - old;
        unit(multiply_add(V::fill(rho), by, old)).store(m + e);
        moved = multiply_add(by, by, moved);
    };
    std::int64_t e = 0;
    for (; e + Floats::size <= n; e += Floats::size) step(e, change);
    for (; e < n; ++e) step(e, change1);
    return (sum_of(change) + change1.v) / sigma;
}

// Michelot's projection, one node a lane: the threshold t of the labels above it, until it no longer rises. Scores are
// first lowered by their greatest, so that t lies in [-1, 0) however large they are.
float simplex_step(std::int64_t n, std::int64_t labels, float rho, const float* sigma, const float* score,
                   std::int64_t score_stride, float* z, float* z_step, std::int64_t stride) {
    Floats change = Floats::fill(0.0F);
    Float1 change1{0.0F};
    const auto step = [=]<class V>(std::int64_t i, V& moved) {
        const V zero = V::fill(0.0F), one = V::fill(1.0F), size = V::load(sigma + i);
        V most = V::fill(-3e38F);
        for (std::int64_t k = 0; k < labels; ++k) {
            const V x = multiply_add(size, V::load(score + k * score_stride + i), V::load(z + k * stride + i));
            x.store(z_step + k * stride + i);
            most = max(x, most);
        }
        V t = zero - one;
        for (std::int64_t round = 0; round <= labels; ++round) {
            V sum = zero - one, count = zero;
            for (std::int64_t k = 0; k < labels; ++k) {
                const V x = V::load(z_step + k * stride + i) - most;
                sum = sum + select_less(t, x, x, zero);
                count = count + select_less(t, x, one, zero);
            }
            const V next = max(sum / max(count, one), t), rise = next - t;
            t = next;
            if (!(sum_of(rise, 0.0F) > 0.0F)) break;
        }
        for (std::int64_t k = 0; k < labels; ++k) {
            const V old = V::load(z + k * stride + i);
            const V next = max(V::load(z_step + k * stride + i) - most - t, zero), by = next - old;
            next.store(z_step + k * stride + i);
            multiply_add(V::fill(rho), by, old).store(z + k * stride + i);
            moved = moved + by * by / size;
        }
    };
    std::int64_t i = 0;
    for (; i + Floats::size <= n; i += Floats::size) step(i, change);
    for (; i < n; ++i) step(i, change1);
    return sum_of(change) + change1.v;
}

void add_listed_rows(std::int64_t count, const std::int32_t* at, const float* weight, std::int64_t width,
                     const float* rows, float* sum) {
    std::int64_t d = 0;
    for (; d + 4 * Floats::size <= width; d += 4 * Floats::size)
        listed_sums<4>(count, at, weight, width, rows + d, sum + d);
    for (; d + 2 * Floats::size <= width; d += 2 * Floats::size)
        listed_sums<2>(count, at, weight, width, rows + d, sum + d);
    if (d < width) listed_sums<1>(count, at, weight, width, rows + d, sum + d);
}

}  // namespace gapcut::GAPCUT_TARGET
