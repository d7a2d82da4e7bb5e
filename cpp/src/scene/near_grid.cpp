#include "gapcut/scene/near_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "gapcut/kernels.hpp"
#include "gapcut/scene/morton.hpp"

namespace gapcut::scene {
namespace {

constexpr int kFinest = 5;                // a crowded cube is divided so often
constexpr int kLevels = 3;                // sizes of cubes that are tried before going down
constexpr std::size_t kCandidates = 512;  // candidates; more are found by going down
constexpr std::size_t kCounted = 48;      // so many are sorted by counting, a multiple of every `tile`
constexpr double kFarther = 1.3;          // times the squared distance that the search before found
constexpr std::int64_t kScanned = 16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::int64_t kCells = std::int64_t{1} << kMortonBits;

Vec3 row_of(std::span<const double> xyz, std::size_t i) { return {xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]}; }

void check_finite(std::span<const double> xyz, const char* what) {
    for (std::size_t i = 0; i < xyz.size(); ++i)
        if (!std::isfinite(xyz[i]))
            throw std::invalid_argument(std::string(what) + " " + std::to_string(i / 3) +
                                        " has a coordinate that is not finite");
}

}  // namespace

NearGrid::NearGrid(std::span<const double> xyz, double size, double crowd) : size_(size) {
    if (xyz.size() % 3 != 0 || xyz.empty()) throw std::invalid_argument("points must be rows of x, y, z, one at least");
    if (xyz.size() / 3 > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("more than 2,147,483,647 points: split the cloud");
    if (!(size >= 0.0) || !std::isfinite(size)) throw std::invalid_argument("the size must be a finite number >= 0");
    check_finite(xyz, "point");
    double extent = 0.0, largest = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
        double high = -kInfinity;
        low_[a] = kInfinity;
        for (std::size_t i = a; i < xyz.size(); i += 3)
            low_[a] = std::min(low_[a], xyz[i]), high = std::max(high, xyz[i]);
        extent = std::max(extent, high - low_[a]);
        largest = std::max({largest, std::abs(low_[a]), std::abs(high)});
    }
    if (!std::isfinite(extent)) throw std::invalid_argument("the points reach too far: remove stray ones");
    slack_ = 16.0 * std::numeric_limits<double>::epsilon() * (largest + extent);
    const double finest = std::max(extent, std::numeric_limits<double>::min()) / static_cast<double>(kCells - 1);
    unit_ = finest;
    if (size_ == 0.0) choose_size(xyz, crowd);
    size_ = std::max(size_, finest);
    int fine = kFinest;
    while (fine > 0 && size_ / (1 << fine) < finest) --fine;
    unit_ = size_ / (1 << fine);
    lay_out(xyz);
    for (int level = fine; level < fine + kLevels && level <= kMortonBits; ++level)
        levels_.emplace_back(keys_, 3 * level, std::ldexp(unit_, level));
}

std::uint64_t NearGrid::key_of(const Vec3& place) const {
    std::array<std::uint64_t, 3> cell;
    for (std::size_t a = 0; a < 3; ++a) {
        const double c = (place[a] - low_[a]) / unit_;
        cell[a] = static_cast<std::uint64_t>(std::clamp(c, 0.0, static_cast<double>(kCells - 1)));
    }
    return morton_key(cell[0], cell[1], cell[2]);
}

// Cubes twice as large hold so many more points: the size between two of them at which there are as many as wanted.
void NearGrid::choose_size(std::span<const double> xyz, double crowd) {
    const std::size_t n = xyz.size() / 3;
    std::vector<std::uint64_t> key(n);
    for (std::size_t i = 0; i < n; ++i) key[i] = key_of(row_of(xyz, i));
    sort_keys(key);
    std::array<std::int64_t, kMortonBits + 1> apart{};  // pairs of places that lie in one cube from this level on
    for (std::size_t i = 1; i < n; ++i) ++apart[static_cast<std::size_t>(std::bit_width(key[i] ^ key[i - 1]) + 2) / 3];
    double cubes = static_cast<double>(n) - static_cast<double>(apart[0]);
    double found = static_cast<double>(n) / cubes;
    size_ = unit_;
    for (std::size_t level = 1; level <= kMortonBits && found < crowd; ++level) {
        cubes -= static_cast<double>(apart[level]);
        const double larger = static_cast<double>(n) / cubes;
        size_ *= larger > crowd ? std::exp2(std::log(crowd / found) / std::log(larger / found)) : 2.0;
        found = larger;
    }
}

