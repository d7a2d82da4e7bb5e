#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../src/infer/triplets.hpp"
#include "check.hpp"
#include "gapcut/infer/cycles.hpp"
#include "gapcut/infer/trws.hpp"
#include "owned_energy.hpp"

using namespace gapcut;
using namespace gapcut::infer;

namespace {

Owned dense_energy(std::mt19937& random, int nodes) {
    Owned e;
    std::normal_distribution<double> normal;
    const auto value = [&] { return 0.2 * normal(random); };  // weak beside those of edges
    for (int u = 0; u < nodes; ++u) e.add_node(static_cast<int>(random() % 8 == 0 ? 1 : 2 + random() % 2), value);
    for (int u = 0; u < nodes; ++u)
        for (int v = 0; v < u; ++v)
            if (random() % 3 != 0) e.add_edge(u, v, [&] { return 3.0 * normal(random); });
    return e;
}

}  // namespace

GAPCUT_TEST(cycles_bracket_the_minimum_and_close_more_than_trws) {
    std::mt19937 random(4);
    int closed = 0, closed_before = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const Owned e = dense_energy(random, trial % 4 == 0 ? 1 + trial % 7 : 8);
        const double least = minimum(e.view());
        const CycleResult r = tighten(e.view(), {.max_sweeps = 300});
        const double value = energy_of(e.view(), r.labels);
        CHECK(r.bound <= least + 1e-12 * (1.0 + std::abs(least)));
        CHECK(least <= value + 1e-12 * (1.0 + std::abs(value)));
        TrwsSettings plain;
        plain.escape = true;
        closed_before += least - trws(e.view(), plain).bound < 1e-6;
        closed += least - r.bound < 1e-6;
    }
    CHECK(closed > 195);
    CHECK(closed_before < 170);
}

// Messages move costs from one term to another: sharp sweeps never lower the bound, and it holds whatever they are.
GAPCUT_TEST(sweeps_over_triplets_raise_the_bound) {
    std::mt19937 random(5);
    for (int trial = 0; trial < 50; ++trial) {
        const Owned e = dense_energy(random, 6);
        const double least = minimum(e.view());
        const Reduction reduced(e.view());
        LowerSum constant;
        for (const LowerSum& c : reduced.constants()) constant.add(c.value());
        Triplets graph(reduced, reduced.core());
        double before = graph.bound();
        for (int round = 0; round < 12; ++round) {
            const std::int32_t n = graph.n_nodes();
            if (n >= 3 && round % 3 == 0) {
                const auto i = static_cast<std::int32_t>(random() % static_cast<unsigned>(n - 2));
                graph.add(i, n - 1, i + 1);
                CHECK(graph.add(i + 1, i, n - 1) == 0.0);
            }
            if (round % 4 == 3) graph.spread();
            for (const bool forward : {true, false}) graph.half_sweep(forward, 0.0, {});
            const double after = graph.bound();
            CHECK(after >= before - 1e-9);
            CHECK(constant.value() + after <= least + 1e-12);
            before = after;
        }
        for (const bool forward : {true, false}) graph.half_sweep(forward, 0.1, {});
        CHECK(constant.value() + graph.bound() <= least + 1e-12);
    }
}

GAPCUT_TEST(cycles_stop_when_told_to) {
    std::mt19937 random(6);
    const Owned e = dense_energy(random, 7);
    int asked = 0;
    const CycleResult r = tighten(e.view(), {}, [&] { return ++asked > 3; });
    CHECK(r.stopped);
    CHECK(r.sweeps <= 3);
    CHECK(r.bound <= minimum(e.view()));
}
