#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/infer/bp.hpp"
#include "gapcut/infer/dead_ends.hpp"
#include "gapcut/infer/icm.hpp"
#include "gapcut/infer/srmp.hpp"

using namespace gapcut::infer;
using gapcut::kInfinity;

namespace {

struct Owned {
    std::vector<std::int32_t> labels, member;
    std::vector<std::int64_t> unary_at{0}, factor_at{0}, table_at;
    std::vector<double> unary, tables;

    FactorView view() const { return {labels, unary_at, unary, factor_at, member, table_at, tables}; }
};

// Small integers and +inf: sums are exact in float64.
template <class Random>
Owned random_factors(Random& random) {
    Owned g;
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool forbid = below(2) == 0;
    const auto value = [&] { return forbid && below(5) == 0 ? kInfinity : static_cast<double>(below(9) - 4); };
    const int nodes = 2 + below(4);
    for (int u = 0; u < nodes; ++u) {
        g.labels.push_back(1 + below(3));
        for (int k = 0; k < g.labels.back(); ++k) g.unary.push_back(value());
        g.unary_at.push_back(static_cast<std::int64_t>(g.unary.size()));
    }
    std::vector<std::int32_t> order(static_cast<std::size_t>(nodes));
    for (int u = 0; u < nodes; ++u) order[u] = u;
    for (int f = below(6); f > 0; --f) {
        std::shuffle(order.begin(), order.end(), random);
        const int size = 2 + below(std::min(nodes, 4) - 1);
        int cells = 1;
        for (int i = 0; i < size; ++i) g.member.push_back(order[i]), cells *= g.labels[order[i]];
        g.factor_at.push_back(static_cast<std::int64_t>(g.member.size()));
        g.table_at.push_back(static_cast<std::int64_t>(g.tables.size()));
        for (int i = 0; i < cells; ++i) g.tables.push_back(value());
    }
    return g;
}

// Over the labels with keep != 0 (empty: all).
double minimum(const FactorGraph& g, const std::vector<char>& keep = {}) {
    std::vector<std::int32_t> y(static_cast<std::size_t>(g.n_nodes()), 0);
    double best = kInfinity;
    for (;;) {
        bool kept = true;
        for (std::int64_t u = 0; u < g.n_nodes(); ++u) kept &= keep.empty() || keep[g.unary_at(u) + y[u]];
        if (kept) best = std::min(best, g.energy(y));
        std::int64_t u = 0;
        while (u < g.n_nodes() && ++y[u] == g.n_labels(u)) y[u++] = 0;
        if (u == g.n_nodes()) return best;
    }
}

}  // namespace

GAPCUT_TEST(messages_on_factors_bound_the_minimum) {
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 2000; ++trial) {
        const Owned owned = random_factors(random);
        const FactorGraph g(owned.view());
        const double best = minimum(g);
        const TrwsResult r = srmp(g, {}, {});
        CHECK(r.bound <= best);
        CHECK(g.energy(r.labels) >= best);
        const BpResult b = belief_propagation(g, {});
        CHECK(!b.infeasible || best == kInfinity);
        CHECK(g.energy(b.labels) >= best);
        CHECK(g.energy(icm(g, b.labels).labels) >= best);
    }
}

GAPCUT_TEST(dead_ends_keep_the_minimum) {
    std::mt19937_64 random(12);
    std::size_t removed = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const Owned owned = random_factors(random);
        const FactorGraph g(owned.view());
        const std::vector<char> keep = dead_ends(g, 1 << 20);
        CHECK(minimum(g, keep) == minimum(g));
        removed += static_cast<std::size_t>(std::count(keep.begin(), keep.end(), 0));
    }
    CHECK(removed > 1000);
}
