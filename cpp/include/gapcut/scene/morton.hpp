// Morton (Z-order) keys of cubes, 21 bits an axis, and sorting by them.
#pragma once

#include <cstdint>
#include <vector>

namespace gapcut::scene {

inline constexpr int kMortonBits = 21;

// Bits of x (21 of them) two apart.
inline std::uint64_t spread_bits(std::uint64_t x) {
    x &= 0x1FFFFF;
    x = (x | x << 32) & 0x1F00000000FFFF;
    x = (x | x << 16) & 0x1F0000FF0000FF;
    x = (x | x << 8) & 0x100F00F00F00F00F;
    x = (x | x << 4) & 0x10C30C30C30C30C3;
    return (x | x << 2) & 0x1249249249249249;
}

inline std::uint64_t gathered_bits(std::uint64_t x) {
    x &= 0x1249249249249249;
    x = (x ^ x >> 2) & 0x10C30C30C30C30C3;
    x = (x ^ x >> 4) & 0x100F00F00F00F00F;
    x = (x ^ x >> 8) & 0x1F0000FF0000FF;
    x = (x ^ x >> 16) & 0x1F00000000FFFF;
    return (x ^ x >> 32) & 0x1FFFFF;
}

inline std::uint64_t morton_key(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return spread_bits(x) << 2 | spread_bits(y) << 1 | spread_bits(z);
}

// Sorts the keys; which item each was, equal keys in their order.
std::vector<std::int32_t> sort_keys(std::vector<std::uint64_t>& keys);

}  // namespace gapcut::scene
