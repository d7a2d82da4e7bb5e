#include "kernel.hpp"

#include <algorithm>
#include <utility>

#include "finite_entries.hpp"

namespace gapcut::infer {
namespace {

constexpr std::size_t kMostNeighbours = 1000;  // of a neighbour, whose list is searched at every elimination
constexpr std::int64_t kSmallTable = 64;       // entries that a new pair may have anyhow, else no more than it replaces
constexpr std::int64_t kMostCombinations = 4096;  // of the labels of a node and of its two neighbours

double finite_range(std::span<const double> entries) {
    FiniteEntries finite;
    for (const double x : entries) finite.add(x);
    return finite.range();
}

Toll toll(double x) { return x < kInfinity ? Toll{x, 0} : Toll{0.0, 1}; }

}  // namespace

Kernel::Kernel(const Reduction& reduced) {
    const auto n = reduced.component().size();
    own_.resize(n), of_node_.resize(n), gone_.assign(n, 0), number_.assign(n, -1);
    for (const std::int32_t u : reduced.core())
        own_[u].assign(reduced.unary_of(u), reduced.unary_of(u) + reduced.n_labels(u));
    for (std::size_t p = 0; p < reduced.pairs().size(); ++p) {
        if (!reduced.alive(static_cast<std::int64_t>(p))) continue;
        const Pair& pair = reduced.pairs()[p];
        Joint joint{pair.low, pair.high, {}};
        for (std::int32_t k = 0; k < labels_of(pair.low); ++k)
            for (std::int32_t l = 0; l < labels_of(pair.high); ++l) joint.table.push_back(pair.at(true, k, l));
        of_node_[pair.low].push_back(static_cast<std::int32_t>(joints_.size()));
        of_node_[pair.high].push_back(static_cast<std::int32_t>(joints_.size()));
        joints_.push_back(std::move(joint));
    }
    std::vector<std::int32_t> todo = reduced.core();
    while (!todo.empty()) {
        const std::int32_t w = todo.back();
        todo.pop_back();
        if (gone_[w] || !eliminable(w)) continue;
        eliminate(w);
        for (const std::int32_t joint : steps_.back().joints) todo.push_back(other_end(joint, w));
    }
    flatten(reduced.core());
}

double Kernel::entry(std::int32_t joint, std::int32_t u, std::int32_t k, std::int32_t l) const {
    const Joint& j = joints_[joint];
    return j.low == u ? j.table[static_cast<std::size_t>(k) * own_[j.high].size() + l]
                      : j.table[static_cast<std::size_t>(l) * own_[j.high].size() + k];
}

bool Kernel::eliminable(std::int32_t u) const {
    if (of_node_[u].size() > 2) return false;
    std::int64_t combinations = labels_of(u);
    for (const std::int32_t joint : of_node_[u]) combinations *= labels_of(other_end(joint, u));
    if (of_node_[u].size() < 2 || combinations > kMostCombinations) return combinations <= kMostCombinations;
    const std::int64_t a = labels_of(other_end(of_node_[u][0], u)), b = labels_of(other_end(of_node_[u][1], u));
    for (const std::int32_t joint : of_node_[u])
        if (of_node_[other_end(joint, u)].size() > kMostNeighbours) return false;
    return a * b <= std::max(kSmallTable, labels_of(u) * (a + b));
}

// What the node adds at best goes to its neighbour, or to the pair of both.
void Kernel::eliminate(std::int32_t w) {
    gone_[w] = 1;
    steps_.push_back({w, own_[w], std::exchange(of_node_[w], {})});
    const Step& step = steps_.back();
    for (const std::int32_t joint : step.joints) std::erase(of_node_[other_end(joint, w)], joint);
    if (step.joints.empty()) return;
    const std::int32_t p = step.joints.front(), q = step.joints.back();
    const std::int32_t a = other_end(p, w), b = other_end(q, w);
    const bool one = p == q;
    std::vector<double> table;
    for (std::int32_t i = 0; i < labels_of(a); ++i)
        for (std::int32_t j = 0; j < (one ? 1 : labels_of(b)); ++j) {
            double best = kInfinity;
            for (std::int32_t k = 0; k < labels_of(w); ++k)
                best = std::min(best, step.own[k] + entry(p, w, k, i) + (one ? 0.0 : entry(q, w, k, j)));
            table.push_back(best);
        }
    if (!one) return join(a, b, table);
    for (std::size_t i = 0; i < table.size(); ++i) own_[a][i] += table[i];
}

// Adds a table, b's labels fastest, to the pair of two nodes, which is made if there is none.
void Kernel::join(std::int32_t a, std::int32_t b, const std::vector<double>& table) {
    for (const std::int32_t joint : of_node_[a]) {
        if (other_end(joint, a) != b) continue;
        Joint& old = joints_[joint];
        const auto rows = static_cast<std::size_t>(labels_of(a)), columns = static_cast<std::size_t>(labels_of(b));
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                old.table[old.low == a ? i * columns + j : j * rows + i] += table[i * columns + j];
        return;
    }
    const auto joint = static_cast<std::int32_t>(joints_.size());
    of_node_[a].push_back(joint), of_node_[b].push_back(joint);
    joints_.push_back({a, b, table});
}

void Kernel::flatten(const std::vector<std::int32_t>& core) {
    for (const std::int32_t u : core)
        if (!gone_[u]) number_[u] = size(), nodes_.push_back(u);
    at_.assign(1, 0), arc_at_.assign(1, 0);
    double of_nodes = 0.0, of_pairs = 0.0;
    for (const std::int32_t u : nodes_) {
        of_nodes += finite_range(own_[u]);
        for (const double x : own_[u]) unaries_.push_back(toll(x));
        at_.push_back(static_cast<std::int64_t>(unaries_.size()));
        for (const std::int32_t joint : of_node_[u]) {
            of_pairs += finite_range(joints_[joint].table);
            add_table(u, joint);
        }
        arc_at_.push_back(static_cast<std::int64_t>(arcs_.size()));
    }
    if (!nodes_.empty()) scale_ += of_nodes / static_cast<double>(nodes_.size());
    if (!arcs_.empty()) scale_ += of_pairs / static_cast<double>(arcs_.size());
    if (!(scale_ > 0.0)) scale_ = 1.0;
}

void Kernel::add_table(std::int32_t u, std::int32_t joint) {
    const std::int32_t v = other_end(joint, u);
    arcs_.push_back({number_[v], static_cast<std::int64_t>(tables_.size())});
    for (std::int32_t k = 0; k < labels_of(u); ++k)
        for (std::int32_t l = 0; l < labels_of(v); ++l) tables_.push_back(toll(entry(joint, u, k, l)));
}

void Kernel::complete(std::vector<std::int32_t>& labels) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        const std::int32_t w = step->node;
        double least = kInfinity;
        for (std::int32_t k = 0; k < labels_of(w); ++k) {
            double cost = step->own[k];
            for (const std::int32_t joint : step->joints) cost += entry(joint, w, k, labels[other_end(joint, w)]);
            if (cost < least) least = cost, labels[w] = k;
        }
    }
}

}  // namespace gapcut::infer
