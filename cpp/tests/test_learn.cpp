#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "gapcut/learn/unary_system.hpp"
#include "gapcut/linear/vectors.hpp"
#include "gapcut/planes/box.hpp"
#include "gapcut/planes/plane_cache.hpp"
#include "gapcut/planes/plane_qp.hpp"
#include "gapcut/planes/simplex_step.hpp"

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
    Box box{std::vector<double>(static_cast<std::size_t>(dim), -kInf),
            std::vector<double>(static_cast<std::size_t>(dim), kInf)};
    for (auto& low : box.lower)
        if (random() % 2) low = 0.0;
    return box;
}

// One graph without edges, for what looks at the node features alone; `share` of the features are not zero.
Problem lone_nodes(std::mt19937& random, int labels, std::int64_t count, std::int64_t dims, double share) {
    auto features = normal(random, count * dims);
    std::bernoulli_distribution keep(share);
    for (auto& x : features)
        if (!keep(random)) x = 0.0;
    Problem p;
    p.n_labels = labels;
    p.nodes = RowMatrix::from_dense(count, dims, features.data());
    p.edges = RowMatrix::from_dense(0, 1, nullptr);
    p.node_offset = {0, count};
    p.edge_offset = {0, 0};
    p.labels.assign(static_cast<std::size_t>(count), 0);
    p.loss.assign(static_cast<std::size_t>(count), 1.0);
    p.finish();
    return p;
}

double largest(const std::vector<double>& x) {
    double most = 0.0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) most = std::max(most, std::abs(a[j] - b[j]));
    return most;
}

std::vector<double> positive(std::mt19937& random, std::int64_t count) {
    auto out = normal(random, count);
    for (auto& v : out) v = 0.1 + std::abs(v);
    return out;
}

// Dense rows as the learner keeps them; empty where they are sparse.
std::vector<float> float_rows(const Problem& p, std::int64_t width) {
    std::vector<float> out;
    if (p.nodes.sparse()) return out;
    out.assign(static_cast<std::size_t>((p.nodes.rows() + 3) * width), 0.0F);
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u)
        for (std::int64_t d = 0; d < p.node_dim(); ++d)
            out[u * width + d] = static_cast<float>(p.nodes.dense_row(u)[d]);
    return out;
}

// The same metric in all ways, at random factors. Stays where it is: the systems refer to the problem.
struct ThreeWays {
    int labels;
    std::int64_t count, dims;
    Problem problem;
    std::vector<double> weight, factor;
    double inverse_c;
    std::int64_t width;
    std::vector<float> rows;
    UnarySystem dense, iterative, single, diagonal;

    ThreeWays(std::mt19937& random, double share)
        : labels(1 + static_cast<int>(random() % 4)), count(30 + random() % 60), dims(1 + random() % 25),
          problem(lone_nodes(random, labels, count, dims, share)), weight(positive(random, count)),
          factor(positive(random, labels)), inverse_c(std::pow(10.0, static_cast<double>(random() % 5) - 2.0)),
          width((dims + kernels().floats - 1) / kernels().floats * kernels().floats), rows(float_rows(problem, width)),
          dense(problem, weight, UnarySystem::Way::dense, 1),
          iterative(problem, weight, UnarySystem::Way::iterative, 2),
          single(problem, weight, UnarySystem::Way::iterative, 2, {rows.empty() ? nullptr : rows.data(), width}),
          diagonal(problem, weight, UnarySystem::Way::diagonal, 1) {
        for (UnarySystem* system : {&dense, &iterative, &single, &diagonal}) system->update(factor, inverse_c);
    }
    ThreeWays(const ThreeWays&) = delete;

    std::size_t size() const { return static_cast<std::size_t>(problem.unary_size()); }
};

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
        PlaneCache<DensePoint> cache(1, C, box, 100, 0);
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
    PlaneCache<DensePoint> cache(blocks, 0.5, half_open(random, dim), cap, 0);
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

