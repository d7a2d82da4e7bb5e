// Weights as the oracle reads them: unary rows by feature, and of the pairwise weights only those that are not zero.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gapcut/problem.hpp"

namespace gapcut {

struct SparseWeights {
    // Expands compact weights (dim() long). Throws std::invalid_argument if a pairwise weight is negative or any
    // weight is not finite, naming the label pair and the feature.
    SparseWeights(const Problem& problem, std::span<const double> compact);

    struct Entry {
        std::int32_t pair;  // index into `pairs`
        double weight;
    };

    std::vector<double> unary_by_feature;                      // (Dn, K): scores of a node are sums of its rows
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // label pairs with any weight
    std::vector<std::int64_t> first;                           // De + 1
    std::vector<Entry> entries;                                // of feature d: [first[d], first[d + 1])
};

}  // namespace gapcut
