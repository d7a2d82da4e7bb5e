#include "gapcut/scene/shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace gapcut::scene {
namespace {

constexpr std::int64_t kBlock = 1024;

// Sums of offsets from the centre, so that large coordinates cost no digits.
struct Moments {
    std::int64_t apart = 0, count = 0;  // apart: points that are not the centre's twins
    Vec3 sum{};
    Scatter scatter;

    void add(const Vec3& offset) {
        ++count;
        apart += offset[0] != 0.0 || offset[1] != 0.0 || offset[2] != 0.0;
        for (std::size_t a = 0; a < 3; ++a) sum[a] += offset[a];
        scatter.add(offset, 1.0);
    }

    void write(std::int64_t point, const ShapeOut& out) const {
        float* const normal = out.normals.data() + 3 * point;
        float* const axis = out.axes.data() + 3 * point;
        float* const variance = out.variances.data() + 3 * point;
        if (apart < 2) {
            for (float* v : {normal, axis, variance}) std::fill_n(v, 3, std::numeric_limits<float>::quiet_NaN());
            return;
        }
        const double n = static_cast<double>(count);
        Scatter centred = scatter;
        centred.add(sum, -1.0 / n);
        const Eigen3 e = eigen(centred);
        for (std::size_t a = 0; a < 3; ++a) {
            normal[a] = static_cast<float>(e.vectors[0][a]);
            axis[a] = static_cast<float>(e.vectors[2][a]);
            variance[a] = static_cast<float>(std::max(0.0, e.values[2 - a]) / n);
        }
    }
};

void check(std::int64_t n, const ShapeOut& out) {
    for (const auto& v : {out.normals, out.axes, out.variances})
        if (static_cast<std::int64_t>(v.size()) != 3 * n)
            throw std::invalid_argument("room for three values a point is needed");
}

template <class F>
void for_blocks(std::int64_t n, int threads, const StopTest& stop, F&& f) {
    parallel_for((n + kBlock - 1) / kBlock, threads,
                 [&](std::int64_t block, int worker) {
                     for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) f(i, worker);
                 },
                 stop);
}

}  // namespace

void shape_of_nearest(std::span<const double> xyz, std::span<const std::int32_t> ids, std::int64_t k, int threads,
                      const ShapeOut& out, const StopTest& stop) {
    const std::int64_t n = static_cast<std::int64_t>(xyz.size()) / 3;
    check(n, out);
    if (static_cast<std::int64_t>(ids.size()) != n * k) throw std::invalid_argument("neighbour ids must be k a point");
    const auto at = [&](std::int64_t i) { return Vec3{xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]}; };
    for_blocks(n, threads, stop, [&](std::int64_t i, int) {
        Moments moments;
        for (const std::int32_t j : ids.subspan(i * k, k))
            if (j >= 0 && j < n) moments.add(minus(at(j), at(i)));
        moments.write(i, out);
    });
}

void shapes_near(const NearGrid& grid, std::span<const double> places, std::int64_t k, double size, int threads,
                 std::span<float> out, const StopTest& stop) {
    if (static_cast<std::int64_t>(out.size()) * 3 != kAround * static_cast<std::int64_t>(places.size()))
        throw std::invalid_argument("room for seven values a place is needed");
    search_all(grid, places, k, threads, stop, [&](std::int64_t row, NearSearch& search, const Vec3& centre) {
        Vec3 sum{};
        Scatter scatter;
        double low = 0.0, high = 0.0, far = 0.0;  // heights over the centre's; sum of distances
        for (const Near& near : search.around(centre)) {
            const Vec3 offset = minus(grid.at(near.place), centre);
            for (std::size_t a = 0; a < 3; ++a) sum[a] += offset[a];
            scatter.add(offset, 1.0);
            low = std::min(low, offset[2]);
            high = std::max(high, offset[2]);
            far += std::sqrt(near.squared);
        }
        scatter.add(sum, -1.0 / static_cast<double>(k));
        const Eigen3 e = eigen(scatter);
        const double l1 = std::max(e.values[2], 1e-12 * static_cast<double>(k));
        const double l2 = std::max(e.values[1], 0.0), l3 = std::max(e.values[0], 0.0);
        const std::array<double, kAround> values{(l1 - l2) / l1,
                                                 (l2 - l3) / l1,
                                                 1.0 - std::abs(e.vectors[0][2]),
                                                 std::abs(e.vectors[2][2]),
                                                 high - low,
                                                 -low / (high - low + size),
                                                 far / static_cast<double>(k)};
        std::transform(values.begin(), values.end(), out.begin() + kAround * row,
                       [](double v) { return static_cast<float>(v); });
    });
}

void shape_within_radius(const RadiusGrid& grid, int threads, const ShapeOut& out, const StopTest& stop) {
    const std::int64_t n = grid.n_points();
    check(n, out);
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    const std::vector<std::int64_t> order = grid.by_cube(all);
    std::vector<RadiusSearch> searches(static_cast<std::size_t>(std::max(1, threads)), RadiusSearch(grid));
    for_blocks(n, threads, stop, [&](std::int64_t i, int worker) {
        Moments moments;
        for (const Neighbour& near : searches[worker].around(static_cast<std::int32_t>(order[i])))
            moments.add(near.offset);
        moments.write(order[i], out);
    });
}

}  // namespace gapcut::scene