GAPCUT_TEST(factors_solve_any_number_of_right_hand_sides) {
    std::mt19937 random(9);
    for (const std::int64_t n : {1, 2, 15, 16, 17, 40, 97})
        for (const std::int64_t count : {1, 2, 3, 4, 11, 20}) {
            const auto rows = normal(random, (n + 3) * n);
            const auto matrix = scaled(gram(RowMatrix::from_dense(n + 3, n, rows.data()), {}), 1.0, 0.5);
            auto x = normal(random, count * n);
            const auto wanted = x;
            std::vector<double> image(static_cast<std::size_t>(n));
            std::vector<double*> sides;
            for (std::int64_t c = 0; c < count; ++c) {
                matrix.multiply(wanted.data() + c * n, image.data());
                std::ranges::copy(image, x.begin() + c * n);
                sides.push_back(x.data() + c * n);
            }
            Cholesky(matrix).solve(sides);
            CHECK(farthest(x, wanted) <= 1e-9);
        }
    bool refused = false;
    try {
        Cholesky(scaled(Symmetric(20), 1.0, -1.0));
    } catch (const std::domain_error&) {
        refused = true;
    }
    CHECK(refused);
}

GAPCUT_TEST(unary_systems_are_one_metric) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const ThreeWays ways(random, round % 2 ? 0.2 : 1.0);
        CHECK(round % 2 || !ways.problem.nodes.sparse());
        const auto n = ways.problem.unary_size();
        const auto x = normal(random, n);
        std::vector<double> dense(ways.size()), iterative(ways.size()), single(ways.size()), diagonal(ways.size());
        ways.dense.multiply(x, dense);
        ways.iterative.multiply(x, iterative);
        ways.diagonal.multiply(x, diagonal);
        ways.single.multiply(x, single);
        CHECK(farthest(dense, iterative) <= 1e-10 * (1.0 + largest(dense)));
        CHECK(farthest(dense, single) <= 1e-4 * (1.0 + largest(dense)));
        const double form = dot(x.data(), dense.data(), n);
        CHECK(dot(x.data(), diagonal.data(), n) >= form - 1e-10 * form);
    }
}

GAPCUT_TEST(unary_systems_solve_the_same_steps) {
    std::mt19937 random(6);
    for (int round = 0; round < 200; ++round) {
        const ThreeWays ways(random, round % 2 ? 0.2 : 1.0);
        const auto gradient = normal(random, ways.problem.unary_size());
        const auto old = normal(random, ways.problem.unary_size());
        auto dense = old;
        const std::vector<std::uint8_t> bounded(ways.factor.size(), 0);
        const std::vector<double> lower(ways.size(), -kInf), upper(ways.size(), kInf);
        const double length = ways.dense.step(gradient, bounded, lower, upper, old, dense);
        // |x|^2 in L + I/c, and the optimality conditions of the exact step
        std::vector<double> image(ways.size());
        const auto form = [&](const std::vector<double>& from, const std::vector<double>& to) {
            auto moved = to;
            for (std::size_t j = 0; j < moved.size(); ++j) moved[j] -= from[j];
            ways.dense.multiply(moved, image);
            for (std::size_t j = 0; j < moved.size(); ++j) image[j] += ways.inverse_c * moved[j];
            return dot(moved.data(), image.data(), std::ssize(moved));
        };
        const double whole = form(old, dense);
        for (std::size_t j = 0; j < image.size(); ++j) image[j] += gradient[j] + ways.inverse_c * old[j];
        CHECK(largest(image) <= 1e-8 * (1.0 + largest(gradient) + ways.inverse_c * largest(old)));
        for (const UnarySystem* system : {&ways.iterative, &ways.single}) {
            auto near = old;
            const double shorter = system->step(gradient, bounded, lower, upper, old, near);
            CHECK(form(near, dense) <= 0.1 * whole);
            CHECK(std::abs(shorter - length) <= 0.5 * whole);
        }
    }
}

