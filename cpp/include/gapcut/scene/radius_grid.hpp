// All points within a fixed radius of a point: points sorted into cubes of that size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/scene/geometry.hpp"

namespace gapcut::scene {

struct Neighbour {
    std::int32_t index;
    double squared;  // distance
    Vec3 offset;     // neighbour minus centre
};

// Immutable; any number of RadiusSearch objects may read it at the same time.
class RadiusGrid {
  public:
    // xyz: 3 N finite values. Throws std::invalid_argument for other lengths, for a radius that is not > 0, and where
    // the points reach further than 2 million radii.
    RadiusGrid(std::span<const double> xyz, double radius);

    std::int64_t n_points() const { return static_cast<std::int64_t>(point_of_.size()); }
    double radius() const { return radius_; }
    Vec3 position(std::int32_t point) const;

    // The positions 0 .. size-1 of these points, ordered by cube: the order in which searching is fast. Throws
    // std::out_of_range for a point that does not exist.
    std::vector<std::int64_t> by_cube(std::span<const std::int64_t> points) const;

  private:
    friend class RadiusSearch;

    double radius_;
    std::vector<std::uint64_t> cube_keys_;  // ascending, one a non-empty cube
    std::vector<std::int64_t> cube_start_;  // cubes + 1, into the arrays below
    std::vector<std::int32_t> point_of_;    // sorted place -> point
    std::vector<std::int32_t> place_of_;    // point -> sorted place
    std::vector<std::int32_t> cube_of_;     // sorted place -> cube
    std::vector<Vec3> sorted_;              // positions, by sorted place
};

// Scratch memory of one thread.
class RadiusSearch {
  public:
    explicit RadiusSearch(const RadiusGrid& grid) : grid_(&grid) {}

    // Every point at most `radius` away, the point itself included, in an order that depends on the grid only. The span
    // is valid until the next call.
    std::span<const Neighbour> around(std::int32_t point);

  private:
    void collect(std::int32_t cube);

    const RadiusGrid* grid_;
    std::int32_t cube_ = -1;
    std::vector<std::int32_t> candidates_;  // sorted places
    std::vector<Vec3> at_;
    std::vector<Neighbour> found_;
};

}  // namespace gapcut::scene
