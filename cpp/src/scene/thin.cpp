#include "gapcut/scene/thin.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "gapcut/scene/morton.hpp"

namespace gapcut::scene {
namespace {

constexpr double kReach = 1'000'000;  // cubes from the origin

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// The least value of every key: a hash table with open addresses, eight cubes of one larger cube side by side.
class LeastOfCubes {
  public:
    explicit LeastOfCubes(std::size_t room) : slots_(std::bit_ceil(std::max<std::size_t>(room, 16))) {}

    void offer(std::uint64_t key, std::uint64_t value, std::int64_t row) {
        Slot& slot = slot_of(key);
        if (slot.row < 0) {
            slot = {key, value, row};
            if (2 * ++n_ > slots_.size()) grow();
        } else if (value < slot.value) {
            slot.value = value, slot.row = row;
        }
    }

    template <class F>
    void for_rows(F&& f) const {
        for (const Slot& slot : slots_)
            if (slot.row >= 0) f(slot.row);
    }

  private:
    struct Slot {
        std::uint64_t key = 0, value = 0;
        std::int64_t row = -1;
    };

    Slot& slot_of(std::uint64_t key) {
        const int shift = 67 - std::countr_zero(slots_.size());
        std::size_t i = ((key >> 3) * 0x9E3779B97F4A7C15) >> shift << 3 | (key & 7);
        while (slots_[i].row >= 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
        return slots_[i];
    }

    void grow() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.row >= 0) slot_of(slot.key) = slot;
    }

    std::vector<Slot> slots_;
    std::size_t n_ = 0;
};

}  // namespace

std::vector<std::int64_t> voxel_sample(std::span<const double> xyz, double size, std::uint64_t seed,
                                       std::span<const std::int64_t> numbers) {
    if (!(size > 0.0) || !std::isfinite(size))
        throw std::invalid_argument("the voxel size must be a finite number > 0");
    const std::size_t n = xyz.size() / 3;
    if (xyz.size() % 3 != 0 || (!numbers.empty() && numbers.size() != n))
        throw std::invalid_argument("points must be rows of x, y, z, with a number each or without");
    LeastOfCubes found(n / 2);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t cell[3];
        for (std::size_t a = 0; a < 3; ++a) {
            const double c = std::floor(xyz[3 * i + a] / size);
            if (!(std::abs(c) < kReach))
                throw std::invalid_argument("point " + std::to_string(i) +
                                            " is not finite or more than a million voxels from the origin: subtract an "
                                            "offset first");
            cell[a] = static_cast<std::uint64_t>(c + kReach);
        }
        const auto number = static_cast<std::uint64_t>(numbers.empty() ? static_cast<std::int64_t>(i) : numbers[i]);
        found.offer(morton_key(cell[0], cell[1], cell[2]), mixed(seed ^ mixed(number)), static_cast<std::int64_t>(i));
    }
    std::vector<char> kept(n, 0);
    found.for_rows([&](std::int64_t row) { kept[row] = 1; });
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < n; ++i)
        if (kept[i]) rows.push_back(static_cast<std::int64_t>(i));
    return rows;
}

}  // namespace gapcut::scene
