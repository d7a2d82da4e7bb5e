// Principal component analysis of each point's neighbourhood: normal, axis and the three variances.
#pragma once

#include <cstdint>
#include <span>

#include "gapcut/parallel.hpp"
#include "gapcut/scene/near_grid.hpp"
#include "gapcut/scene/radius_grid.hpp"

namespace gapcut::scene {

// Where the results go, 3 values a point. Normals (direction of the smallest variance) and axes (of the largest) are
// unit vectors of arbitrary, repeatable sign; variances descend and are >= 0. All NaN where a neighbourhood has fewer
// than three points apart from each other in space.
struct ShapeOut {
    std::span<float> normals, axes, variances;
};

// ids: k neighbours a point (usually itself among them), anything outside [0, N) for none.
void shape_of_nearest(std::span<const double> xyz, std::span<const std::int32_t> ids, std::int64_t k, int threads,
                      const ShapeOut& out, const StopTest& stop = {});

// Values a place of shapes_near.
inline constexpr std::int64_t kAround = 7;

// What places (3 M values) look like among their k nearest points of the grid; with variances l1 >= l2 >= l3 of these,
// their axis a (of l1) and normal n (of l3): (l1 - l2) / l1, (l2 - l3) / l1, 1 - |n_z|, |a_z|; range r of the heights
// of all and of the place; the place's height in it over (r + size); mean distance.
void shapes_near(const NearGrid& grid, std::span<const double> places, std::int64_t k, double size, int threads,
                 std::span<float> out, const StopTest& stop = {});

// Over all points within the grid's radius.
void shape_within_radius(const RadiusGrid& grid, int threads, const ShapeOut& out, const StopTest& stop = {});

}  // namespace gapcut::scene
