#include "gapcut/scene/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

namespace gapcut::scene {
namespace {

constexpr std::int64_t kBlock = 256;  // rows that a tree is asked for while they stay in the cache
constexpr float kEndless = std::numeric_limits<float>::infinity();
constexpr std::size_t kPairs = 4;         // that stand together
constexpr std::int64_t kKnown = 1 << 20;  // rows of values that leaves of other trees may say as well

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The largest float that is at most the threshold: floats compare with it as with the threshold itself.
float float_below(double threshold) {
    const float near = static_cast<float>(threshold);
    return static_cast<double>(near) <= threshold ? near : std::nextafter(near, -kEndless);
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
    std::vector<char> met(at(n), 0);
    for (const std::int32_t root : f.root)
        if (met[at(root)]++) throw std::invalid_argument("a tree of the forest is there twice");
    for (std::int64_t i = 0; i < n; ++i) {
        if (f.feature[at(i)] < 0) continue;
        if (f.feature[at(i)] >= f.n_features)
            throw std::invalid_argument("a node of the forest asks for an unknown feature");
        for (const std::int32_t child : {f.left[at(i)], f.right[at(i)]})
            if (child <= i || child >= n) throw std::invalid_argument("a node of the forest leads nowhere");
        for (const std::int32_t child : {f.left[at(i)], f.right[at(i)]})
            if (met[at(child)]++) throw std::invalid_argument("a node of the forest is reached in two ways");
        if (!std::isfinite(f.threshold[at(i)])) throw std::invalid_argument("a threshold of the forest is not finite");
    }
    if (!std::all_of(f.value.begin(), f.value.end(), [](float v) { return std::isfinite(v); }))
        throw std::invalid_argument("a value of the forest is not finite");
}

// Nodes of the tree that begins at each node. Children come after their parents.
std::vector<std::int64_t> sizes(const ForestArrays& f) {
    std::vector<std::int64_t> below(f.feature.size(), 1);
    for (std::size_t i = below.size(); i-- > 0;)
        if (f.feature[i] >= 0) below[i] += below[at(f.left[i])] + below[at(f.right[i])];
    return below;
}

// The parents of a tree in the order in which their pairs of children are kept. What rows meet after each other stands
// together, four pairs at a time, those with more nodes below them first: two or three steps go through a cache line.
// Fours come before what is left over, so that they begin where lines do.
class PairOrder {
  public:
    PairOrder(const ForestArrays& f, std::span<const std::int64_t> below, std::int64_t root) : f_(f), below_(below) {
        std::vector<std::int64_t> starts{root};
        while (!starts.empty()) {
            const std::int64_t start = starts.back();
            starts.pop_back();
            take(start, starts);
        }
        order_.insert(order_.end(), left_over_.begin(), left_over_.end());
    }
    const std::vector<std::int64_t>& parents() const { return order_; }

  private:
    void take(std::int64_t start, std::vector<std::int64_t>& starts) {
        std::array<std::int64_t, kPairs> taken;
        std::array<std::int64_t, kPairs + 1> open;
        std::size_t n_taken = 0, n_open = 0;
        const auto meet = [&](std::int64_t i) {
            if (f_.feature[at(i)] >= 0) open[n_open++] = i;
        };
        meet(start);
        while (n_taken < kPairs && n_open > 0) {
            std::size_t best = 0;
            for (std::size_t o = 1; o < n_open; ++o)
                if (below_[at(open[o])] > below_[at(open[best])]) best = o;
            const std::int64_t i = taken[n_taken++] = open[best];
            open[best] = open[--n_open];
            meet(f_.left[at(i)]);
            meet(f_.right[at(i)]);
        }
        auto& to = n_taken == kPairs ? order_ : left_over_;
        to.insert(to.end(), taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(n_taken));
        starts.insert(starts.end(), open.begin(), open.begin() + static_cast<std::ptrdiff_t>(n_open));
    }

    const ForestArrays& f_;
    std::span<const std::int64_t> below_;
    std::vector<std::int64_t> order_, left_over_;
};

void prefetch([[maybe_unused]] const void* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p);
#endif
}

// Room for so many nodes, from a line of its own on.
template <class Line>
Line* add_lines(std::vector<Line>& lines, std::size_t n_nodes) {
    const std::size_t first = lines.size();
    lines.resize(first + (n_nodes + 7) / 8);
    return lines.data() + first;
}

}  // namespace

