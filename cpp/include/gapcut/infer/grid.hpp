// TRW-S on a grid of pixels whose edges share one table: no list of edges, messages in float32.
//
// Every edge costs its weight times table[k, l], k the label of its left or upper pixel. A half-sweep in rising order
// of rows and columns needs of a pixel's neighbours only that the left and the upper one are done, so it takes 16
// rows, a band, at a time: at step t, lane j is at row j of the band and column t - j, and the lanes do not depend on
// each other. Both messages into the lanes were written one step before. Messages lie in that order in two planes, one
// for edges to the right, one for those downwards; what crosses from band to band lies in `borders`. As elsewhere
// (packed.hpp) an edge has one message, that of the last half-sweep.
//
// The sweeps round as float32 does and prove nothing. A bound is made from their messages by `grid_judge`, a forward
// half-sweep in float64 that rounds down (sweep.hpp: bounds hold for any messages) and writes no messages; it labels
// the pixels too.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/trws.hpp"
#include "gapcut/parallel.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut::infer {

inline constexpr std::int64_t kGridRows = 16;  // of a band

// Represents an energy over memory that others own. Entries are finite and of moderate size (1e-15 to 1e15), weights
// are not negative; the least entry of the table is 0.
struct GridView {
    std::int64_t height, width, labels;
    const double* unary;  // (height, width, labels)
    const double* table;  // (labels, labels)
    const double* right;  // (height, width - 1) weights; nullptr: all are 1
    const double* down;   // (height - 1, width), likewise

    const double* unary_of(std::int64_t i) const { return unary + i * labels; }
    // What the edge from pixel (row, column) to the right, or downwards, costs; one rounding.
    double pair_right(std::int64_t row, std::int64_t column, std::int32_t k, std::int32_t l) const {
        const double x = table[k * labels + l];
        return right == nullptr ? x : right[row * (width - 1) + column] * x;
    }
    double pair_down(std::int64_t row, std::int64_t column, std::int32_t k, std::int32_t l) const {
        const double x = table[k * labels + l];
        return down == nullptr ? x : down[row * width + column] * x;
    }
};

// min(step |k - l|, top), or anything; of labels in [0, labels).
enum class GridTable { potts, linear, general };

// What the kernels work on.
struct GridPlan {
    GridView grid;
    GridTable kind;
    double step, top;
    const float* by_receiver[2];  // general: [forward] (labels, labels), the receiver's label first
    float *right, *down;          // (bands, steps + 1, labels, 16): step -1 first, of zeros
    float* borders;               // (bands - 1, width, labels)
    std::int64_t bands, steps;    // width + 15 steps
    float* scratch;               // (2, labels, 16)

    float* right_at(std::int64_t band, std::int64_t t) const {
        return right + (band * (steps + 1) + t + 1) * labels16();
    }
    float* down_at(std::int64_t band, std::int64_t t) const { return down + (band * (steps + 1) + t + 1) * labels16(); }
    float* border(std::int64_t band, std::int64_t column) const {
        return borders + (band * grid.width + column) * grid.labels;
    }
    std::int64_t labels16() const { return grid.labels * kGridRows; }
};

// A half-sweep of `grid_judge` in progress. Memory: `above` (width, labels) messages from the band before, `from_left`,
// `from_above`, `own`, `sent` and `decode` (labels, 17) each.
struct GridJudge {
    LowerSum bound;
    double *above, *from_left, *from_above, *own, *sent, *decode;
    std::int32_t* labels;  // (height * width,)
};

// As trws; components, orders and escapes do not apply. Requires height, width and labels of 2 at least.
TrwsResult grid_trws(const GridView& grid, const TrwsSettings& settings, const StopTest& stop = {},
                     const TrwsListener& listener = {});

// Takes over from `other` every connected region of changed pixels that lowers the energy.
void take_better_regions(const GridView& grid, std::vector<std::int32_t>& labels, std::vector<std::int32_t> other);

// (V + E,) the terms: nodes, edges to the right, edges downwards, row by row. Requires labels in range.
std::vector<double> grid_terms(const GridView& grid, const std::vector<std::int32_t>& labels);

// The sum of the minima of all terms, which are those of the pixels, rounded down.
double grid_independent_bound(const GridView& grid);

// For every pixel the label of its least unary entry, the first in case of ties.
std::vector<std::int32_t> grid_unary_labels(const GridView& grid);

// The sum of the terms, rounded to nearest again and again.
double grid_energy(const GridView& grid, const std::vector<std::int32_t>& labels);

}  // namespace gapcut::infer
