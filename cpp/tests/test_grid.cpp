#include "gapcut/infer/grid.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"

using namespace gapcut::infer;
using gapcut::kInfinity;

namespace {

struct Owned {
    std::int64_t height, width, labels;
    std::vector<double> unary, table, right, down;

    GridView view() const {
        return {height,
                width,
                labels,
                unary.data(),
                table.data(),
                right.empty() ? nullptr : right.data(),
                down.empty() ? nullptr : down.data()};
    }
};

// Small integers: sums are exact. `kind`: Potts, truncated linear, anything.
Owned random_grid(std::mt19937& random, std::int64_t height, std::int64_t width, std::int64_t labels, int kind) {
    Owned g{height, width, labels, {}, {}, {}, {}};
    const auto below = [&](int n) { return static_cast<double>(random() % static_cast<unsigned>(n)); };
    for (std::int64_t i = 0; i < height * width * labels; ++i) g.unary.push_back(below(9) - 4.0);
    for (std::int64_t k = 0; k < labels; ++k)
        for (std::int64_t l = 0; l < labels; ++l) {
            const double steps = static_cast<double>(std::abs(k - l));
            g.table.push_back(kind == 0 ? 2.0 * (k != l) : kind == 1 ? std::min(steps, 2.0) : below(5));
        }
    if (kind == 2) g.table[0] = 0.0;
    if (random() % 2) return g;
    for (std::int64_t i = 0; i < height * (width - 1); ++i) g.right.push_back(below(3));
    for (std::int64_t i = 0; i < (height - 1) * width; ++i) g.down.push_back(below(3));
    return g;
}

double minimum(const GridView& g) {
    std::vector<std::int32_t> y(static_cast<std::size_t>(g.height * g.width), 0);
    double best = kInfinity;
    for (;;) {
        best = std::min(best, grid_energy(g, y));
        std::size_t u = 0;
        while (u < y.size() && ++y[u] == g.labels) y[u++] = 0;
        if (u == y.size()) return best;
    }
}

}  // namespace

GAPCUT_TEST(bounds_of_grids_hold) {
    std::mt19937 random(0);
    for (int trial = 0; trial < 60; ++trial) {
        const Owned g = random_grid(random, 2 + trial % 2, 2 + trial % 3, 2 + trial % 2, trial % 3);
        TrwsSettings settings;
        settings.max_sweeps = 1 + trial % 20;
        const TrwsResult found = grid_trws(g.view(), settings);
        const double least = minimum(g.view());
        CHECK(found.bound <= least && least <= grid_energy(g.view(), found.labels));
    }
}

GAPCUT_TEST(bands_and_widths_of_grids) {
    std::mt19937 random(1);
    for (const std::int64_t height : {15, 16, 17, 33})
        for (const std::int64_t width : {2, 15, 16, 40})
            for (int kind = 0; kind < 3; ++kind) {
                const Owned g = random_grid(random, height, width, 5, kind);
                const TrwsResult found = grid_trws(g.view(), {});
                const double energy = grid_energy(g.view(), found.labels);
                double sum = 0.0;
                for (const double x : grid_terms(g.view(), found.labels)) sum += x;
                CHECK(sum == energy);
                CHECK(found.bound <= energy && energy - found.bound <= 0.1 * static_cast<double>(height * width));
            }
}

GAPCUT_TEST(better_regions_are_taken_over_one_by_one) {
    std::mt19937 random(2);
    for (int trial = 0; trial < 50; ++trial) {
        const Owned g = random_grid(random, 6, 7, 3, trial % 3);
        std::vector<std::int32_t> one(42), other(42);
        for (auto* y : {&one, &other})
            for (std::int32_t& k : *y) k = static_cast<std::int32_t>(random() % 3);
        for (std::size_t i = 0; i < 42; ++i)
            if (random() % 2) other[i] = one[i];
        std::vector<std::int32_t> merged = one;
        take_better_regions(g.view(), merged, other);
        const double energy = grid_energy(g.view(), merged);
        CHECK(energy <= grid_energy(g.view(), one) && energy <= grid_energy(g.view(), other));
        std::vector<std::int32_t> again = merged;
        take_better_regions(g.view(), again, other);
        CHECK(again == merged);
    }
}
