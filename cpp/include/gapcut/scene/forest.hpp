// A forest of decision trees as arrays: mean leaf values of many rows.
#pragma once

#include <cstdint>
#include <span>

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

// Throws std::invalid_argument unless every index is in range and every tree ends: children come after their parent.
void check(const ForestArrays& forest);

// Mean leaf value over the trees of each row (rows of n_features): out has n_classes a row. Summed in the order
// of the trees, so the same for any number of threads. The forest must be checked.
void forest_means(const ForestArrays& forest, std::span<const float> rows, int threads, std::span<float> out,
                  const StopTest& stop = {});

}  // namespace gapcut::scene
