// Sixteen pixels on a diagonal of a grid (infer/grid.hpp): their unaries, the weights of their edges, and what crosses
// from band to band.
#pragma once

#include "gapcut/infer/grid.hpp"
#include "quad.hpp"

namespace gapcut::GAPCUT_TARGET {

using infer::GridPlan;
using infer::GridTable;
using infer::GridView;
using infer::kGridRows;

// Lanes [first, last) of the diagonal through (row, t), lane j being pixel (row + j, t - j), that are in the grid.
struct Active {
    std::int64_t first, last;
    GAPCUT_INLINE Active(const GridView& g, std::int64_t row, std::int64_t t) {
        const std::int64_t before = t - g.width + 1, rows = g.height - row;
        first = before > 0 ? before : 0;
        if (first < -row) first = -row;
        last = t + 1 < kGridRows ? t + 1 : kGridRows;
        if (rows < last) last = rows;
    }
    GAPCUT_INLINE bool full() const { return first == 0 && last == kGridRows; }
};

// out[k * kStride + j]: unary of lane j, 0 outside of the grid.
template <std::int64_t kStride, class T>
GAPCUT_INLINE void gather_unary(const GridView& g, std::int64_t row, std::int64_t t, T* out) {
    const Active lanes(g, row, t);
    const std::int64_t next = (g.width - 1) * g.labels;  // from lane to lane
    const double* unary = g.unary + (row * g.width + t) * g.labels;
    std::int64_t k = 0;
    if (lanes.full()) {
        for (; k + 4 <= g.labels; k += 4)
            for (std::int64_t j = 0; j < kGridRows; j += 4) {
                const double* p = unary + j * next + k;
                Quad a = Quad::load(p), b = Quad::load(p + next);
                Quad c = Quad::load(p + 2 * next), d = Quad::load(p + 3 * next);
                transpose(a, b, c, d);
                T* to = out + k * kStride + j;
                store_as(a, to), store_as(b, to + kStride);
                store_as(c, to + 2 * kStride), store_as(d, to + 3 * kStride);
            }
    } else {
        for (std::int64_t i = 0; i < g.labels * kStride; ++i) out[i] = T(0);
    }
    for (std::int64_t j = lanes.first; j < lanes.last; ++j)
        for (std::int64_t l = k; l < g.labels; ++l) out[l * kStride + j] = static_cast<T>(unary[j * next + l]);
}

// Weights of the edges from the lanes' pixels to the right and downwards; 0 where there is none.
template <class T>
struct Weights {
    T right[kGridRows], down[kGridRows];
    bool ones = false;

    // Rows of the edges to the right start at `row`, those of the edges downwards at `below`.
    GAPCUT_INLINE void set(const GridView& g, std::int64_t row, std::int64_t t, std::int64_t below, std::int64_t s) {
        const bool plain = g.right == nullptr && g.down == nullptr && row >= 0 && below >= 0 &&
                           row + kGridRows < g.height && t >= kGridRows && s >= kGridRows && t + 1 < g.width &&
                           s + 1 < g.width;
        if (plain && ones) return;
        ones = plain;
        for (std::int64_t j = 0; j < kGridRows; ++j) right[j] = down[j] = plain ? T(1) : T(0);
        if (plain) return;
        const Active across(g, row, t), downwards(g, below, s);
        for (std::int64_t j = across.first; j < across.last; ++j)
            if (t - j < g.width - 1)
                right[j] = g.right == nullptr ? T(1) : static_cast<T>(g.right[(row + j) * (g.width - 1) + t - j]);
        for (std::int64_t j = downwards.first; j < downwards.last; ++j)
            if (below + j < g.height - 1)
                down[j] = g.down == nullptr ? T(1) : static_cast<T>(g.down[(below + j) * g.width + s - j]);
    }
};

// Puts the messages of the edges to the next band (row 15) and from the band before (row -1) where the loops over
// lanes look for them: behind each label's lanes at step t, before them at step t - 1.
GAPCUT_INLINE void lay_last(const GridPlan& p, std::int64_t band, std::int64_t t) {
    const std::int64_t column = t - kGridRows + 1;
    const bool there = band + 1 < p.bands && column >= 0 && column < p.grid.width;
    const float* border = there ? p.border(band, column) : nullptr;
    float* last = p.down_at(band, t) + kGridRows - 1;
    for (std::int64_t k = 0; k < p.grid.labels; ++k) last[k * kGridRows] = there ? border[k] : 0.0F;
}
GAPCUT_INLINE void lay_first(const GridPlan& p, std::int64_t band, std::int64_t t) {
    const bool there = band > 0 && t < p.grid.width;
    const float* border = there ? p.border(band - 1, t) : nullptr;
    float* first = p.down_at(band, t - 1) - 1;
    for (std::int64_t k = 0; k < p.grid.labels; ++k) first[k * kGridRows] = there ? border[k] : 0.0F;
}

// And takes new ones back.
GAPCUT_INLINE void keep_last(const GridPlan& p, std::int64_t band, std::int64_t t) {
    const std::int64_t column = t - kGridRows + 1;
    if (band + 1 == p.bands || column < 0 || column >= p.grid.width) return;
    const float* last = p.down_at(band, t) + kGridRows - 1;
    for (std::int64_t k = 0; k < p.grid.labels; ++k) p.border(band, column)[k] = last[k * kGridRows];
}
GAPCUT_INLINE void keep_first(const GridPlan& p, std::int64_t band, std::int64_t t) {
    if (band == 0 || t >= p.grid.width) return;
    const float* first = p.down_at(band, t - 1) - 1;
    for (std::int64_t k = 0; k < p.grid.labels; ++k) p.border(band - 1, t)[k] = first[k * kGridRows];
}

}  // namespace gapcut::GAPCUT_TARGET
