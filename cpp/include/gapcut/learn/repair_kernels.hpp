// What the inner loops of the repair work on, in double. One coordinate z_uk at a time; its
// pairwise weights are seen as rows: row l < K is the label pair (k, l), row K + l the pair (l, k).
#pragma once

#include <cstdint>
#include <span>

#include "gapcut/learn/repair.hpp"

namespace gapcut::repair {

inline constexpr std::int64_t kByFeature = 8;  // up to so many features their sums are first made by feature

struct Blocks {
    std::int64_t K, De, begin;  // begin: of the pairwise weights
    // Numbers of scratch for the sums over `arcs` arcs.
    std::int64_t scratch(std::int64_t arcs) const {
        return arcs * K + 8 + (De <= kByFeature ? 2 * (De + 1) * (K + 8) : 0);
    }
    std::int64_t at(std::int64_t row, std::int64_t label) const {
        return begin + (row < K ? label * K + row : (row - K) * K + label) * De;
    }
};

// Full coordinates: W, clamp(W), the box, and 1 where it has room (else 0).
struct Weights {
    double *raw, *w;
    const double *lower, *upper, *free;
};

// The arcs that move along with z_uk: sums of their features (2K, De), and how many they are (2K), by row.
struct Moving {
    double *sums, *counts;
};

// Kernels::sum_arcs[up] adds up the arcs at one node that move along with z_uk = `here`, and returns where the other
// ends are. Up, m of an arc follows z_uk while the other end is above it; down, while the other end is not below it. z
// is (N, K), features (M, De); `moving_arc` is scratch (Blocks::scratch); `moving` is zero before.
//
// Kernels::add_slope[up] adds the slope and the curvature that the pairwise weights contribute to D / c along z_uk.
// Going up lowers W: entries already clipped stay so and cost nothing.
//
// Kernels::shift: raw -= change * x, w = clamp(raw), for n coordinates from `at` on. Kernels::shift_rows: shift() of
// every row that has arcs.

}  // namespace gapcut::repair
