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
        double* sum = potentials.data();
        const Entry* entry = entries.data();
        const std::int64_t* begin = first.data();
        bool any = false;
        features.for_row(row, [=, &any](std::int32_t d, double x) {
            const auto end = begin[d + 1];
            for (auto q = begin[d]; q < end; ++q) sum[entry[q].item] += x * entry[q].weight;
            any |= begin[d] < end;
        });
        if (!any) return;
        const std::size_t n = items.size();
        for (std::size_t q = 0; q < n; ++q) {
            const double potential = sum[q];
            sum[q] = 0.0;
            if (potential > 0.0) f(q, potential);
        }
    }
};

struct SparseWeights {
    // Expands compact weights (dim() long). Throws std::invalid_argument if a pairwise or clique weight is negative or
    // any weight is not finite, naming labels and feature.
    SparseWeights(const Problem& problem, std::span<const double> compact);

    std::vector<double> unary_by_feature;                      // (Dn, K): scores of a node are sums of its rows
    SparseRows pairwise;                                       // items: label pairs k * K + l
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // (k, l) of those items
    std::vector<SparseRows> cliques;                           // one a group; items: tuples
};

}  // namespace gapcut