void NearGrid::lay_out(std::span<const double> xyz) {
    const std::size_t n = xyz.size() / 3;
    keys_.resize(n);
    for (std::size_t i = 0; i < n; ++i) keys_[i] = key_of(row_of(xyz, i));
    point_of_ = sort_keys(keys_);
    x_.resize(n), y_.resize(n), z_.resize(n);
    for (std::size_t s = 0; s < n; ++s) {
        const Vec3 p = row_of(xyz, static_cast<std::size_t>(point_of_[s]));
        x_[s] = p[0], y_[s] = p[1], z_[s] = p[2];
    }
}

NearGrid::Level::Level(const std::vector<std::uint64_t>& keys, int bits_of_cube, double size_of_cube)
    : bits(bits_of_cube), size(size_of_cube) {
    std::size_t n_bricks = 0;
    for (std::size_t s = 0; s < keys.size(); ++s) {
        const std::uint64_t other = s == 0 ? ~std::uint64_t{0} : (keys[s] ^ keys[s - 1]) >> bits;
        if (other != 0) begins.push_back(static_cast<std::int32_t>(s));
        n_bricks += other >> 6 != 0;
    }
    const std::size_t room = std::bit_ceil(2 * n_bricks);
    shift_ = 64 - std::countr_zero(room);
    bricks_.resize(room);
    for (std::size_t c = 0; c < begins.size(); ++c) {
        const std::uint64_t cube = keys[static_cast<std::size_t>(begins[c])] >> bits;
        Brick& brick = bricks_[slot(cube >> 6)];
        if (brick.cubes == 0) brick = {cube >> 6, 0, static_cast<std::int32_t>(c)};
        brick.cubes |= std::uint64_t{1} << (cube & 63);
    }
    begins.push_back(static_cast<std::int32_t>(keys.size()));
}

// Of the brick, or the free one where it would be.
std::size_t NearGrid::Level::slot(std::uint64_t key) const {
    std::size_t i = (key * 0x9E3779B97F4A7C15) >> shift_;
    while (bricks_[i].cubes != 0 && bricks_[i].key != key) i = (i + 1) & (bricks_.size() - 1);
    return i;
}

std::vector<std::int32_t> NearGrid::in_order(std::span<const double> places) const {
    if (places.size() % 3 != 0) throw std::invalid_argument("places must be rows of x, y, z");
    check_finite(places, "place");
    std::vector<std::uint64_t> key(places.size() / 3);
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = key_of(row_of(places, i));
    return sort_keys(key);
}

NearSearch::NearSearch(const NearGrid& grid, std::int64_t k)
    : grid_(&grid), k_(static_cast<std::size_t>(k)), blocks_(grid.levels_.size()), squared_(kCandidates),
      near_(kCandidates), within_(kCandidates + 1) {
    if (k < 1 || k > grid.n_points()) throw std::invalid_argument("k must be from 1 to the number of points");
    best_.resize(k_);
}

std::span<const Near> NearSearch::around(const Vec3& place) {
    const std::uint64_t key = grid_->key_of(place);
    most_ = kInfinity;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        const NearGrid::Level& level = grid_->levels_[l];
        if (!blocks_[l].filled || key >> level.bits != blocks_[l].cube) collect(level, key >> level.bits, blocks_[l]);
        n_best_ = 0;
        if (blocks_[l].n > kCandidates) break;
        if (found_in(level, blocks_[l], place)) return best_;
    }
    n_best_ = 0;
    descend(0, grid_->n_points(), kMortonBits, {0, 0, 0}, place);
    last_ = most_;
    return best_;
}

