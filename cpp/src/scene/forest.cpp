#include "gapcut/scene/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace gapcut::scene {
namespace {

constexpr int kSteps = 3;             // of a row, before it is looked whether it has arrived
constexpr std::int64_t kBlock = 512;  // rows that a tree is asked for while it stays in the cache

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The largest float that is at most the threshold: floats compare with it as with the threshold itself.
float float_below(double threshold) {
    const float near = static_cast<float>(threshold);
    return static_cast<double>(near) <= threshold ? near
                                                  : std::nextafter(near, -std::numeric_limits<float>::infinity());
}

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

}  // namespace

Forest::Forest(const ForestArrays& f)
    : n_features_(f.n_features), n_classes_(f.n_classes), roots_(f.root.begin(), f.root.end()) {
    check(f);
    nodes_.resize(f.feature.size());
    const auto width = at(n_classes_);
    std::map<std::vector<float>, std::int32_t> known;  // leaves of few points say few different things
    std::vector<float> said(width);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (f.feature[i] >= 0) {
            nodes_[i] = {float_below(f.threshold[i]), f.feature[i], {f.left[i], f.right[i]}};
            continue;
        }
        std::copy_n(f.value.begin() + static_cast<std::ptrdiff_t>(i * width), width, said.begin());
        const auto [place, is_new] = known.try_emplace(said, static_cast<std::int32_t>(known.size()));
        if (is_new) values_.insert(values_.end(), said.begin(), said.end());
        const auto self = static_cast<std::int32_t>(i);
        nodes_[i] = {std::bit_cast<float>(place->second), 0, {self, self}};
    }
}

// leaf[r] becomes the leaf that row r ends in. Rows take a few steps in turn, and the processor begins with the next
// one while it waits for the memory of one; those that have arrived fall out of the list of the `moving`.
void Forest::find_leaves(std::int32_t root, const float* rows, std::int64_t n, std::int32_t* leaf,
                         std::int32_t* moving) const {
    const Node* const nodes = nodes_.data();
    std::fill_n(leaf, n, root);
    for (std::int64_t r = 0; r < n; ++r) moving[r] = static_cast<std::int32_t>(r);
    for (std::int64_t n_moving = n; n_moving > 0;) {
        std::int64_t left = 0;
        for (std::int64_t m = 0; m < n_moving; ++m) {
            const std::int32_t r = moving[m];
            const float* const row = rows + r * n_features_;
            std::int32_t i = leaf[r];
            for (int step = 0; step < kSteps; ++step) {
                const Node& node = nodes[i];
                i = node.child[row[node.feature] <= node.threshold ? 0 : 1];
            }
            leaf[r] = i;
            moving[left] = r;
            left += nodes[i].child[0] != i;
        }
        n_moving = left;
    }
}

void Forest::means(std::span<const float> rows, int threads, std::span<float> out, const StopTest& stop) const {
    const std::int64_t n = static_cast<std::int64_t>(rows.size()) / n_features_, k = n_classes_;
    if (static_cast<std::int64_t>(rows.size()) != n * n_features_ || static_cast<std::int64_t>(out.size()) != n * k)
        throw std::invalid_argument("rows do not fit the forest's features");
    parallel_for((n + kBlock - 1) / kBlock, threads,
                 [&](std::int64_t block, int) {
                     const std::int64_t first = block * kBlock, count = std::min(n - first, kBlock);
                     std::vector<double> sum(at(count * k), 0.0);
                     std::vector<std::int32_t> leaf(at(count)), moving(at(count));
                     for (const std::int32_t root : roots_) {
                         find_leaves(root, rows.data() + first * n_features_, count, leaf.data(), moving.data());
                         for (std::int64_t r = 0; r < count; ++r) {
                             const float* const said = values_.data() + k * row_of(nodes_[at(leaf[at(r)])]);
                             for (std::int64_t c = 0; c < k; ++c) sum[at(r * k + c)] += said[c];
                         }
                     }
                     const double share = 1.0 / static_cast<double>(roots_.size());
                     std::transform(sum.begin(), sum.end(), out.begin() + first * k,
                                    [share](double s) { return static_cast<float>(s * share); });
                 },
                 stop);
}

}  // namespace gapcut::scene