Forest::Forest(const ForestArrays& f) : n_features_(f.n_features), n_classes_(f.n_classes) {
    check(f);
    const std::vector<std::int64_t> below = sizes(f);
    const auto fits = [&](std::int32_t root) { return below[at(root)] + kKnown <= kMostNarrow; };
    if (n_features_ <= 256 && std::all_of(f.root.begin(), f.root.end(), fits))
        lay_out(f, below, narrow_);
    else
        lay_out(f, below, wide_);
}

template <class Node>
void Forest::lay_out(const ForestArrays& f, std::span<const std::int64_t> below, std::vector<Line<Node>>& lines) {
    const auto width = static_cast<std::ptrdiff_t>(n_classes_);
    std::map<std::vector<float>, std::uint32_t> known;  // leaves of few points say few different things
    std::vector<float> said(at(n_classes_));
    std::vector<std::uint32_t> place(f.feature.size());
    std::int64_t value = 0;
    for (const std::int32_t root : f.root) {
        if (static_cast<std::int64_t>(known.size()) > kKnown) {
            known.clear();
            value = static_cast<std::int64_t>(values_.size());
        }
        const PairOrder order(f, below, root);
        Line<Node>* const tree = add_lines(lines, 2 + 2 * order.parents().size());
        trees_.push_back({tree - lines.data(), value});
        const auto put = [&](std::int64_t i) {
            const std::uint32_t self = place[at(i)];
            Node& node = tree[self / 8].nodes[self % 8];
            if (f.feature[at(i)] >= 0) {
                node = Node::fork(float_below(f.threshold[at(i)]), static_cast<std::uint32_t>(f.feature[at(i)]),
                                  place[at(f.left[at(i)])]);
                return;
            }
            std::copy_n(f.value.begin() + i * width, width, said.begin());
            const auto [row, is_new] = known.try_emplace(said, static_cast<std::uint32_t>(known.size()));
            if (is_new) values_.insert(values_.end(), said.begin(), said.end());
            node = Node::leaf(self, row->second);
        };
        std::uint32_t next = 1;
        place[at(root)] = next++;
        for (const std::int64_t i : order.parents())
            for (const std::int32_t child : {f.left[at(i)], f.right[at(i)]}) place[at(child)] = next++;
        put(root);
        for (const std::int64_t i : order.parents())
            for (const std::int32_t child : {f.left[at(i)], f.right[at(i)]}) put(child);
    }
}

// Adds what the leaves of all trees say of the rows. Rows take a step in turn, and memory brings the next node of one
// while the others go on; those that have arrived fall out of the list of the `moving`.
template <class Node>
void Forest::add_up(const std::vector<Line<Node>>& lines, std::span<const float> rows, std::span<double> sum) const {
    const std::int64_t k = n_classes_, width = n_features_, n = static_cast<std::int64_t>(rows.size()) / width;
    // A value that is NaN is over every threshold.
    std::vector<float> own(rows.size());
    std::transform(rows.begin(), rows.end(), own.begin(), [](float v) { return std::isnan(v) ? kEndless : v; });
    std::vector<std::uint32_t> node(at(n)), moving(at(n));
    for (const Tree& tree : trees_) {
        const Node* const nodes = lines[at(tree.line)].nodes.data();
        std::fill(node.begin(), node.end(), 1);
        std::iota(moving.begin(), moving.end(), 0);
        for (std::size_t n_moving = moving.size(); n_moving > 0;) {
            std::size_t left = 0;
            for (std::size_t m = 0; m < n_moving; ++m) {
                const std::uint32_t r = moving[m], i = node[r];
                const float value = own[r * at(width) + nodes[i].feature()];
                const std::uint32_t next = nodes[i].child() + (value > nodes[i].threshold);
                prefetch(nodes + next);
                node[r] = next;
                moving[left] = r;
                left += next != i;
            }
            n_moving = left;
        }
        for (std::int64_t r = 0; r < n; ++r) {
            const float* const said = values_.data() + tree.value + k * nodes[node[at(r)]].said();
            for (std::int64_t c = 0; c < k; ++c) sum[at(r * k + c)] += said[c];
        }
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
                     const auto mine = rows.subspan(at(first * n_features_), at(count * n_features_));
                     if (wide_.empty())
                         add_up(narrow_, mine, sum);
                     else
                         add_up(wide_, mine, sum);
                     const double share = 1.0 / static_cast<double>(trees_.size());
                     std::transform(sum.begin(), sum.end(), out.begin() + first * k,
                                    [share](double s) { return static_cast<float>(s * share); });
                 },
                 stop);
}

}  // namespace gapcut::scene
