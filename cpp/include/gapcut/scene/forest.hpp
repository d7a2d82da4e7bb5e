// A forest of decision trees: mean leaf values of many rows.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
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
    // Children stand side by side: a row goes on to `child`, or to the node behind it where its value is over the
    // threshold. A leaf is its own child, and its threshold is NaN, which nothing is over: rows that have arrived may
    // go on. What a leaf says is row `said` of the tree's values.
    struct Narrow {           // eight fill a cache line
        float threshold;      // of a leaf: `said`, in the bits that a NaN leaves free
        std::uint32_t where;  // child << 8 | feature
        static Narrow leaf(std::uint32_t self, std::uint32_t said) {
            return {std::bit_cast<float>(0x7FC00000 | said), self << 8};
        }
        static Narrow fork(float threshold, std::uint32_t feature, std::uint32_t child) {
            return {threshold, child << 8 | feature};
        }
        std::uint32_t feature() const { return where & 0xFF; }
        std::uint32_t child() const { return where >> 8; }
        std::uint32_t said() const { return std::bit_cast<std::uint32_t>(threshold) & kMostNarrow; }
    };
    struct Wide {  // for rows of more than 256 values, and for trees of millions of nodes
        float threshold;
        std::uint32_t value, next, row;
        static Wide leaf(std::uint32_t self, std::uint32_t said) {
            return {std::numeric_limits<float>::quiet_NaN(), 0, self, said};
        }
        static Wide fork(float threshold, std::uint32_t feature, std::uint32_t child) {
            return {threshold, feature, child, 0};
        }
        std::uint32_t feature() const { return value; }
        std::uint32_t child() const { return next; }
        std::uint32_t said() const { return row; }
    };
    static constexpr std::uint32_t kMostNarrow = (1U << 22) - 1;

    template <class Node>
    struct alignas(64) Line {
        std::array<Node, 8> nodes;
    };
    struct Tree {
        std::int64_t line;   // the first of its nodes; its root is the second node
        std::int64_t value;  // the first of its values
    };

    template <class Node>
    void lay_out(const ForestArrays& arrays, std::span<const std::int64_t> below, std::vector<Line<Node>>& lines);
    template <class Node>
    void add_up(const std::vector<Line<Node>>& lines, std::span<const float> rows, std::span<double> sum) const;

    std::int64_t n_features_, n_classes_;
    std::vector<Tree> trees_;
    std::vector<Line<Narrow>> narrow_;  // these, or
    std::vector<Line<Wide>> wide_;      // those
    std::vector<float> values_;
};

}  // namespace gapcut::scene
