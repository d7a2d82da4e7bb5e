#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "gapcut/scene/radius_grid.hpp"
#include "gapcut/scene/regions.hpp"
#include "gapcut/scene/shape.hpp"
#include "gapcut/scene/shot.hpp"

using namespace gapcut::scene;

namespace {

std::vector<double> random_points(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> xyz(3 * n);
    for (double& x : xyz) x = uniform(random);
    return xyz;
}

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

}  // namespace

GAPCUT_TEST(eigenvectors_solve_their_equation) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 500; ++trial) {
        const double size = std::pow(10.0, trial % 13 - 6);
        Scatter s;
        for (int i = 0; i < 1 + trial % 5; ++i)
            s.add({size * normal(random), size * normal(random), size * normal(random)}, 1.0);
        const Eigen3 e = eigen(s);
        CHECK(e.values[0] <= e.values[1] && e.values[1] <= e.values[2]);
        const double tolerance = 1e-13 * (s.xx + s.yy + s.zz);
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3& v = e.vectors[k];
            CHECK(near(dot({s.xx, s.xy, s.xz}, v), e.values[k] * v[0], tolerance));
            CHECK(near(dot({s.xy, s.yy, s.yz}, v), e.values[k] * v[1], tolerance));
            CHECK(near(dot({s.xz, s.yz, s.zz}, v), e.values[k] * v[2], tolerance));
            CHECK(near(dot(v, v), 1.0, 1e-13) && near(dot(v, e.vectors[(k + 1) % 3]), 0.0, 1e-13));
        }
    }
    const Eigen3 zero = eigen(Scatter{});
    CHECK(zero.values[2] == 0.0 && zero.vectors[0][0] == 1.0);
}

GAPCUT_TEST(radius_search_finds_all_and_only) {
    const std::vector<double> xyz = random_points(300, 2);
    for (const double radius : {0.05, 0.4, 5.0}) {
        const RadiusGrid grid(xyz, radius);
        RadiusSearch search(grid);
        for (std::int32_t i = 0; i < 300; ++i) {
            std::vector<char> found(300, 0);
            for (const Neighbour& n : search.around(i)) ++found[n.index];
            for (std::int32_t j = 0; j < 300; ++j) {
                const Vec3 v = minus(grid.position(j), grid.position(i));
                CHECK(found[j] == (dot(v, v) <= radius * radius ? 1 : 0));
            }
        }
    }
}

GAPCUT_TEST(shot_is_of_unit_length_and_frames_are_right_handed) {
    const std::vector<double> xyz = random_points(400, 3);
    const std::vector<float> normals(xyz.begin(), xyz.end());
    const RadiusGrid grid(xyz, 0.6);
    const std::vector<std::int64_t> at{5, 5, 399, 0};
    std::vector<float> descriptors(at.size() * kShotSize), frames(at.size() * kFrameSize);
    shot(grid, normals, at, {}, descriptors, frames);
    for (std::size_t r = 0; r < at.size(); ++r) {
        double sum = 0.0;
        for (int i = 0; i < kShotSize; ++i) sum += std::pow(descriptors[r * kShotSize + i], 2.0);
        CHECK(near(sum, 1.0, 1e-5));
        const float* f = frames.data() + r * kFrameSize;
        const Vec3 x{f[0], f[1], f[2]}, y{f[3], f[4], f[5]}, z{f[6], f[7], f[8]};
        CHECK(near(dot(cross(x, y), z), 1.0, 1e-6));
    }
    for (int i = 0; i < kShotSize; ++i) CHECK(descriptors[i] == descriptors[kShotSize + i]);
}

GAPCUT_TEST(shapes_of_a_line_and_of_a_leaning_plate) {
    // Places along z, and a plate that rises with x.
    std::vector<double> line, plate;
    for (int i = 0; i < 5; ++i) line.insert(line.end(), {0.0, 0.0, 0.1 * i});
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) plate.insert(plate.end(), {1.0 + 0.1 * i, 0.1 * j, 0.1 * i});
    const std::vector<double> on_line{0.0, 0.0, 0.1}, on_plate{1.1, 0.1, 0.1};
    std::vector<float> out(14);
    shapes_near(NearGrid(line, 0.0, 2.0), on_line, 5, 0.2, 1, std::span(out).first(7));
    shapes_near(NearGrid(plate, 0.0, 2.0), on_plate, 9, 0.2, 1, std::span(out).last(7));
    const double wanted[] = {1.0, 0.0, 1.0, 1.0, 0.4, 0.1 / 0.6, 0.14};
    for (const std::size_t a : {0, 1, 3, 4, 5, 6}) CHECK(near(out[a], wanted[a], 1e-6));
    CHECK(near(out[7] + out[8], 1.0, 1e-6));
    CHECK(near(out[9], 1.0 - std::sqrt(0.5), 1e-6));
}

