#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/infer/closed_set.hpp"
#include "gapcut/infer/qpbo.hpp"

using namespace gapcut;
using namespace gapcut::infer;

namespace {

// A function of up to a few binary variables with small integer entries and +inf: sums are exact in float64.
struct Function {
    struct Unary {
        int i;
        double cost[2];
    };
    struct Pair {
        int i, j;
        Qpbo::Table table;
    };
    int n = 0;
    std::vector<Unary> unaries;
    std::vector<Pair> pairs;

    double operator()(unsigned x) const {
        double sum = 0.0;
        for (const Unary& t : unaries) sum += t.cost[x >> t.i & 1U];
        for (const Pair& t : pairs) sum += t.table[2 * (x >> t.i & 1U) + (x >> t.j & 1U)];
        return sum;
    }

    void solve(Qpbo& q, const std::vector<std::uint8_t>& start = {}, const StopTest& stop = {}) const {
        q.reset(n);
        for (const Unary& t : unaries) q.add_unary(t.i, t.cost[0], t.cost[1]);
        for (const Pair& t : pairs) q.add_pair(t.i, t.j, t.table);
        q.solve(start, stop);
    }

    std::vector<unsigned> minimisers(double& least) const {
        least = kInfinity;
        std::vector<unsigned> all;
        for (unsigned x = 0; x < 1U << n; ++x) {
            const double value = (*this)(x);
            if (value < least) least = value, all.clear();
            if (value == least) all.push_back(x);
        }
        return all;
    }

    double weakest_bound() const {
        double sum = 0.0;
        for (const Unary& t : unaries) sum += std::min(t.cost[0], t.cost[1]);
        for (const Pair& t : pairs) sum += *std::min_element(t.table.begin(), t.table.end());
        return sum;
    }
};

template <class Random>
Function random_function(Random& random, bool submodular) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool forbid = below(3) == 0, big = below(3) == 0;
    const auto value = [&] {
        if (forbid && below(4) == 0) return kInfinity;
        return static_cast<double>(below(9) - 4) * (big && below(3) == 0 ? 1048576.0 : 1.0);
    };
    Function f;
    f.n = 1 + below(8);
    for (int t = below(f.n + 3); t > 0; --t) f.unaries.push_back({below(f.n), {value(), value()}});
    for (int t = below(3 * f.n + 1); t > 0 && f.n > 1; --t) {
        const int i = below(f.n), j = (i + 1 + below(f.n - 1)) % f.n;
        Qpbo::Table table{value(), value(), value(), value()};
        if (submodular) {
            for (double& c : table) c = c == kInfinity ? 4.0 : c;
            table[3] = table[1] + table[2] - table[0] - below(3);
        }
        f.pairs.push_back({i, j, table});
    }
    return f;
}

std::vector<std::uint8_t> bits(unsigned x, int n) {
    std::vector<std::uint8_t> out;
    for (int i = 0; i < n; ++i) out.push_back(x >> i & 1U);
    return out;
}

unsigned overwrite(const std::vector<std::int8_t>& labels, unsigned x) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] != kUnlabelled) x = (x & ~(1U << i)) | static_cast<unsigned>(labels[i]) << i;
    return x;
}

void check_persistency(const Function& f, const Qpbo& q, double least, const std::vector<unsigned>& minimisers) {
    CHECK(q.bound() <= least);
    CHECK(q.bound() >= f.weakest_bound() - 1e-6);
    if (least == kInfinity) return;
    const auto& labels = q.labels();
    CHECK(std::any_of(minimisers.begin(), minimisers.end(), [&](unsigned x) { return overwrite(labels, x) == x; }));
    for (const unsigned x : minimisers)
        for (std::size_t i = 0; i < labels.size(); ++i)
            CHECK(!q.strong()[i] || static_cast<unsigned>(labels[i]) == (x >> i & 1U));
    for (unsigned x = 0; x < 1U << f.n; ++x) CHECK(f(overwrite(labels, x)) <= f(x));
}

}  // namespace

