#include "gapcut/scene/forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace gapcut::scene {
namespace {

constexpr std::int64_t kBlock = 256;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::size_t kTogether = 8;

// A node in one quarter of a cache line. A leaf leads to itself.
struct Node {
    float threshold;
    std::int32_t feature;
    std::array<std::int32_t, 2> child;
};

// The largest float that is at most the threshold: floats compare with it as with the threshold itself.
float float_below(double threshold) {
    const float near = static_cast<float>(threshold);
    return static_cast<double>(near) <= threshold ? near
                                                  : std::nextafter(near, -std::numeric_limits<float>::infinity());
}

std::vector<Node> packed(const ForestArrays& f) {
    std::vector<Node> nodes(f.feature.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto self = static_cast<std::int32_t>(i);
        nodes[i] = f.feature[i] < 0 ? Node{0.0F, 0, {self, self}}
                                    : Node{float_below(f.threshold[i]), f.feature[i], {f.left[i], f.right[i]}};
    }
    return nodes;
}

// The leaves of up to kTogether rows, which go down side by side: one does not wait for the memory of another.
void leaves_of(const std::vector<Node>& nodes, std::int32_t root, const float* rows, std::int64_t width,
               std::span<std::int32_t> leaf) {
    std::fill(leaf.begin(), leaf.end(), root);
    for (bool moving = true; moving;) {
        moving = false;
        for (std::size_t r = 0; r < leaf.size(); ++r) {
            const Node& node = nodes[at(leaf[r])];
            const float value = rows[static_cast<std::int64_t>(r) * width + node.feature];
            const std::int32_t next = node.child[value <= node.threshold ? 0 : 1];
            moving |= next != leaf[r];
            leaf[r] = next;
        }
    }
}

}  // namespace

void check(const ForestArrays& f) {
    const auto n = static_cast<std::int64_t>(f.feature.size());
    if (f.n_classes < 1 || f.n_features < 1 || f.root.empty()) throw std::invalid_argument("the forest is empty");
    if (static_cast<std::int64_t>(f.left.size()) != n || static_cast<std::int64_t>(f.right.size()) != n ||
        static_cast<std::int64_t>(f.threshold.size()) != n ||
        static_cast<std::int64_t>(f.value.size()) != n * f.n_classes)
        throw std::invalid_argument("the forest's arrays differ in length");
    for (const std::int32_t root : f.root)
        if (root < 0 || root >= n) throw std::invalid_argument("a tree of the forest starts outside of it");
    for (std::int64_t i = 0; i < n; ++i) {
        if (f.feature[at(i)] < 0) continue;
        if (f.feature[at(i)] >= f.n_features)
            throw std::invalid_argument("a node of the forest asks for an unknown feature");
        for (const std::int32_t child : {f.left[at(i)], f.right[at(i)]})
            if (child <= i || child >= n) throw std::invalid_argument("a node of the forest leads nowhere");
        if (!std::isfinite(f.threshold[at(i)])) throw std::invalid_argument("a threshold of the forest is not finite");
    }
    if (!std::all_of(f.value.begin(), f.value.end(), [](float v) { return std::isfinite(v); }))
        throw std::invalid_argument("a value of the forest is not finite");
}

void forest_means(const ForestArrays& f, std::span<const float> rows, int threads, std::span<float> out,
                  const StopTest& stop) {
    const std::int64_t n = static_cast<std::int64_t>(rows.size()) / f.n_features, k = f.n_classes;
    if (static_cast<std::int64_t>(rows.size()) != n * f.n_features || static_cast<std::int64_t>(out.size()) != n * k)
        throw std::invalid_argument("rows do not fit the forest's features");
    const std::vector<Node> nodes = packed(f);
    parallel_for((n + kBlock - 1) / kBlock, threads,
                 [&](std::int64_t block, int) {
                     const std::int64_t first = block * kBlock, last = std::min(n, first + kBlock);
                     std::vector<double> sum(at((last - first) * k), 0.0);
                     // A tree stays in cache for the whole block.
                     for (const std::int32_t root : f.root)
                         for (std::int64_t i = first; i < last; i += kTogether) {
                             std::array<std::int32_t, kTogether> places;
                             const std::span leaf(places.data(), std::min(kTogether, at(last - i)));
                             leaves_of(nodes, root, rows.data() + i * f.n_features, f.n_features, leaf);
                             for (std::size_t r = 0; r < leaf.size(); ++r)
                                 for (std::int64_t c = 0; c < k; ++c)
                                     sum[at((i - first) * k + c) + r * at(k)] += f.value[at(leaf[r] * k + c)];
                         }
                     const double share = 1.0 / static_cast<double>(f.root.size());
                     std::transform(sum.begin(), sum.end(), out.begin() + first * k,
                                    [share](double s) { return static_cast<float>(s * share); });
                 },
                 stop);
}

}  // namespace gapcut::scene
