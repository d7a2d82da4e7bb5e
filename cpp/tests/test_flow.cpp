#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/flow/closure.hpp"
#include "gapcut/flow/max_flow.hpp"

using namespace gapcut;

namespace {

struct Pair {
    int i, j;
    double b;
};

double value(const std::vector<double>& a, const std::vector<Pair>& pairs, unsigned z) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (z >> i & 1U) ? a[i] : 0.0;
    for (const Pair& p : pairs) sum += (z >> p.i & 1U) && (z >> p.j & 1U) ? p.b : 0.0;
    return sum;
}

}  // namespace

GAPCUT_TEST(closure_equals_enumeration) {
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        const int n = 1 + static_cast<int>(random() % 9);
        std::vector<double> a(static_cast<std::size_t>(n));
        for (double& x : a) x = static_cast<double>(static_cast<int>(random() % 13) - 9);
        std::vector<Pair> pairs;
        for (unsigned q = random() % 16; n > 1 && q > 0; --q) {
            const int i = static_cast<int>(random() % static_cast<unsigned>(n));
            const int j = (i + 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1))) % n;
            pairs.push_back({i, j, static_cast<double>(random() % 5)});
        }
        double best = 0.0;
        for (unsigned z = 0; z < (1U << n); ++z) best = std::max(best, value(a, pairs, z));
        std::uniform_real_distribution<float> share(0.0F, 1.0F);
        for (const int way : {0, 1, 2}) {
            Closure c;
            c.use_persistency = way != 1;
            c.keep_split = true;
            c.reset(n);
            for (int i = 0; i < n; ++i) c.set_gain(i, a[static_cast<std::size_t>(i)]);
            for (const Pair& p : pairs) c.add_pair(p.i, p.j, p.b, way < 2 ? 0.5F : share(random));
            c.solve();
            unsigned z = 0;
            for (int i = 0; i < n; ++i) z |= static_cast<unsigned>(c.labels()[static_cast<std::size_t>(i)]) << i;
            CHECK(value(a, pairs, z) == best);
            std::vector<double> given = a;
            const auto split = c.split();
            for (std::size_t q = 0; q < pairs.size(); ++q) {
                CHECK(split[q] >= 0.0 && split[q] <= 1.0);
                given[static_cast<std::size_t>(pairs[q].i)] += split[q] * pairs[q].b;
                given[static_cast<std::size_t>(pairs[q].j)] += (1.0 - split[q]) * pairs[q].b;
            }
            double proven = 0.0;
            for (const double x : given) proven += std::max(0.0, x);
            CHECK(std::abs(proven - best) < 1e-9);
        }
    }
}

GAPCUT_TEST(closure_with_cliques_equals_enumeration) {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        const int n = 4 + static_cast<int>(random() % 6);
        std::vector<double> a(static_cast<std::size_t>(n));
        for (double& x : a) x = static_cast<double>(static_cast<int>(random() % 13) - 9);
        std::vector<std::vector<std::int32_t>> cliques;
        std::vector<double> gains;
        std::vector<std::int32_t> order(static_cast<std::size_t>(n));
        for (std::int32_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
        for (unsigned q = random() % 8; q > 0; --q) {
            std::shuffle(order.begin(), order.end(), random);
            cliques.emplace_back(order.begin(), order.begin() + 2 + random() % 3);
            gains.push_back(static_cast<double>(random() % 12));
        }
        const auto score = [&](unsigned z) {
            double sum = value(a, {}, z);
            for (std::size_t c = 0; c < cliques.size(); ++c)
                if (std::ranges::all_of(cliques[c], [&](std::int32_t i) { return (z >> i & 1U) != 0; }))
                    sum += gains[c];
            return sum;
        };
        double best = 0.0;
        for (unsigned z = 0; z < (1U << n); ++z) best = std::max(best, score(z));
        for (const bool persistency : {true, false}) {
            Closure c;
            c.use_persistency = persistency;
            c.reset(n);
            for (int i = 0; i < n; ++i) c.set_gain(i, a[static_cast<std::size_t>(i)]);
            for (std::size_t q = 0; q < cliques.size(); ++q) c.add_clique(cliques[q], gains[q]);
            c.solve();
            CHECK(std::ssize(c.labels()) == n);
            unsigned z = 0;
            for (int i = 0; i < n; ++i) z |= static_cast<unsigned>(c.labels()[static_cast<std::size_t>(i)]) << i;
            CHECK(score(z) == best);
        }
    }
}

GAPCUT_TEST(max_flow_on_a_grid_certifies_itself) {
    // solve() compares the flow with the cut and throws if they differ; large capacities must not overflow
    std::mt19937_64 random(2);
    const std::int32_t side = 60;
    MaxFlow flow;
    for (int round = 0; round < 5; ++round) {
        flow.reset(side * side);
        for (std::int32_t v = 0; v < side * side; ++v) {
            flow.add_excess(v, static_cast<std::int64_t>(random() % (1ULL << 46)) - (1LL << 45));
            if (v % side + 1 < side) flow.add_arc(v, v + 1, static_cast<std::int64_t>(random() % (1ULL << 45)), 0);
            if (v + side < side * side)
                flow.add_arc(v, v + side, static_cast<std::int64_t>(random() % (1ULL << 45)),
                             static_cast<std::int64_t>(random() % (1ULL << 45)));
        }
        CHECK(flow.solve() > 0);
    }
}
