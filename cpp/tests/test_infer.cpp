#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/infer/icm.hpp"
#include "gapcut/infer/tables.hpp"
#include "gapcut/infer/trws.hpp"
#include "owned_energy.hpp"

using namespace gapcut;
using namespace gapcut::infer;

namespace {

// Small integers and +inf: sums are exact in float64.
template <class Random>
Owned random_energy(Random& random, int most_edges) {
    Owned e;
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool forbid = below(3) == 0;
    const auto value = [&] { return forbid && below(4) == 0 ? kInfinity : static_cast<double>(below(9) - 4); };
    const int nodes = 1 + below(5);
    for (int u = 0; u < nodes; ++u) e.add_node(1 + below(4), value);
    for (int i = below(most_edges + 1); i > 0 && nodes > 1; --i) {
        const int u = below(nodes), v = (u + 1 + below(nodes - 1)) % nodes;
        e.add_edge(u, v, value);
    }
    return e;
}

}  // namespace

GAPCUT_TEST(lower_sum_is_below_and_tight) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int trial = 0; trial < 100; ++trial) {
        LowerSum sum;
        long double exact = 0.0L, magnitude = 0.0L;
        for (int i = 0; i < 2000; ++i) {
            const double x = uniform(random) * std::pow(10.0, 8.0 * uniform(random));
            sum.add(x);
            exact += static_cast<long double>(x);
            magnitude += std::abs(static_cast<long double>(x));
        }
        CHECK(static_cast<long double>(sum.value()) <= exact);
        CHECK(exact - static_cast<long double>(sum.value()) <= 1e-14L * std::abs(exact) + 1e-20L * magnitude);
    }
}

GAPCUT_TEST(trws_brackets_the_minimum) {
    std::mt19937 random(2);
    int tight = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const Owned e = random_energy(random, 8);
        const double best = minimum(e.view());
        for (const NodeOrder order : {NodeOrder::index, NodeOrder::breadth_first}) {
            TrwsSettings settings;
            settings.order = order;
            const TrwsResult r = trws(e.view(), settings);
            CHECK(r.bound <= best);
            CHECK(best <= energy_of(e.view(), r.labels));
            tight += r.bound > best - 1e-9 || best == kInfinity;
        }
    }
    CHECK(tight > 5500);  // most tiny energies are tight; far fewer if messages were wrong
}

// A cycle with chords, all nodes with k labels.
Owned uniform_energy(std::mt19937& random, std::int32_t k, int nodes, bool whole_numbers) {
    Owned e;
    std::normal_distribution<double> normal;
    const auto value = [&] {
        if (!whole_numbers) return normal(random);
        return random() % 5 == 0 ? kInfinity : static_cast<double>(random() % 9) - 4.0;
    };
    for (int u = 0; u < nodes; ++u) e.add_node(k, value);
    for (int u = 0; u < nodes; ++u) {
        e.add_edge(u, (u + 1) % nodes, value);
        for (int c = 0; c < 2; ++c) {
            const int v = static_cast<int>(random() % static_cast<unsigned>(nodes));
            if (v != u) e.add_edge(v, u, value);
        }
    }
    return e;
}

GAPCUT_TEST(trws_brackets_the_minimum_where_labels_are_few_and_equal) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 600; ++trial) {
        const Owned e = uniform_energy(random, 2 + trial % 4, 3 + trial % 3, trial % 2 == 0);
        const double best = minimum(e.view());
        for (const bool escape : {false, true}) {
            TrwsSettings settings;
            settings.escape = escape;
            const TrwsResult r = trws(e.view(), settings);
            CHECK(r.bound <= best + 1e-13 * std::abs(best));  // the sum of `best` is rounded
            CHECK(best <= energy_of(e.view(), r.labels));
        }
    }
}

