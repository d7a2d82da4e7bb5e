#include "gapcut/scene/radius_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace gapcut::scene {
namespace {

constexpr int kBits = 21;  // an axis; z is the lowest, so that three cubes above each other are neighbours in the list
constexpr double kMost = 2.0e6;

std::uint64_t key_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return (x << (2 * kBits)) | (y << kBits) | z;
}

void check(std::span<const double> xyz, double radius) {
    if (xyz.size() % 3 != 0) throw std::invalid_argument("points must be rows of x, y, z");
    if (xyz.size() / 3 > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("more than 2,147,483,647 points: split the cloud");
    if (!(radius > 0.0) || !std::isfinite(radius)) throw std::invalid_argument("radius must be a finite number > 0");
}

// Cube of every point: 1-based on each axis, so that a cube's lower neighbour needs no special case.
std::vector<std::uint64_t> keys(std::span<const double> xyz, double radius) {
    const std::size_t n = xyz.size() / 3;
    Vec3 low{};
    for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n; ++i) {
            if (!std::isfinite(xyz[3 * i + a]))
                throw std::invalid_argument("point " + std::to_string(i) + " has a coordinate that is not finite");
            low[a] = std::min(low[a], xyz[3 * i + a]);
        }
    }
    std::vector<std::uint64_t> key(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t cell[3];
        for (std::size_t a = 0; a < 3; ++a) {
            const double c = std::floor((xyz[3 * i + a] - low[a]) / radius);
            if (c > kMost)
                throw std::invalid_argument("the points reach further than 2 million radii: take a larger radius");
            cell[a] = static_cast<std::uint64_t>(c) + 1;
        }
        key[i] = key_of(cell[0], cell[1], cell[2]);
    }
    return key;
}

}  // namespace

RadiusGrid::RadiusGrid(std::span<const double> xyz, double radius) : radius_(radius) {
    check(xyz, radius);
    const std::vector<std::uint64_t> key = keys(xyz, radius);
    const std::size_t n = key.size();
    std::vector<std::pair<std::uint64_t, std::int32_t>> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = {key[i], static_cast<std::int32_t>(i)};
    std::sort(order.begin(), order.end());

    point_of_.resize(n), place_of_.resize(n), cube_of_.resize(n), sorted_.resize(n);
    for (std::size_t s = 0; s < n; ++s) {
        const auto& [k, point] = order[s];
        if (cube_keys_.empty() || cube_keys_.back() != k) {
            cube_keys_.push_back(k);
            cube_start_.push_back(static_cast<std::int64_t>(s));
        }
        const std::size_t p = static_cast<std::size_t>(point);
        point_of_[s] = point;
        place_of_[p] = static_cast<std::int32_t>(s);
        cube_of_[s] = static_cast<std::int32_t>(cube_keys_.size() - 1);
        sorted_[s] = {xyz[3 * p], xyz[3 * p + 1], xyz[3 * p + 2]};
    }
    cube_start_.push_back(static_cast<std::int64_t>(n));
}

Vec3 RadiusGrid::position(std::int32_t point) const { return sorted_[place_of_[point]]; }

std::vector<std::int64_t> RadiusGrid::by_cube(std::span<const std::int64_t> points) const {
    for (const std::int64_t p : points)
        if (p < 0 || p >= n_points())
            throw std::out_of_range("there is no point " + std::to_string(p) + " among " + std::to_string(n_points()));
    std::vector<std::int64_t> order(points.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return std::pair(place_of_[points[a]], a) < std::pair(place_of_[points[b]], b);
    });
    return order;
}

void RadiusSearch::collect(std::int32_t cube) {
    cube_ = cube;
    candidates_.clear();
    at_.clear();
    const auto& keys = grid_->cube_keys_;
    const std::uint64_t centre = keys[cube];
    for (const std::int64_t dx : {-1, 0, 1})
        for (const std::int64_t dy : {-1, 0, 1}) {
            const std::uint64_t column =
                centre + (static_cast<std::uint64_t>(dx) << (2 * kBits)) + (static_cast<std::uint64_t>(dy) << kBits);
            auto k = std::lower_bound(keys.begin(), keys.end(), column - 1);
            for (; k != keys.end() && *k <= column + 1; ++k) {
                const auto c = k - keys.begin();
                for (std::int64_t s = grid_->cube_start_[c]; s < grid_->cube_start_[c + 1]; ++s) {
                    candidates_.push_back(static_cast<std::int32_t>(s));
                    at_.push_back(grid_->sorted_[s]);
                }
            }
        }
}

std::span<const Neighbour> RadiusSearch::around(std::int32_t point) {
    const std::int32_t place = grid_->place_of_[point];
    if (grid_->cube_of_[place] != cube_) collect(grid_->cube_of_[place]);
    const Vec3 centre = grid_->sorted_[place];
    const double most = grid_->radius_ * grid_->radius_;
    found_.clear();
    for (std::size_t c = 0; c < at_.size(); ++c) {
        const Vec3 offset = minus(at_[c], centre);
        const double squared = dot(offset, offset);
        if (squared <= most) found_.push_back({grid_->point_of_[candidates_[c]], squared, offset});
    }
    return found_;
}

}  // namespace gapcut::scene
