#include "gapcut/scene/voxels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace gapcut::scene {
namespace {

constexpr std::int64_t kReach = 1'000'000;
constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::uint64_t key_of(const double* point, double size, std::size_t row) {
    std::uint64_t key = 0;
    for (int a = 0; a < 3; ++a) {
        const double c = std::floor(point[a] / size);
        if (!(std::abs(c) < static_cast<double>(kReach)))
            throw std::invalid_argument(
                "point " + std::to_string(row) +
                " is not finite or more than a million voxels from the origin: subtract an offset first");
        key = (key << 21) | static_cast<std::uint64_t>(static_cast<std::int64_t>(c) + kReach);
    }
    return key;
}

}  // namespace

std::vector<std::int64_t> voxel_sample(std::span<const double> xyz, double size, std::uint64_t seed) {
    if (!(size > 0.0) || !std::isfinite(size))
        throw std::invalid_argument("the voxel size must be a finite number > 0");
    const std::size_t n = xyz.size() / 3;
    const std::size_t slots = std::bit_ceil(std::max<std::size_t>(16, 2 * n));
    std::vector<std::uint64_t> keys(slots, kFree);
    std::vector<std::int64_t> chosen(slots);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = key_of(xyz.data() + 3 * i, size, i);
        std::size_t slot = mix(key) & (slots - 1);
        while (keys[slot] != kFree && keys[slot] != key) slot = (slot + 1) & (slots - 1);
        const std::int64_t row = static_cast<std::int64_t>(i);
        const auto rank = [&](std::int64_t r) { return mix(seed ^ mix(static_cast<std::uint64_t>(r))); };
        if (keys[slot] == kFree || rank(row) < rank(chosen[slot])) chosen[slot] = row;
        keys[slot] = key;
    }
    std::vector<std::int64_t> rows;
    for (std::size_t s = 0; s < slots; ++s)
        if (keys[s] != kFree) rows.push_back(chosen[s]);
    std::sort(rows.begin(), rows.end());
    return rows;
}

}  // namespace gapcut::scene
