#include "grid_lanes.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

// The messages of all lanes at one step of a band.
struct Step {
    const GridPlan& plan;
    const float* own_right;  // of the edges to later neighbours
    const float* own_down;
    const float* from_left;  // of the edges to earlier ones
    const float* from_above;
};

// sent -> message min_k sent[k] + w table(k, l), less its minimum `least` where that is the minimum of `sent`.
template <GridTable kKind, class V>
GAPCUT_INLINE void pass(const GridPlan& p, bool forward, float* sent, V w, V least, float* out) {
    const std::int64_t n = p.grid.labels;
    const V top = w * V::fill(static_cast<float>(p.top));
    if constexpr (kKind == GridTable::potts) {
        for (std::int64_t k = 0; k < n; ++k) min(V::load(sent + k * kGridRows) - least, top).store(out + k * kGridRows);
    } else if constexpr (kKind == GridTable::linear) {
        const V step = w * V::fill(static_cast<float>(p.step));
        V x = V::load(sent) - least;
        x.store(sent);
        for (std::int64_t k = 1; k < n; ++k) {
            x = min(V::load(sent + k * kGridRows) - least, x + step);
            x.store(sent + k * kGridRows);
        }
        for (std::int64_t k = n - 1; k >= 0; --k) {
            x = min(V::load(sent + k * kGridRows), x + step);
            min(x, top).store(out + k * kGridRows);
        }
    } else {
        const float* table = p.by_receiver[forward];
        V lowest = V::fill(0.0F);
        for (std::int64_t l = 0; l < n; ++l, table += n) {
            V best = multiply_add(w, V::fill(table[0]), V::load(sent));
            for (std::int64_t k = 1; k < n; ++k)
                best = min(multiply_add(w, V::fill(table[k]), V::load(sent + k * kGridRows)), best);
            best.store(out + l * kGridRows);
            lowest = l == 0 ? best : min(best, lowest);
        }
        for (std::int64_t l = 0; l < n; ++l) (V::load(out + l * kGridRows) - lowest).store(out + l * kGridRows);
    }
}

// The message along an edge whose message so far is `in`: half of what the node has above its least is sent.
template <GridTable kKind, class V>
GAPCUT_INLINE void send(const GridPlan& p, bool forward, const float* own, V lowest, const float* in, V w, float* sent,
                        float* out) {
    const V half = V::fill(0.5F);
    V least = V::fill(0.0F);
    for (std::int64_t k = 0; k < p.grid.labels; ++k) {
        const V s = half * (V::load(own + k * kGridRows) - lowest) - V::load(in + k * kGridRows);
        s.store(sent + k * kGridRows);
        least = k == 0 ? s : min(s, least);
    }
    pass<kKind>(p, forward, sent, w, least, out);
}

template <GridTable kKind>
GAPCUT_INLINE void half_step(const Step& at, bool forward, float* right, float* down, const Weights<float>& weights) {
    const GridPlan& p = at.plan;
    for (std::int64_t j = 0; j < kGridRows; j += Floats::size) {
        float *own = p.scratch + j, *sent = p.scratch + p.labels16() + j;
        Floats lowest = Floats::fill(0.0F);
        for (std::int64_t k = 0; k < p.grid.labels; ++k) {
            const std::int64_t i = k * kGridRows + j;
            const Floats later = Floats::load(at.own_right + i) + Floats::load(at.own_down + i);
            const Floats earlier = Floats::load(at.from_left + i) + Floats::load(at.from_above + i);
            const Floats h = Floats::load(own + k * kGridRows) + (later + earlier);
            h.store(own + k * kGridRows);
            lowest = k == 0 ? h : min(h, lowest);
        }
        send<kKind>(p, forward, own, lowest, right + j, Floats::load(weights.right + j), sent, right + j);
        send<kKind>(p, forward, own, lowest, down + j, Floats::load(weights.down + j), sent, down + j);
    }
}

// Asks for what steps soon to come read first, since processors foresee few of so many streams.
GAPCUT_INLINE void foresee(const GridPlan& p, std::int64_t band, std::int64_t t) {
    if (t < 0 || t >= p.steps) return;
    const float *right = p.right_at(band, t), *down = p.down_at(band, t);
    for (std::int64_t k = 0; k < p.grid.labels; ++k) {
        prefetch_line(right + k * kGridRows);
        prefetch_line(down + k * kGridRows);
    }
    const Active lanes(p.grid, band * kGridRows, t);
    const double* unary = p.grid.unary_of(band * kGridRows * p.grid.width + t);
    for (std::int64_t j = lanes.first; j < lanes.last; ++j)
        for (std::int64_t k = 0; k < p.grid.labels; k += 8)
            prefetch_line(unary + j * (p.grid.width - 1) * p.grid.labels + k);
}
constexpr std::int64_t kStepsAhead = 2;  // steps

template <GridTable kKind>
void forward_band(const GridPlan& p, std::int64_t band) {
    const std::int64_t row = band * kGridRows;
    Weights<float> weights;
    for (std::int64_t t = 0; t < p.steps; ++t) {
        foresee(p, band, t + kStepsAhead);
        lay_last(p, band, t);
        lay_first(p, band, t);
        gather_unary<kGridRows>(p.grid, row, t, p.scratch);
        weights.set(p.grid, row, t, row, t);
        float *right = p.right_at(band, t), *down = p.down_at(band, t);
        half_step<kKind>({p, right, down, p.right_at(band, t - 1), p.down_at(band, t - 1) - 1}, true, right, down,
                         weights);
        keep_last(p, band, t);
    }
}

template <GridTable kKind>
void backward_band(const GridPlan& p, std::int64_t band) {
    const std::int64_t row = band * kGridRows;
    Weights<float> weights;
    for (std::int64_t t = p.steps - 1; t >= 0; --t) {
        foresee(p, band, t - 1 - kStepsAhead);
        lay_last(p, band, t);
        lay_first(p, band, t);
        gather_unary<kGridRows>(p.grid, row, t, p.scratch);
        weights.set(p.grid, row, t - 1, row - 1, t);
        float *left = p.right_at(band, t - 1), *above = p.down_at(band, t - 1) - 1;
        half_step<kKind>({p, p.right_at(band, t), p.down_at(band, t), left, above}, false, left, above, weights);
        keep_first(p, band, t);
    }
}

}  // namespace

void grid_forward(const GridPlan& plan, std::int64_t band) {
    switch (plan.kind) {
        case GridTable::potts:
            return forward_band<GridTable::potts>(plan, band);
        case GridTable::linear:
            return forward_band<GridTable::linear>(plan, band);
        default:
            return forward_band<GridTable::general>(plan, band);
    }
}

void grid_backward(const GridPlan& plan, std::int64_t band) {
    switch (plan.kind) {
        case GridTable::potts:
            return backward_band<GridTable::potts>(plan, band);
        case GridTable::linear:
            return backward_band<GridTable::linear>(plan, band);
        default:
            return backward_band<GridTable::general>(plan, band);
    }
}

}  // namespace gapcut::GAPCUT_TARGET
