// The k nearest of many points: points in Morton order of small cubes, so that a cube and what is around it lie side by
// side in memory, and a search begins with the 27 cubes around a place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/scene/geometry.hpp"

namespace gapcut::scene {

struct Near {
    double squared;      // distance
    std::int32_t point;  // its number
    std::int32_t place;  // in Morton order

    friend bool operator<(const Near& a, const Near& b) {
        return a.squared != b.squared ? a.squared < b.squared : a.point < b.point;
    }
};

// Immutable; any number of NearSearch objects may read it at the same time.
class NearGrid {
  public:
    // xyz: 3 N finite values. `size`: edge of the cubes that a search begins with, in the best case about the distance
    // of the k-th nearest; 0: such that a cube with points holds `crowd` of them, in the best case about k / 3. Any
    // size gives the same answers. Throws std::invalid_argument for other lengths, values and sizes.
    NearGrid(std::span<const double> xyz, double size, double crowd);

    std::int64_t n_points() const { return static_cast<std::int64_t>(point_of_.size()); }
    double size() const { return size_; }
    Vec3 at(std::int32_t place) const { return {x_[place], y_[place], z_[place]}; }
    std::int32_t point_of(std::int64_t place) const { return point_of_[place]; }

    // Rows 0 .. M-1 of these places (3 M values) in the order in which searching is fast. Throws std::invalid_argument
    // for values that are not finite.
    std::vector<std::int32_t> in_order(std::span<const double> places) const;

  private:
    friend class NearSearch;
    using Cell = std::array<std::int64_t, 3>;

    // The cubes of one size that hold points.
    class Level {
      public:
        // `bits`: of the keys, that say where in its cube a place is.
        Level(const std::vector<std::uint64_t>& keys, int bits, double size);

        struct Brick {                         // 4 x 4 x 4 cubes
            std::uint64_t key = 0, cubes = 0;  // a bit for each that holds points
            std::int32_t first = 0;            // of its cubes
        };
        const Brick& brick(std::uint64_t key) const { return bricks_[slot(key)]; }

        int bits;
        double size;
        std::vector<std::int32_t> begins;  // first place of each cube, and the end

      private:
        std::size_t slot(std::uint64_t key) const;

        std::vector<Brick> bricks_;  // a hash table with open addresses; those without cubes are free
        int shift_ = 0;
    };

    void choose_size(std::span<const double> xyz, double crowd);
    void lay_out(std::span<const double> xyz);
    std::uint64_t key_of(const Vec3& place) const;

    double size_, unit_ = 1.0, slack_ = 0.0;  // unit: of the keys; slack: of rounding, metres
    Vec3 low_{};
    std::vector<std::uint64_t> keys_;     // ascending, of every place
    std::vector<std::int32_t> point_of_;  // place -> point
    std::vector<double> x_, y_, z_;       // by place
    std::vector<Level> levels_;           // cubes of `size`, of twice that, ...
};

// Scratch memory of one thread.
class NearSearch {
  public:
    // 1 <= k <= the number of points.
    NearSearch(const NearGrid& grid, std::int64_t k);

    // The k nearest points, ascending by squared distance (dx dx + dy dy) + dz dz, equal ones by number. The span is
    // valid until the next call. Fast where one search is near the one before.
    std::span<const Near> around(const Vec3& place);

  private:
    // What lies in a cube and in those around it.
    struct Block {
        bool filled = false;
        std::uint64_t cube = 0;
        NearGrid::Cell cell{};
        std::size_t n = 0;
        std::vector<double> x, y, z;
        std::vector<std::int32_t> place;
    };

    void collect(const NearGrid::Level& level, std::uint64_t cube, Block& block) const;
    double sure_distance(const NearGrid::Level& level, const Block& block, const Vec3& place) const;
    bool found_in(const NearGrid::Level& level, const Block& block, const Vec3& place);
    std::size_t within(std::size_t n_candidates, double most);
    void sort_within(const Block& block, std::size_t n);
    void descend(std::int64_t first, std::int64_t last, int level, const NearGrid::Cell& cell, const Vec3& place);
    void offer(const Near& near);

    const NearGrid* grid_;
    std::size_t k_;
    std::vector<Block> blocks_;  // one a level
    std::vector<double> squared_, near_;
    std::vector<std::int32_t> within_;
    std::array<double, 64> rank_{};
    std::vector<Near> best_;
    std::size_t n_best_ = 0;
    double most_ = 0.0;  // squared distance beyond which nothing counts
    double last_ = 0.0;  // that of the last point which the search before found
};

// Places to search around, 3 M values; none: the grid's own points, by their number.
using Places = std::optional<std::span<const double>>;

// ids and squared distances, k a row, of what is nearest to each place.
void nearest(const NearGrid& grid, const Places& places, std::int64_t k, int threads, std::span<std::int32_t> ids,
             std::span<double> squared, const StopTest& stop = {});

// f(row, search, place) for each place, in an order that is fast.
template <class F>
void search_all(const NearGrid& grid, const Places& places, std::int64_t k, int threads, const StopTest& stop, F&& f) {
    constexpr std::int64_t kPlaces = 1024;
    const bool own = !places;
    const std::vector<std::int32_t> order = own ? std::vector<std::int32_t>{} : grid.in_order(*places);
    const std::int64_t n = own ? grid.n_points() : static_cast<std::int64_t>(order.size());
    std::vector<NearSearch> searches(static_cast<std::size_t>(threads > 1 ? threads : 1), NearSearch(grid, k));
    parallel_for((n + kPlaces - 1) / kPlaces, threads,
                 [&](std::int64_t block, int worker) {
                     const std::int64_t end = n < (block + 1) * kPlaces ? n : (block + 1) * kPlaces;
                     for (std::int64_t i = block * kPlaces; i < end; ++i) {
                         const std::int64_t row = own ? grid.point_of(i) : order[i];
                         const Vec3 place =
                             own ? grid.at(static_cast<std::int32_t>(i))
                                 : Vec3{(*places)[3 * row], (*places)[3 * row + 1], (*places)[3 * row + 2]};
                         f(row, searches[worker], place);
                     }
                 },
                 stop);
}

}  // namespace gapcut::scene
