// Weights as the oracle reads them: unary rows by feature, and of all others only those that are not zero.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gapcut/problem.hpp"

namespace gapcut {

// The (items, D) weights of one block, zeros left out, by feature.
struct SparseRows {
    struct Entry {
        std::int32_t item;  // index into `items`
        double weight;
    };

    std::vector<std::int32_t> items;  // rows with any weight
    std::vector<std::int64_t> first;  // D + 1
    std::vector<Entry> entries;       // of feature d: [first[d], first[d + 1])

    // Calls f(q, w_q . phi) for every item q where the product with this row of features is > 0. `potentials` is zero
    // before and after, one entry an item.
    template <class F>
    void for_potentials(const RowMatrix& features, std::int64_t row, std::vector<double>& potentials, F&& f) const {
        bool any = false;
        features.for_row(row, [&](std::int32_t d, double x) {
            for (auto q = first[d]; q < first[d + 1]; ++q) potentials[entries[q].item] += x * entries[q].weight;
            any |= first[d] < first[d + 1];
        });
        if (!any) return;
        for (std::size_t q = 0; q < items.size(); ++q) {
            if (potentials[q] > 0.0) f(q, potentials[q]);
            potentials[q] = 0.0;
        }
    }
};

struct SparseWeights {
    // Expands compact weights (dim() long). Throws std::invalid_argument if a pairwise or clique weight is negative or any
    // weight is not finite, naming labels and feature.
    SparseWeights(const Problem& problem, std::span<const double> compact);

    std::vector<double> unary_by_feature;                      // (Dn, K): scores of a node are sums of its rows
    SparseRows pairwise;                                       // items: label pairs k * K + l
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // (k, l) of those items
    std::vector<SparseRows> cliques;                           // one a group; items: tuples
};

}  // namespace gapcut