// More than kCandidates points are counted only.
void NearSearch::collect(const NearGrid::Level& level, std::uint64_t cube, Block& block) const {
    const NearGrid& g = *grid_;
    block.filled = true, block.cube = cube, block.n = 0;
    std::array<std::array<std::uint64_t, 3>, 3> bits;  // of the keys of the cubes before, at and after it
    for (std::size_t a = 0; a < 3; ++a) {
        block.cell[a] = static_cast<std::int64_t>(gathered_bits(cube >> (2 - a)));
        for (std::size_t d = 0; d < 3; ++d)
            bits[a][d] = spread_bits(static_cast<std::uint64_t>(block.cell[a]) + d - 1) << (2 - a);
    }
    std::array<std::int32_t, 27> first, last;
    std::size_t n_cubes = 0;
    std::uint64_t brick_key = cube >> 6;
    const auto* brick = &level.brick(brick_key);
    for (const std::uint64_t i : bits[0])
        for (const std::uint64_t j : bits[1])
            for (const std::uint64_t k : bits[2]) {
                const std::uint64_t key = i | j | k;
                if (key >> 6 != brick_key) brick = &level.brick(brick_key = key >> 6);
                const std::uint64_t bit = std::uint64_t{1} << (key & 63);
                if ((brick->cubes & bit) == 0) continue;
                const std::size_t c = static_cast<std::size_t>(brick->first + std::popcount(brick->cubes & (bit - 1)));
                first[n_cubes] = level.begins[c], last[n_cubes] = level.begins[c + 1];
                block.n += static_cast<std::size_t>(last[n_cubes] - first[n_cubes]);
                ++n_cubes;
            }
    if (block.n > kCandidates) return;
    for (auto* v : {&block.x, &block.y, &block.z}) v->resize(kCandidates);
    block.place.resize(kCandidates);
    std::size_t n = 0;
    for (std::size_t c = 0; c < n_cubes; ++c)
        for (std::int32_t s = first[c]; s < last[c]; ++s, ++n)
            block.x[n] = g.x_[s], block.y[n] = g.y_[s], block.z[n] = g.z_[s], block.place[n] = s;
}

// Metres from a place within which there is nothing but the block's points.
double NearSearch::sure_distance(const NearGrid::Level& level, const Block& block, const Vec3& place) const {
    double least = kInfinity;
    for (std::size_t a = 0; a < 3; ++a) {
        const double low = grid_->low_[a] + static_cast<double>(block.cell[a] - 1) * level.size;
        least = std::min({least, place[a] - low, low + 3.0 * level.size - place[a]});
    }
    return std::max(0.0, least - grid_->slack_);
}

// Whether the block holds the answer, which best_ is then; else most_ is a bound of it, where there are k points.
bool NearSearch::found_in(const NearGrid::Level& level, const Block& block, const Vec3& place) {
    if (block.n < k_) return false;
    for (std::size_t c = 0; c < block.n; ++c) {
        const double x = block.x[c] - place[0], y = block.y[c] - place[1], z = block.z[c] - place[2];
        squared_[c] = (x * x + y * y) + z * z;
    }
    const double sure = sure_distance(level, block, place), most = sure * sure;
    // The search before was near: what is much farther than its last point need not be sorted.
    std::size_t n = within(block.n, std::min(most, kFarther * last_));
    if (n < k_ && kFarther * last_ < most) n = within(block.n, most);
    if (n < k_) {
        const auto kth = squared_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(squared_.begin(), kth, squared_.begin() + static_cast<std::ptrdiff_t>(block.n));
        most_ = std::min(most_, *kth);
        return false;
    }
    sort_within(block, n);
    last_ = best_[k_ - 1].squared;
    return true;
}

// Numbers of the candidates nearer than that, in within_, and how many there are.
std::size_t NearSearch::within(std::size_t n_candidates, double most) {
    std::size_t n = 0;
    for (std::size_t c = 0; c < n_candidates; ++c) {
        within_[n] = static_cast<std::int32_t>(c);
        n += squared_[c] < most;
    }
    return n;
}

