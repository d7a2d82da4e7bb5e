// Random energies that can be enumerated. Shared by tests of local search.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "owned_energy.hpp"

namespace gapcut::infer {

// Small integers and +inf on a random graph of 7 nodes with 1 to 3 labels: sums are exact in float64.
struct SmallEnergy : Owned {
    explicit SmallEnergy(std::mt19937_64& random) {
        const auto cost = [&] { return static_cast<double>(random() % 9); };
        const auto entry = [&] { return random() % 6 == 0 ? kInfinity : cost(); };
        for (int u = 0; u < 7; ++u) add_node(static_cast<std::int32_t>(1 + random() % 3), cost);
        for (std::int32_t u = 0; u < 7; ++u)
            for (std::int32_t v = 0; v < u; ++v)
                if (random() % 5 >= 2) add_edge(u, v, entry);
    }

    double energy(const std::vector<std::int32_t>& y) const {
        const std::vector<double> all = terms(view(), y);
        return std::accumulate(all.begin(), all.end(), 0.0);
    }

    // Over all labelings that agree with y on the nodes marked in `kept`.
    double minimum(std::vector<std::int32_t> y, const std::vector<char>& kept, std::size_t u = 0) const {
        if (u == labels.size()) return energy(y);
        if (kept[u]) return minimum(y, kept, u + 1);
        double least = kInfinity;
        for (y[u] = 0; y[u] < labels[u]; ++y[u]) least = std::min(least, minimum(y, kept, u + 1));
        return least;
    }
};

}  // namespace gapcut::infer