// 1/2 x'(L + I/c)x - r'x over the box is what a bounded step lowers, in every way.
GAPCUT_TEST(unary_systems_keep_bounded_labels_in_the_box) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const ThreeWays ways(random, round % 2 ? 0.2 : 1.0);
        const auto n = ways.problem.unary_size();
        std::vector<std::uint8_t> bounded(ways.factor.size());
        for (auto& b : bounded) b = random() % 2;
        std::vector<double> lower(ways.size(), -kInf), upper(ways.size(), kInf), gradient = normal(random, n);
        const auto old = [&] {
            auto x = normal(random, n);
            for (std::int64_t j = 0; j < n; ++j) {
                if (!bounded[j / ways.problem.node_dim()]) continue;
                lower[j] = random() % 2 ? 0.0 : -kInf;
                upper[j] = random() % 4 ? kInf : (random() % 2 ? 0.0 : 0.3);
                x[j] = std::clamp(x[j], lower[j], upper[j]);
            }
            return x;
        }();
        for (const UnarySystem* system : {&ways.dense, &ways.iterative, &ways.single, &ways.diagonal}) {
            std::vector<double> right(ways.size()), image(ways.size());
            system->multiply(old, right);
            for (std::size_t j = 0; j < right.size(); ++j) right[j] -= gradient[j];
            auto x = old;
            system->step(gradient, bounded, lower, upper, old, x);
            const auto value = [&](const std::vector<double>& at) {
                system->multiply(at, image);
                double sum = 0.0;
                for (std::size_t j = 0; j < at.size(); ++j)
                    sum += at[j] * (0.5 * (image[j] + ways.inverse_c * at[j]) - right[j]);
                return sum;
            };
            for (std::size_t j = 0; j < x.size(); ++j) CHECK(x[j] >= lower[j] && x[j] <= upper[j]);
            CHECK(value(x) <= value(old) + 1e-6 * std::abs(value(old)));
            CHECK(farthest(x, old) > 0.0);
        }
    }
}

GAPCUT_TEST(plane_cache_moves_blocks_that_cancel_together) {
    // Two blocks of opposite planes: at the optimum both carry all their mass while w stays of order one. The first is
    // at its own optimum when the second arrives; taking turns, each would move by about w.
    const double mass = 1e5;
    const Box box{{-kInf}, {kInf}};
    PlaneCache<DensePoint> cache(2, mass, box, 100, 0);
    const double planes[] = {1.0, -1.0}, losses[] = {1.0, 2.0};
    for (const std::int32_t block : {0, 1}) {
        cache.add({&block, 1}, planes + block, losses + block);
        cache.sweep(1e-2 * mass, 20, {});
    }
    const auto sums = cache.refresh();
    const double w = cache.weights()[0], best = 3.0 * mass;
    CHECK(std::abs(sums.loss - 0.5 * w * w - best) <= 1e-2 * best);
}

// Each block has a frozen coordinate of its own, where both its planes are one: x there is the mass of the block. Lower
// bounds pay for an excess of (terms + 2) roundings; thousands of steps drift farther unless refresh makes them anew.
GAPCUT_TEST(plane_cache_keeps_the_mass_of_its_blocks) {
    const std::int64_t free = 30, blocks = 60, each = 2, dim = free + blocks;
    for (const double mass : {0.7, 0.1, 7.7}) {
        std::mt19937 random(8);
        Box box = half_open(random, dim);
        std::fill(box.lower.begin() + free, box.lower.end(), 0.0);
        std::fill(box.upper.begin() + free, box.upper.end(), 0.0);
        PlaneCache<DensePoint> cache(blocks, mass, box, blocks * each, 0);
        for (std::int32_t i = 0; i < blocks; ++i)
            for (std::int64_t k = 0; k < each; ++k) {
                auto plane = normal(random, dim);
                for (std::int64_t j = free; j < dim; ++j) plane[j] = j == free + i ? 1.0 : 0.0;
                const double loss = 3.0 * mass * static_cast<double>(blocks);
                cache.add({&i, 1}, plane.data(), &loss);
            }
        for (int round = 0; round < 20; ++round) {
            cache.sweep(0.0, 250, {});
            const auto sums = cache.refresh();
            for (std::int64_t i = 0; i < blocks; ++i)
                CHECK(sums.x[free + i] <= mass * (1.0 + std::ldexp(static_cast<double>(each + 2), -53)));
        }
    }
}