// best_ from the n candidates in within_. A place is the number of those that are nearer, counted without branches;
// where two are as near, the numbers of the points decide.
void NearSearch::sort_within(const Block& block, std::size_t n) {
    for (std::size_t w = 0; w < n; ++w) near_[w] = squared_[static_cast<std::size_t>(within_[w])];
    const auto near_of = [&](std::size_t w) {
        const std::int32_t place = block.place[static_cast<std::size_t>(within_[w])];
        return Near{near_[w], grid_->point_of_[place], place};
    };
    if (n <= kCounted) {
        kernels().ranks(static_cast<std::int64_t>(n), near_.data(), rank_.data());
        const double sum = std::accumulate(rank_.begin(), rank_.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
        if (2.0 * sum == static_cast<double>(n * (n - 1))) {
            for (std::size_t w = 0; w < n; ++w)
                if (const auto rank = static_cast<std::size_t>(rank_[w]); rank < k_) best_[rank] = near_of(w);
            return;
        }
    }
    for (std::size_t w = 0; w < n; ++w)
        if (near_[w] <= most_) offer(near_of(w));
}

// Keeps the best k of what is offered, ascending, and with k of them most_ at the last one's distance.
void NearSearch::offer(const Near& near) {
    if (near.squared > most_) return;
    if (n_best_ == k_) {
        if (!(near < best_[k_ - 1])) return;
    } else {
        ++n_best_;
    }
    std::size_t i = n_best_ - 1;
    for (; i > 0 && near < best_[i - 1]; --i) best_[i] = best_[i - 1];
    best_[i] = near;
    if (n_best_ == k_) most_ = best_[k_ - 1].squared;
}

// Places [first, last) are those of a cube of 2^level units: its eighths, the nearest first.
void NearSearch::descend(std::int64_t first, std::int64_t last, int level, const NearGrid::Cell& cell,
                         const Vec3& place) {
    const NearGrid& g = *grid_;
    if (last - first <= kScanned || level == 0) {
        for (std::int64_t s = first; s < last; ++s) {
            const double x = g.x_[s] - place[0], y = g.y_[s] - place[1], z = g.z_[s] - place[2];
            offer({(x * x + y * y) + z * z, g.point_of_[s], static_cast<std::int32_t>(s)});
        }
        return;
    }
    struct Part {
        double squared;
        std::int64_t first, last;
        NearGrid::Cell cell;
    };
    std::array<Part, 8> parts;
    std::size_t n_parts = 0;
    const int bits = 3 * (level - 1);
    const double edge = std::ldexp(g.unit_, level - 1);
    while (first < last) {
        const std::uint64_t key = g.keys_[first] >> bits;
        const auto end = std::upper_bound(g.keys_.begin() + first, g.keys_.begin() + last, ((key + 1) << bits) - 1);
        Part part{0.0, first, end - g.keys_.begin(), cell};
        for (std::size_t a = 0; a < 3; ++a) {
            part.cell[a] = 2 * cell[a] + static_cast<std::int64_t>(key >> (2 - a) & 1);
            const double low = g.low_[a] + static_cast<double>(part.cell[a]) * edge;
            const double off = std::max({0.0, low - place[a] - g.slack_, place[a] - low - edge - g.slack_});
            part.squared += off * off;
        }
        first = part.last;
        std::size_t i = n_parts++;
        for (; i > 0 && part.squared < parts[i - 1].squared; --i) parts[i] = parts[i - 1];
        parts[i] = part;
    }
    for (std::size_t i = 0; i < n_parts; ++i)
        if (parts[i].squared <= most_) descend(parts[i].first, parts[i].last, level - 1, parts[i].cell, place);
}

void nearest(const NearGrid& grid, const Places& places, std::int64_t k, int threads, std::span<std::int32_t> ids,
             std::span<double> squared, const StopTest& stop) {
    const std::size_t n = places ? places->size() / 3 : static_cast<std::size_t>(grid.n_points());
    if (ids.size() != n * static_cast<std::size_t>(k) || squared.size() != ids.size())
        throw std::invalid_argument("room for k values a place is needed");
    search_all(grid, places, k, threads, stop, [&](std::int64_t row, NearSearch& search, const Vec3& place) {
        std::int64_t at = row * k;
        for (const Near& near : search.around(place)) {
            ids[at] = near.point;
            squared[at++] = near.squared;
        }
    });
}

}  // namespace gapcut::scene