GAPCUT_TEST(the_nearest_points_are_those_of_a_full_search) {
    // A plate with twins, a crowd, and stray points far away; places on, beside and outside of them.
    std::mt19937 random(7);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    std::vector<double> xyz;
    for (int i = 0; i < 400; ++i)
        xyz.insert(xyz.end(), {std::floor(20 * unit(random)), std::floor(20 * unit(random)), 0.0});
    for (int i = 0; i < 700; ++i)
        xyz.insert(xyz.end(), {1e-3 * unit(random), 1e-3 * unit(random), 1e-3 * unit(random)});
    for (int i = 0; i < 9; ++i) xyz.insert(xyz.end(), {1e4 * unit(random), -1e4 * unit(random), 1e4 * unit(random)});
    std::vector<double> places(xyz.end() - 60, xyz.end());
    for (int i = 0; i < 60; ++i) places.push_back(60.0 * unit(random) - 20.0);
    places.insert(places.end(), {-9e5, 9e5, 9e5, 0.5, 0.5, 0.5});
    const std::int64_t n = static_cast<std::int64_t>(xyz.size()) / 3, m = static_cast<std::int64_t>(places.size()) / 3;
    for (const double size : {0.0, 1e-9, 0.7, 30.0, 1e7})
        for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, n}) {
            std::vector<std::int32_t> ids(static_cast<std::size_t>(m * k));
            std::vector<double> squared(ids.size());
            nearest(NearGrid(xyz, size, 4.0), std::span<const double>(places), k, 1, ids, squared);
            bool same = true;
            for (std::int64_t i = 0; i < m; ++i) {
                std::vector<std::pair<double, std::int32_t>> all;
                for (std::int64_t j = 0; j < n; ++j) {
                    const double x = xyz[3 * j] - places[3 * i], y = xyz[3 * j + 1] - places[3 * i + 1];
                    const double z = xyz[3 * j + 2] - places[3 * i + 2];
                    all.emplace_back((x * x + y * y) + z * z, static_cast<std::int32_t>(j));
                }
                std::sort(all.begin(), all.end());
                for (std::int64_t j = 0; j < k; ++j) same &= all[j] == std::pair(squared[i * k + j], ids[i * k + j]);
            }
            CHECK(same);
        }
}

GAPCUT_TEST(two_faces_and_a_stray_piece) {
    // Two plates of 10 x 10 at a right angle and five points off to the side of the first.
    std::vector<double> xyz;
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) xyz.insert(xyz.end(), {0.1 * i, 0.1 * j, 0.0});
    for (int i = 0; i < 10; ++i)
        for (int j = 1; j <= 10; ++j) xyz.insert(xyz.end(), {0.1 * i, 0.0, 0.1 * j});
    for (int i = 0; i < 5; ++i) xyz.insert(xyz.end(), {1.0 + 0.05 * i, 0.5, 0.04 * (i % 2)});
    const std::size_t n = xyz.size() / 3;
    const RadiusGrid grid(xyz, 0.16);
    std::vector<float> normals(3 * n), axes(3 * n), variances(3 * n);
    shape_within_radius(grid, 1, {normals, axes, variances});
    constexpr std::int64_t k = 9;
    std::vector<std::int32_t> ids(n * k, -1);
    RadiusSearch search(grid);
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t c = 0;
        for (const Neighbour& v : search.around(static_cast<std::int32_t>(i)))
            if (c < k) ids[i * k + c++] = v.index;
    }
    const auto segment =
        grow_regions({xyz, normals, axes, variances, ids, k}, {0.1, 0.02, 0.04, 0.9, 0.5, 1.2, 30}).segment;
    CHECK(segment[55] == 0);
    CHECK(segment[155] == 1);
    for (std::size_t i = 200; i < n; ++i) CHECK(segment[i] == 0);
    for (const std::int32_t s : segment) CHECK(s == 0 || s == 1);
}
