#include "repair_kernels.hpp"

#include <algorithm>

#include "gapcut/target.hpp"

namespace gapcut::repair {
namespace {

// Eight doubles as one value (a vector extension of GCC and Clang).
typedef double Lane8 __attribute__((vector_size(64), aligned(8), may_alias));

inline Lane8& eight(double* x) { return *reinterpret_cast<Lane8*>(x); }
inline const Lane8& eight(const double* x) { return *reinterpret_cast<const Lane8*>(x); }

inline double sum_of(const Lane8& x) { return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])); }

}  // namespace

// Without branches on z: whether an arc moves is hard to guess.
template <bool Up>
GAPCUT_HOT RepairLevels sum_arcs(std::span<const RepairArc> arcs, const Blocks& blocks,
                                 const double* __restrict features, const double* __restrict z, double here,
                                 double* __restrict moving_arc, const Moving& moving) {
    const auto K = blocks.K, De = blocks.De, whole = De / 8 * 8, n = std::ssize(arcs) * K;
    double* at = moving_arc;  // first the levels, then whether the arc moves
    for (const RepairArc& arc : arcs) at = std::copy_n(z + arc.other * K, K, at);
    std::fill_n(at, 8, here == 0.0 ? -1.0 : 0.0);
    const Lane8 zero{}, one = zero + 1.0, from = zero + here;
    Lane8 lowest_above = one, highest_below = zero, equal = zero;
    for (std::int64_t i = 0; i < n; i += 8) {
        const Lane8 level = eight(moving_arc + i);
        const Lane8 above = level > from ? level : one, below = level < from ? level : zero;
        lowest_above = above < lowest_above ? above : lowest_above;
        highest_below = below > highest_below ? below : highest_below;
        equal = level == from ? one : equal;
        if constexpr (Up)
            eight(moving_arc + i) = level > from ? one : zero;
        else
            eight(moving_arc + i) = level < from ? zero : one;
    }
    for (const RepairArc& arc : arcs) {
        const double* x = features + arc.edge * De;
        const std::int64_t first = arc.tail ? 0 : K;
        for (std::int64_t l = 0; l < K; ++l, ++moving_arc) {
            const double moves = *moving_arc;
            double* sum = moving.sums + (first + l) * De;
            moving.counts[first + l] += moves;
            for (std::int64_t d = 0; d < whole; d += 8) eight(sum + d) += moves * eight(x + d);
            for (std::int64_t d = whole; d < De; ++d) sum[d] += moves * x[d];
        }
    }
    RepairLevels levels;
    for (int i = 0; i < 8; ++i) {
        levels.above = std::min(levels.above, lowest_above[i]);
        levels.below = std::max(levels.below, highest_below[i]);
        levels.equal |= equal[i] > 0.0;
    }
    return levels;
}

template <bool Up>
GAPCUT_HOT void add_slope(const Blocks& blocks, std::int64_t label, const Moving& moving, const Weights& weights,
                          double& gradient, double& curvature) {
    const auto De = blocks.De, whole = De / 8 * 8;
    const Lane8 zero{};
    Lane8 gradients{}, curvatures{};
    double last_gradient = 0.0, last_curvature = 0.0;
    for (std::int64_t row = 0; row < 2 * blocks.K; ++row) {
        if (moving.counts[row] == 0.0) continue;
        const auto at = blocks.at(row, label);
        const double *sum = moving.sums + row * De, *w = weights.w + at, *raw = weights.raw + at;
        const double *lower = weights.lower + at, *free = weights.free + at;
        for (std::int64_t d = 0; d < whole; d += 8) {
            const Lane8 x = eight(sum + d);
            gradients += eight(w + d) * x;
            const Lane8 square = x * x * eight(free + d);
            if constexpr (Up)
                curvatures += eight(raw + d) > eight(lower + d) ? square : zero;
            else
                curvatures += square;
        }
        for (std::int64_t d = whole; d < De; ++d) {
            last_gradient += w[d] * sum[d];
            last_curvature += !Up || raw[d] > lower[d] ? sum[d] * sum[d] * free[d] : 0.0;
        }
    }
    gradient += sum_of(gradients) + last_gradient;
    curvature += sum_of(curvatures) + last_curvature;
}

GAPCUT_HOT void shift(std::int64_t n, std::int64_t at, double change, const double* __restrict x,
                      const Weights& weights) {
    double* __restrict raw = weights.raw + at, * __restrict w = weights.w + at;
    const double* __restrict lower = weights.lower + at, * __restrict upper = weights.upper + at;
    for (std::int64_t d = 0; d < n; ++d) {
        raw[d] -= change * x[d];
        const double low = raw[d] < lower[d] ? lower[d] : raw[d];
        w[d] = low > upper[d] ? upper[d] : low;
    }
}

GAPCUT_HOT void shift_rows(const Blocks& blocks, std::int64_t label, double change, const Moving& moving,
                           const Weights& weights) {
    for (std::int64_t row = 0; row < 2 * blocks.K; ++row)
        if (moving.counts[row] != 0.0)
            shift(blocks.De, blocks.at(row, label), change, moving.sums + row * blocks.De, weights);
}

template RepairLevels sum_arcs<true>(std::span<const RepairArc>, const Blocks&, const double*, const double*, double,
                                     double*, const Moving&);
template RepairLevels sum_arcs<false>(std::span<const RepairArc>, const Blocks&, const double*, const double*, double,
                                      double*, const Moving&);
template void add_slope<true>(const Blocks&, std::int64_t, const Moving&, const Weights&, double&, double&);
template void add_slope<false>(const Blocks&, std::int64_t, const Moving&, const Weights&, double&, double&);

}  // namespace gapcut::repair
