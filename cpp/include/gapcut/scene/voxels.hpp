// Thinning: one point of every cube.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gapcut::scene {

// Of the points (rows of x, y, z) in every cube of edge `size` on the grid through the origin, the one drawn by a hash
// of its row and `seed`; rows ascend. Throws std::invalid_argument for a size that is not positive and coordinates that
// are not finite or beyond a million sizes from the origin.
std::vector<std::int64_t> voxel_sample(std::span<const double> xyz, double size, std::uint64_t seed);

}  // namespace gapcut::scene