// A further component with other label counts makes the general layout take all; bounds and labels must not change.
GAPCUT_TEST(memory_layouts_agree) {
    std::mt19937 random(8);
    for (int trial = 0; trial < 120; ++trial) {
        const std::int32_t k = 2 + trial % 6;
        const int nodes = 4 + trial % 37;
        const Owned small = uniform_energy(random, k, nodes, trial % 3 == 0);
        Owned general = small;
        const auto zero = [] { return 0.0; };
        for (int u = 0; u < 3; ++u) general.add_node(k + 1, zero);
        for (int u = 0; u < 3; ++u) general.add_edge(nodes + u, nodes + (u + 1) % 3, zero);
        for (const int sweeps : {1, 2, 9}) {
            TrwsSettings settings;
            settings.max_sweeps = sweeps;
            const TrwsResult a = trws(small.view(), settings), b = trws(general.view(), settings);
            const double x = a.component_bound.front(), y = b.component_bound.front();
            CHECK(x == y || std::abs(x - y) <= 1e-12 * (1.0 + std::abs(x)));
            CHECK(std::equal(a.labels.begin(), a.labels.end(), b.labels.begin()) || trial % 3 == 0);  // those have ties
        }
    }
}

GAPCUT_TEST(component_bounds_add_up) {
    std::mt19937 random(3);
    for (int trial = 0; trial < 200; ++trial) {
        const Owned e = random_energy(random, 3);
        const TrwsResult r = trws(e.view(), {});
        LowerSum sum;
        for (double b : r.component_bound) sum.add(b);
        CHECK(r.bound == sum.value());
        for (std::int64_t i = 0; i < e.view().n_edges(); ++i) CHECK(r.component[e.tail[i]] == r.component[e.head[i]]);
    }
}

GAPCUT_TEST(trws_stops_when_asked_and_stays_valid) {
    std::mt19937 random(4);
    for (int limit = 0; limit < 12; ++limit) {
        const Owned e = random_energy(random, 8);
        int asked = 0;
        const TrwsResult r = trws(e.view(), {}, [&] { return ++asked > limit; });
        const double best = minimum(e.view());
        CHECK(r.bound <= best);
        CHECK(best <= energy_of(e.view(), r.labels));
    }
}

GAPCUT_TEST(reduction_solves_forests) {
    std::mt19937 random(5);
    for (int trial = 0; trial < 500; ++trial) {
        Owned e;
        const auto value = [&] { return static_cast<double>(random() % 9) - 4.0; };
        for (int u = 0; u < 6; ++u) e.add_node(1 + static_cast<int>(random() % 3), value);
        for (int u = 1; u < 6; ++u) {
            const int parent = static_cast<int>(random() % static_cast<unsigned>(u));
            if (random() % 4 != 0) e.add_edge(u, parent, value);
            if (random() % 4 == 0) e.add_edge(parent, u, value);  // may repeat the edge, the other way round
        }
        Reduction reduced(e.view());
        CHECK(reduced.core().empty());
        const TrwsResult r = trws(e.view(), {});
        const double best = minimum(e.view());
        CHECK(energy_of(e.view(), r.labels) == best);
        CHECK(r.bound <= best && r.bound > best - 1e-12);
    }
}

GAPCUT_TEST(icm_never_worsens) {
    std::mt19937 random(6);
    for (int trial = 0; trial < 500; ++trial) {
        const Owned e = random_energy(random, 8);
        std::vector<std::int32_t> start;
        for (const std::int32_t k : e.labels) start.push_back(static_cast<int>(random() % static_cast<unsigned>(k)));
        const IcmResult r = icm(e.view(), start);
        CHECK(energy_of(e.view(), r.labels) <= energy_of(e.view(), start));
        CHECK(!r.stopped);
    }
}

GAPCUT_TEST(tables_are_minus_the_products) {
    const double features[] = {1.0, 0.0, 2.0, 0.5, 3.0, 0.0};        // (2, 3)
    const double weights[] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 4, 0, -1};  // (2, 2, 3)
    const auto t = pairwise_tables(RowMatrix::from_dense(2, 3, features), 2, weights);
    const double expected[] = {-1.0, 0.0, 0.0, -2.0, -0.5, -6.0, 0.0, -2.0};
    CHECK(std::equal(t.begin(), t.end(), expected, expected + 8));
    const auto u = unary_tables(RowMatrix::from_dense(2, 3, features), 2, weights);
    const double expected_unary[] = {-1.0, 0.0, -0.5, -6.0};
    CHECK(std::equal(u.begin(), u.end(), expected_unary, expected_unary + 4));
}
