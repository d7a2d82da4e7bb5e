#include "gapcut/learn/repair_kernels.hpp"

#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

constexpr std::int64_t kFewFeatures = 32;  // adding so many in vain costs less than guessing wrong whether to

// The sums of few features are first added up by feature, so that the labels fill the registers.
GAPCUT_INLINE void sum_few_features(std::span<const RepairArc> arcs, const repair::Blocks& blocks,
                                    const double* features, const double* moving_arc, double* lists,
                                    const repair::Moving& moving) {
    const auto K = blocks.K, De = blocks.De, width = (K + Doubles::size - 1) / Doubles::size * Doubles::size;
    const auto side = (De + 1) * width;
    for (std::int64_t i = 0; i < 2 * side; ++i) lists[i] = 0.0;
    for (const RepairArc& arc : arcs) {
        const double* x = features + arc.edge * De;
        double* list = lists + (arc.tail ? 0 : side);
        for (std::int64_t l = 0; l < K; l += Doubles::size) {
            const Doubles moves = Doubles::load(moving_arc + l);
            (Doubles::load(list + l) + moves).store(list + l);
            for (std::int64_t d = 0; d < De; ++d) {
                double* sum = list + (d + 1) * width + l;
                multiply_add(Doubles::fill(x[d]), moves, Doubles::load(sum)).store(sum);
            }
        }
        moving_arc += K;
    }
    for (std::int64_t row = 0; row < 2 * K; ++row) {
        const double* list = row < K ? lists + row : lists + side + row - K;
        moving.counts[row] = list[0];
        for (std::int64_t d = 0; d < De; ++d) moving.sums[row * De + d] = list[(d + 1) * width];
    }
}

GAPCUT_INLINE void sum_features(std::span<const RepairArc> arcs, const repair::Blocks& blocks, const double* features,
                                const double* moving_arc, const repair::Moving& moving) {
    const auto K = blocks.K, De = blocks.De;
    for (const RepairArc& arc : arcs) {
        const double* x = features + arc.edge * De;
        const std::int64_t first = arc.tail ? 0 : K;
        for (std::int64_t l = 0; l < K; ++l, ++moving_arc) {
            const double moves = *moving_arc;
            if (De > kFewFeatures && moves == 0.0) continue;
            double* sum = moving.sums + (first + l) * De;
            moving.counts[first + l] += moves;
            in_registers<Doubles, Double1>(De, [=]<class V>(std::int64_t d) {
                multiply_add(V::fill(moves), V::load(x + d), V::load(sum + d)).store(sum + d);
            });
        }
    }
}

}  // namespace

template <bool Up>
RepairLevels sum_arcs(std::span<const RepairArc> arcs, const repair::Blocks& blocks, const double* features,
                      const double* z, double here, double* moving_arc, const repair::Moving& moving) {
    const auto K = blocks.K, n = static_cast<std::int64_t>(arcs.size()) * K;
    double* at = moving_arc;  // first the levels, then whether the arc moves
    for (const RepairArc& arc : arcs)
        for (std::int64_t l = 0; l < K; ++l) *at++ = z[arc.other * K + l];
    for (int i = 0; i < 8; ++i) *at++ = here == 0.0 ? -1.0 : 0.0;
    const Doubles zero = Doubles::fill(0.0), one = Doubles::fill(1.0), from = Doubles::fill(here);
    Doubles lowest_above = one, highest_below = zero, unequal = one;
    for (std::int64_t i = 0; i < n; i += Doubles::size) {
        const Doubles level = Doubles::load(moving_arc + i);
        lowest_above = min(select_less(from, level, level, one), lowest_above);
        highest_below = max(select_less(level, from, level, zero), highest_below);
        unequal = min(select_less(from, level, one, select_less(level, from, one, zero)), unequal);
        (Up ? select_less(from, level, one, zero) : select_less(level, from, zero, one)).store(moving_arc + i);
    }
    if (blocks.De <= repair::kByFeature)
        sum_few_features(arcs, blocks, features, moving_arc, moving_arc + n + 8, moving);
    else
        sum_features(arcs, blocks, features, moving_arc, moving);
    RepairLevels levels;
    double above[Doubles::size], below[Doubles::size], different[Doubles::size];
    lowest_above.store(above), highest_below.store(below), unequal.store(different);
    for (std::int64_t i = 0; i < Doubles::size; ++i) {
        levels.above = above[i] < levels.above ? above[i] : levels.above;
        levels.below = below[i] > levels.below ? below[i] : levels.below;
        levels.equal |= different[i] == 0.0;
    }
    return levels;
}

template <bool Up>
void add_slope(const repair::Blocks& blocks, std::int64_t label, const repair::Moving& moving,
               const repair::Weights& weights, double& gradient, double& curvature) {
    const auto De = blocks.De;
    Doubles gradients = Doubles::fill(0.0), curvatures = gradients;
    Double1 gradient1{0.0}, curvature1{0.0};
    for (std::int64_t row = 0; row < 2 * blocks.K; ++row) {
        if (moving.counts[row] == 0.0) continue;
        const auto at = blocks.at(row, label);
        const double *sum = moving.sums + row * De, *w = weights.w + at, *raw = weights.raw + at;
        const double *lower = weights.lower + at, *free = weights.free + at;
        const auto add = [=]<class V>(std::int64_t d, V& slope, V& bend) {
            const V x = V::load(sum + d), square = x * x * V::load(free + d);
            slope = multiply_add(V::load(w + d), x, slope);
            bend = bend + (Up ? select_less(V::load(lower + d), V::load(raw + d), square, V::fill(0.0)) : square);
        };
        std::int64_t d = 0;
        for (; d + Doubles::size <= De; d += Doubles::size) add(d, gradients, curvatures);
        for (; d < De; ++d) add(d, gradient1, curvature1);
    }
    gradient += sum_of(gradients) + gradient1.v;
    curvature += sum_of(curvatures) + curvature1.v;
}

void shift(std::int64_t n, std::int64_t at, double change, const double* x, const repair::Weights& weights) {
    double *raw = weights.raw + at, *w = weights.w + at;
    const double *lower = weights.lower + at, *upper = weights.upper + at;
    in_registers<Doubles, Double1>(n, [=]<class V>(std::int64_t d) {
        const V moved = multiply_add(V::fill(-change), V::load(x + d), V::load(raw + d));
        moved.store(raw + d);
        min(max(moved, V::load(lower + d)), V::load(upper + d)).store(w + d);
    });
}

void shift_rows(const repair::Blocks& blocks, std::int64_t label, double change, const repair::Moving& moving,
                const repair::Weights& weights) {
    for (std::int64_t row = 0; row < 2 * blocks.K; ++row)
        if (moving.counts[row] != 0.0)
            shift(blocks.De, blocks.at(row, label), change, moving.sums + row * blocks.De, weights);
}

template RepairLevels sum_arcs<true>(std::span<const RepairArc>, const repair::Blocks&, const double*, const double*,
                                     double, double*, const repair::Moving&);
template RepairLevels sum_arcs<false>(std::span<const RepairArc>, const repair::Blocks&, const double*, const double*,
                                      double, double*, const repair::Moving&);
template void add_slope<true>(const repair::Blocks&, std::int64_t, const repair::Moving&, const repair::Weights&,
                              double&, double&);
template void add_slope<false>(const repair::Blocks&, std::int64_t, const repair::Moving&, const repair::Weights&,
                               double&, double&);

}  // namespace gapcut::GAPCUT_TARGET
