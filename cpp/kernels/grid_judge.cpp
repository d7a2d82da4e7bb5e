// A forward half-sweep in float64 from messages in float32: the bound that they prove, and labels.
//
// Every step of sweep.hpp's proof rounds down. A sum of five numbers whose magnitudes sum to a errs by at most 4 u a,
// so h less 16 u a is below it. Halves are exact.
#include "grid_lanes.hpp"
#include "lanes.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

using infer::GridJudge;

// Of messages from above, which lane j + 1 reads where lane j wrote.
constexpr std::int64_t kStride = kGridRows + 1;

template <class V>
GAPCUT_INLINE V lower(V t) {
    const V zero = V::fill(0.0);
    return t * select_less(t, zero, V::fill(kAbove), V::fill(kBelow));
}
template <class V>
GAPCUT_INLINE V size_in_lanes(V t) {
    return max(t, V::fill(0.0) - t);
}

// own = h, at most unary + messages; returns its least. `later`: the messages of both edges to later neighbours.
template <class V>
GAPCUT_INLINE V gather(std::int64_t n, const float* const later[2], const double* left, const double* above,
                       double* own, double* decode) {
    V lowest = V::fill(0.0);
    for (std::int64_t k = 0; k < n; ++k) {
        double wide[2][V::size];
        for (std::int64_t j = 0; j < V::size; ++j)
            wide[0][j] = later[0][k * kGridRows + j], wide[1][j] = later[1][k * kGridRows + j];
        const V u = V::load(own + k * kStride), r = V::load(wide[0]), d = V::load(wide[1]);
        const V l = V::load(left + k * kStride), a = V::load(above + k * kStride);
        const V here = u + (r + d);
        const V sizes = size_in_lanes(u) + size_in_lanes(r) + size_in_lanes(d) + size_in_lanes(l) + size_in_lanes(a);
        const V h = (here + (l + a)) - V::fill(16.0 * kUnit) * sizes;
        (V::load(decode + k * kStride) + here).store(decode + k * kStride);
        h.store(own + k * kStride);
        lowest = k == 0 ? h : min(h, lowest);
    }
    return lowest;
}

// The message along an edge; returns what it leaves to the bound. `in`: the message that came along it. The weight is
// a little too small, so that products are not above the rounded ones of the energy, rounded or not.
template <GridTable kKind, class V>
GAPCUT_INLINE V send(const GridPlan& p, const double* own, V lowest, const float* in, V weight, double* sent,
                     double* out) {
    const std::int64_t n = p.grid.labels;
    const V w = weight * V::fill(kBelow);
    V least = V::fill(0.0);
    for (std::int64_t k = 0; k < n; ++k) {
        double wide[V::size];
        for (std::int64_t j = 0; j < V::size; ++j) wide[j] = in[k * kGridRows + j];
        const V rest = V::load(own + k * kStride) - lowest;
        const V b = select_less(rest, V::fill(kTiny), V::fill(0.0), V::fill(0.5) * lower(rest));
        const V s = lower(b - V::load(wide));
        s.store(sent + k * kStride);
        least = k == 0 ? s : min(s, least);
    }
    if constexpr (kKind == GridTable::general) {
        V lowest_out = V::fill(0.0);
        for (std::int64_t l = 0; l < n; ++l) {
            V best = V::load(sent) + w * V::fill(p.grid.table[l]);
            for (std::int64_t k = 1; k < n; ++k)
                best = min(V::load(sent + k * kStride) + w * V::fill(p.grid.table[k * n + l]), best);
            best = lower(best);
            best.store(out + l * kStride);
            lowest_out = l == 0 ? best : min(best, lowest_out);
        }
        for (std::int64_t l = 0; l < n; ++l) lower(V::load(out + l * kStride) - lowest_out).store(out + l * kStride);
        return lowest_out;
    }
    const V top = lower(least + w * V::fill(p.top));
    if constexpr (kKind == GridTable::potts) {
        for (std::int64_t k = 0; k < n; ++k)
            lower(min(V::load(sent + k * kStride), top) - least).store(out + k * kStride);
    } else {  // |k - l| steps, each at most table[k, l] / |k - l| in spite of its roundings, sums rounded down
        const V step = w * V::fill(p.step * (1.0 - 8.0 * kUnit));
        V x = V::load(sent);
        for (std::int64_t k = 1; k < n; ++k) {
            x = min(V::load(sent + k * kStride), lower(x + step));
            x.store(sent + k * kStride);
        }
        for (std::int64_t k = n - 1; k >= 0; --k) {
            x = min(V::load(sent + k * kStride), lower(x + step));
            lower(min(x, top) - least).store(out + k * kStride);
        }
    }
    return least;
}

