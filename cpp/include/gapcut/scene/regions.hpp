// Segments without ground truth: smooth regions of a point cloud grown over its nearest-neighbour graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gapcut::scene {

// A cloud as the growing sees it. Neighbours: k a point, anything outside [0, N) for none.
struct RegionCloud {
    std::span<const double> xyz;               // 3 N
    std::span<const float> normals, axes;      // 3 N, unit or NaN
    std::span<const float> variances;          // 3 N, descending
    std::span<const std::int32_t> neighbours;  // k N
    std::int64_t k = 0;
};

struct RegionSettings {
    double angle = 0.14;      // radians: largest angle between the normals (of wires: the axes) of joined points
    double offset = 0.03;     // metres: largest distance from each other's plane (of wires: line)
    double curvature = 0.04;  // smooth below this share of the smallest variance in the sum of the three
    double linearity = 0.9;   // part of a wire from this share of the largest variance that the second is not
    double reach = 0.2;       // metres along the graph from a region within which rough points join it
    double extent = 1.2;      // metres: edge of the cubes that rough parts are cut into
    std::int64_t least = 30;  // points: smaller pieces are merged
};

struct Regions {
    std::vector<std::int32_t> segment;
    std::vector<std::int8_t> step;  // 1 or 3: part of a component that became a segment in that step; 0: joined one
};

// Segment of every point, numbered from 0 in order of their first points; -1 where the graph leads to no segment of
// `least` points.
//  1. Arcs between two smooth points, or two points of wires, that agree within angle and offset; components of at
//  least
//     `least` points become regions.
//  2. Other points join the region nearest along the graph if it is within `reach`. A step away from a smooth point is
//     longer by kOffPlane times its distance from that point's plane, so that faces grow in their own plane first.
//  3. What is left is cut into cubes of `extent` and there into connected components; those of at least `least` points
//  become
//     segments.
//  4. The rest joins the segment nearest along the graph.
// Throws std::invalid_argument for arrays of other sizes.
Regions grow_regions(const RegionCloud& cloud, const RegionSettings& settings);

}  // namespace gapcut::scene
