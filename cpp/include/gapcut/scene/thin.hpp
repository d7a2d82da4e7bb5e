// One point a cube.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gapcut::scene {

// One row for each cube of `size` metres that holds points of xyz (3 N values), ascending: the one whose number's hash
// with the seed is least. Cubes begin at multiples of their size. `numbers`: N of them; empty: the rows. Throws
// std::invalid_argument naming the first point that is not finite or a million cubes or more from the origin.
std::vector<std::int64_t> voxel_sample(std::span<const double> xyz, double size, std::uint64_t seed,
                                       std::span<const std::int64_t> numbers);

}  // namespace gapcut::scene