// decode += what the labels of the left and the upper neighbours cost.
GAPCUT_INLINE void add_chosen(const GridPlan& p, const GridJudge& judge, std::int64_t row, std::int64_t t) {
    const GridView& g = p.grid;
    const std::int64_t n = g.labels;
    const Active lanes(g, row, t);
    for (std::int64_t j = lanes.first; j < lanes.last; ++j) {
        const std::int64_t r = row + j, c = t - j;
        const std::int32_t* here = judge.labels + r * g.width + c;
        double* decode = judge.decode + j;
        if (c > 0) {
            const double w = g.right == nullptr ? 1.0 : g.right[r * (g.width - 1) + c - 1];
            for (std::int64_t k = 0; k < n; ++k) decode[k * kStride] += w * g.table[here[-1] * n + k];
        }
        if (r > 0) {
            const double w = g.down == nullptr ? 1.0 : g.down[(r - 1) * g.width + c];
            for (std::int64_t k = 0; k < n; ++k) decode[k * kStride] += w * g.table[here[-g.width] * n + k];
        }
    }
}

// The labels of least costs, and the sums of the lanes in the grid.
GAPCUT_INLINE void finish(const GridView& g, GridJudge& judge, std::int64_t row, std::int64_t t,
                          const double values[3][kGridRows]) {
    const Active lanes(g, row, t);
    for (std::int64_t j = lanes.first; j < lanes.last; ++j) {
        std::int32_t best = 0;
        for (std::int32_t k = 1; k < g.labels; ++k)
            if (judge.decode[k * kStride + j] < judge.decode[best * kStride + j]) best = k;
        judge.labels[(row + j) * g.width + t - j] = best;
        for (int part = 0; part < 3; ++part) judge.bound.add(values[part][j]);
    }
}

template <GridTable kKind>
void judge_band(const GridPlan& p, GridJudge& judge, std::int64_t band) {
    const GridView& g = p.grid;
    const std::int64_t n = g.labels, row = band * kGridRows;
    for (std::int64_t i = 0; i < n * kStride; ++i) judge.from_left[i] = judge.from_above[i] = judge.decode[i] = 0.0;
    Weights<double> weights;
    double values[3][kGridRows];
    for (std::int64_t t = 0; t < p.steps; ++t) {
        lay_last(p, band, t);
        weights.set(g, row, t, row, t);
        for (std::int64_t k = 0; k < n; ++k)  // row -1
            judge.from_above[k * kStride] = band > 0 && t < g.width ? judge.above[t * n + k] : 0.0;
        gather_unary<kStride>(g, row, t, judge.own);
        add_chosen(p, judge, row, t);
        const float *right = p.right_at(band, t), *down = p.down_at(band, t);
        for (std::int64_t j = kGridRows - Doubles::size; j >= 0; j -= Doubles::size) {
            const float* const later[2] = {right + j, down + j};
            const Doubles lowest =
                gather<Doubles>(n, later, judge.from_left + j, judge.from_above + j, judge.own + j, judge.decode + j);
            lowest.store(values[0] + j);
            send<kKind>(p, judge.own + j, lowest, right + j, Doubles::load(weights.right + j), judge.sent + j,
                        judge.from_left + j)
                .store(values[1] + j);
            send<kKind>(p, judge.own + j, lowest, down + j, Doubles::load(weights.down + j), judge.sent + j,
                        judge.from_above + 1 + j)
                .store(values[2] + j);
        }
        finish(g, judge, row, t, values);
        for (std::int64_t i = 0; i < n * kStride; ++i) judge.decode[i] = 0.0;
        const std::int64_t column = t - kGridRows + 1;
        for (std::int64_t k = 0; k < n && column >= 0 && column < g.width; ++k)
            judge.above[column * n + k] = judge.from_above[k * kStride + kGridRows];
    }
}

}  // namespace

void grid_judge(const GridPlan& plan, GridJudge& judge, std::int64_t band) {
    switch (plan.kind) {
        case GridTable::potts:
            return judge_band<GridTable::potts>(plan, judge, band);
        case GridTable::linear:
            return judge_band<GridTable::linear>(plan, judge, band);
        default:
            return judge_band<GridTable::general>(plan, judge, band);
    }
}

}  // namespace gapcut::GAPCUT_TARGET
