#include "gapcut/scene/forest.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace gapcut::scene {
namespace {

constexpr std::int64_t kBlock = 256;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int32_t leaf_of(const ForestArrays& f, std::int32_t node, const float* row) {
    while (f.feature[at(node)] >= 0) {
        const double value = row[f.feature[at(node)]];
        node = value <= f.threshold[at(node)] ? f.left[at(node)] : f.right[at(node)];
    }
    return node;
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
    parallel_for((n + kBlock - 1) / kBlock, threads,
                 [&](std::int64_t block, int) {
                     const std::int64_t first = block * kBlock, last = std::min(n, first + kBlock);
                     std::vector<double> sum(at((last - first) * k), 0.0);
                     // A tree stays in cache for the whole block.
                     for (const std::int32_t root : f.root)
                         for (std::int64_t i = first; i < last; ++i) {
                             const std::int64_t leaf = leaf_of(f, root, rows.data() + i * f.n_features);
                             for (std::int64_t c = 0; c < k; ++c)
                                 sum[at((i - first) * k + c)] += f.value[at(leaf * k + c)];
                         }
                     const double share = 1.0 / static_cast<double>(f.root.size());
                     std::transform(sum.begin(), sum.end(), out.begin() + first * k,
                                    [share](double s) { return static_cast<float>(s * share); });
                 },
                 stop);
}

}  // namespace gapcut::scene
