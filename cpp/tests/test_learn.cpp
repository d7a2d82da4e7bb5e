#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/learn/box.hpp"
#include "gapcut/learn/plane_cache.hpp"
#include "gapcut/learn/plane_qp.hpp"
#include "gapcut/learn/simplex_step.hpp"
#include "gapcut/learn/unary_system.hpp"

using namespace gapcut;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> normal(std::mt19937& random, std::int64_t count) {
    std::normal_distribution<double> draw;
    std::vector<double> out(static_cast<std::size_t>(count));
    for (auto& v : out) v = draw(random);
    return out;
}

Box half_open(std::mt19937& random, std::int64_t dim) {
    Box box{std::vector<double>(static_cast<std::size_t>(dim), -kInf), std::vector<double>(static_cast<std::size_t>(dim), kInf)};
    for (auto& low : box.lower)
        if (random() % 2) low = 0.0;
    return box;
}

// gain * s - conjugate(x + s y), by the definition.
double along(const Box& box, const std::vector<double>& x, const std::vector<double>& y, double gain, double s) {
    double value = gain * s;
    for (std::size_t j = 0; j < x.size(); ++j) {
        const double moved = x[j] + s * y[j], w = std::clamp(moved, box.lower[j], box.upper[j]);
        value -= w * moved - 0.5 * w * w;
    }
    return value;
}

}  // namespace

GAPCUT_TEST(line_search_beats_a_grid) {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        const std::int64_t dim = 1 + random() % 40;
        const Box box = half_open(random, dim);
        const auto x = normal(random, dim), y = normal(random, dim);
        const double gain = 3.0 * normal(random, 1)[0], longest = 0.1 + static_cast<double>(random() % 50) / 10.0;
        std::vector<double> w(x.size());
        clamp(box, x.data(), w.data());
        const double s = line_search(box, x.data(), y.data(), gain - dot(w.data(), y.data(), dim), longest);
        CHECK(s >= 0.0 && s <= longest);
        const double found = along(box, x, y, gain, s);
        for (int k = 0; k <= 100; ++k) CHECK(found >= along(box, x, y, gain, longest * k / 100.0) - 1e-9);
    }
}

GAPCUT_TEST(simplex_step_meets_its_optimality_conditions) {
    std::mt19937 random(2);
    SimplexStep step;
    for (int round = 0; round < 500; ++round) {
        const std::int64_t m = 1 + random() % 12, width = 1 + random() % 20, groups = 1 + random() % 3;
        SimplexModel model;
        const auto rows = normal(random, m * width);
        model.gram.resize(static_cast<std::size_t>(m * m));
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t k = 0; k < m; ++k)
                model.gram[i * m + k] = dot(rows.data() + i * width, rows.data() + k * width, width);
        model.gradient = normal(random, m);
        model.room.assign(static_cast<std::size_t>(groups), 1.0);
        for (std::int64_t i = 0; i < m; ++i) {
            model.group.push_back(static_cast<std::int32_t>(random() % groups));
            const double left = model.room[model.group.back()];
            model.value.push_back(random() % 3 == 0 ? (random() % 2 ? left : 0.4 * left) : 0.0);
            model.room[model.group.back()] -= model.value.back();
        }
        step.solve(model, 1.0);
        // gradient at the target; masses and sums in range; multipliers of the right sign
        std::vector<double> slope = model.gradient, room = model.room, level(model.room.size(), 0.0);
        for (std::int64_t i = 0; i < m; ++i) {
            const double change = step.target()[i] - model.value[i];
            CHECK(step.target()[i] >= 0.0);
            room[model.group[i]] -= change;
            for (std::int64_t k = 0; k < m; ++k) slope[k] -= change * model.gram[i * m + k];
        }
        const double close = 1e-7 * (1.0 + static_cast<double>(width));
        for (std::int64_t i = 0; i < m; ++i)
            if (room[model.group[i]] < 1e-12) level[model.group[i]] = std::max(level[model.group[i]], slope[i]);
        for (std::int64_t i = 0; i < m; ++i) {
            CHECK(room[model.group[i]] > -1e-12);
            CHECK(slope[i] <= level[model.group[i]] + close);
            if (step.target()[i] > 0.0) CHECK(std::abs(slope[i] - level[model.group[i]]) <= close);
        }
    }
}

GAPCUT_TEST(plane_cache_of_one_block_solves_the_working_set_program) {
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        const std::int64_t dim = 1 + random() % 20, count = 1 + random() % 15;
        const Box box = half_open(random, dim);
        const auto planes = normal(random, count * dim);
        auto losses = normal(random, count);
        for (auto& d : losses) d = std::abs(d);
        const double C = 2.0;
        const auto exact = solve_newton({planes.data(), losses.data(), count, dim}, box, C, {}, {});
        PlaneCache cache(1, C, box, 100, 0);
        const std::vector<std::int32_t> blocks(static_cast<std::size_t>(count), 0);
        CHECK(cache.add(blocks, planes.data(), losses.data()) == count);
        CHECK(cache.add(blocks, planes.data(), losses.data()) == 0);
        cache.sweep(1e-10, 1000, {});
        const auto sums = cache.refresh();
        const auto& w = cache.weights();
        const double value = sums.loss - dot(w.data(), sums.x.data(), dim) + 0.5 * dot(w.data(), w.data(), dim);
        CHECK(std::abs(value - exact.value) <= 1e-8 * (1.0 + exact.value));
        CHECK(value <= exact.value + exact.gap + 1e-12);
    }
}

GAPCUT_TEST(plane_cache_keeps_its_cap_and_its_sums) {
    std::mt19937 random(4);
    const std::int64_t dim = 6, blocks = 3, cap = 8;
    PlaneCache cache(blocks, 0.5, half_open(random, dim), cap, 0);
    for (int round = 0; round < 60; ++round) {
        const std::vector<std::int32_t> which{static_cast<std::int32_t>(random() % blocks)};
        const auto plane = normal(random, dim);
        const double loss = std::abs(normal(random, 1)[0]);
        cache.add(which, plane.data(), &loss);
        cache.sweep(1e-9, 5, {});
        CHECK(cache.size() <= cap);
        const auto running = cache.weights();
        cache.refresh();
        for (std::int64_t j = 0; j < dim; ++j) CHECK(std::abs(running[j] - cache.weights()[j]) < 1e-12);
    }
}
