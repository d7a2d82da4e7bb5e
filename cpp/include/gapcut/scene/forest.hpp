// A forest of decision trees: mean leaf values of many rows.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"

namespace gapcut::scene {

// All trees one after the other; nodes are numbered through the whole forest. At node i with feature[i] >= 0 a row goes
// on to left[i] if its value is at most threshold[i] (compared in double precision), else to right[i]; a node with
// feature[i] < 0 is a leaf, and row i of `value` is what it says (a class distribution, or one score). root: the first
// node of each tree.
struct ForestArrays {
    std::span<const std::int32_t> root, feature, left, right;
    std::span<const double> threshold;
    std::span<const float> value;                // classes a node
    std::int64_t n_features = 0, n_classes = 0;  // n_classes: values a node
};

// The forest laid out for speed. Immutable; any number of threads may ask it.
class Forest {
  public:
    // Throws std::invalid_argument unless every index is in range and every tree ends: children come after their
    // parent.
    explicit Forest(const ForestArrays& arrays);

    std::int64_t n_features() const { return n_features_; }
    std::int64_t n_classes() const { return n_classes_; }

    // Mean leaf value over the trees of each row (rows of n_features): out has n_classes a row. Summed in the order
    // of the trees, so the same for any number of threads.
    void means(std::span<const float> rows, int threads, std::span<float> out, const StopTest& stop = {}) const;

  private:
    struct Node {         // a quarter of a cache line
        float threshold;  // of a leaf: the bits of its row of values, a whole number
        std::int32_t feature;
        std::array<std::int32_t, 2> child;  // of a leaf: itself, so that a row may go on
    };
    static std::int64_t row_of(const Node& leaf) { return std::bit_cast<std::int32_t>(leaf.threshold); }

    void find_leaves(std::int32_t root, const float* rows, std::int64_t n, std::int32_t* at,
                     std::int32_t* moving) const;

    std::int64_t n_features_, n_classes_;
    std::vector<std::int32_t> roots_;
    std::vector<Node> nodes_;
    std::vector<float> values_;  // what leaves say, each different row once
};

}  // namespace gapcut::scene