GAPCUT_TEST(roof_duality_is_persistent) {
    std::mt19937 random(11);
    Qpbo q;
    int open = 0, weak = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Function f = random_function(random, false);
        double least = 0.0;
        const auto minimisers = f.minimisers(least);
        f.solve(q);
        check_persistency(f, q, least, minimisers);
        for (std::size_t i = 0; i < q.labels().size(); ++i) {
            open += q.labels()[i] == kUnlabelled;
            weak += q.labels()[i] != kUnlabelled && !q.strong()[i];
        }
        f.solve(q, bits(static_cast<unsigned>(random()) & ((1U << f.n) - 1U), f.n));
        check_persistency(f, q, least, minimisers);
        if (least < kInfinity) f.solve(q, bits(minimisers[0], f.n));
        check_persistency(f, q, least, minimisers);
    }
    CHECK(open > 200 && weak > 200);  // both kinds occur
}

GAPCUT_TEST(roof_duality_solves_submodular_functions) {
    std::mt19937 random(12);
    Qpbo q;
    for (int trial = 0; trial < 1000; ++trial) {
        const Function f = random_function(random, true);
        double least = 0.0;
        const auto minimisers = f.minimisers(least);
        f.solve(q);
        check_persistency(f, q, least, minimisers);
        if (least == kInfinity) {
            CHECK(q.bound() == kInfinity);
            continue;
        }
        CHECK(std::none_of(q.labels().begin(), q.labels().end(), [](std::int8_t x) { return x == kUnlabelled; }));
        CHECK(f(overwrite(q.labels(), 0)) == least);
        CHECK(q.bound() > least - 1e-6);
    }
}

GAPCUT_TEST(roof_duality_stopped_early_stays_valid) {
    std::mt19937 random(13);
    Qpbo q;
    Function f;
    f.n = 14;
    for (int i = 0; i < f.n; ++i)
        for (int j = 0; j < i; ++j)
            f.pairs.push_back({i,
                               j,
                               {static_cast<double>(random() % 9), static_cast<double>(random() % 9),
                                static_cast<double>(random() % 9), static_cast<double>(random() % 9)}});
    double least = 0.0;
    const auto minimisers = f.minimisers(least);
    f.solve(q, {}, [] { return true; });
    check_persistency(f, q, least, minimisers);
    const double early = q.bound();
    f.solve(q);
    check_persistency(f, q, least, minimisers);
    CHECK(early <= q.bound());
}

GAPCUT_TEST(closed_set_is_the_largest) {
    std::mt19937 random(14);
    for (int trial = 0; trial < 2000; ++trial) {
        const int n = 1 + static_cast<int>(random() % 6), nodes = 2 * n;
        std::vector<std::pair<std::int32_t, std::int32_t>> arcs;
        std::vector<std::vector<char>> reach(static_cast<std::size_t>(nodes), std::vector<char>(nodes, 0));
        for (int v = 0; v < nodes; ++v) reach[v][v] = 1;
        for (int a = static_cast<int>(random() % 8); a > 0; --a) {
            const int i = static_cast<int>(random() % nodes), j = static_cast<int>(random() % nodes);
            arcs.emplace_back(i, j);
            reach[i][j] = reach[(j + n) % nodes][(i + n) % nodes] = 1;
        }
        for (int k = 0; k < nodes; ++k)
            for (int i = 0; i < nodes; ++i)
                for (int j = 0; j < nodes; ++j)
                    if (reach[i][k] && reach[k][j]) reach[i][j] = 1;
        const auto in = closed_set(n, arcs);
        for (int i = 0; i < n; ++i) {
            const bool possible = !reach[i][i + n] || !reach[i + n][i];
            CHECK((in[i] || in[i + n]) == possible);
            CHECK(!(in[i] && in[i + n]));
        }
        for (const auto& [i, j] : arcs) CHECK(!in[i] || in[j]);
    }
}

GAPCUT_TEST(differences_are_rounded_down) {
    std::mt19937_64 random(15);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int trial = 0; trial < 10000; ++trial) {
        const double a = uniform(random), b = uniform(random) * (trial % 3 == 0 ? 1e6 : trial % 3 == 1 ? 1e-6 : 1.0);
        const double d = difference_below(a, b);
        CHECK(static_cast<long double>(d) <= static_cast<long double>(a) - static_cast<long double>(b) ||
              sizeof(long double) == 8);
        CHECK(d >= std::nextafter(a - b, -kInfinity));
    }
    CHECK(difference_below(3.0, 1.0) == 2.0);
    CHECK(difference_below(kInfinity, 1.0) == kInfinity);
}
