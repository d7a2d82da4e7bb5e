#include "gapcut/oracle/tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "gapcut/kernels.hpp"

namespace gapcut {
namespace {

// Edges at every node of the stacked set.
struct Incidence {
    std::vector<std::int64_t> at;
    std::vector<std::int32_t> edge;

    explicit Incidence(const Problem& p)
        : at(static_cast<std::size_t>(p.nodes.rows()) + 1, 0), edge(2 * p.tail.size()) {
        for (std::size_t e = 0; e < p.tail.size(); ++e) ++at[p.tail[e] + 1], ++at[p.head[e] + 1];
        std::partial_sum(at.begin(), at.end(), at.begin());
        auto next = at;
        for (std::size_t e = 0; e < p.tail.size(); ++e)
            for (const auto u : {p.tail[e], p.head[e]}) edge[next[u]++] = static_cast<std::int32_t>(e);
    }
};

struct Cycle {
    std::int64_t graph = -1, node = -1;
};

// Breadth-first forests; stops at the first edge that closes a cycle.
Cycle walk(const Problem& p, Forests& f) {
    const Incidence at_node(p);
    f.parent.assign(static_cast<std::size_t>(p.nodes.rows()), -1);
    std::vector<std::uint8_t> seen(f.parent.size(), 0);
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        for (auto root = p.node_offset[g]; root < p.node_offset[g + 1]; ++root) {
            if (seen[root]) continue;
            seen[root] = 1;
            f.order.push_back(static_cast<std::int32_t>(root));
            for (auto i = f.order.size() - 1; i < f.order.size(); ++i) {
                const auto u = f.order[i];
                for (auto q = at_node.at[u]; q < at_node.at[u + 1]; ++q) {
                    const auto e = at_node.edge[q];
                    const auto v = p.tail[e] == u ? p.head[e] : p.tail[e];
                    if (v == f.parent[u] || f.parent[v] == u) continue;
                    if (seen[v]) return {g, v - p.node_offset[g]};
                    seen[v] = 1;
                    f.parent[v] = u;
                    f.order.push_back(v);
                }
            }
        }
    return {};
}

class TreeSolver final : public GraphSolver {
  public:
    explicit TreeSolver(std::shared_ptr<const Forests> forests) : forests_(std::move(forests)) {}

    double solve(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                 const std::vector<double>& gains, std::int32_t* labels) override {
        const Problem& p = problem.problem();
        const Forests& f = *forests_;
        const auto begin = p.node_offset[graph], end = p.node_offset[graph + 1];
        const std::int64_t K = p.n_labels, size = K * w.width;
        own_ = gains;
        tables_.assign(static_cast<std::size_t>((end - begin) * size), 0.0);
        message_.resize(static_cast<std::size_t>(w.width));
        double value = 0.0;
        for (auto i = end; i-- > begin;) {
            const auto u = f.order[i];
            double* own = own_.data() + (u - begin) * w.width;
            if (f.parent[u] < 0) {
                value += *std::max_element(own, own + K);
                continue;
            }
            double* table = tables_.data() + (u - begin) * size;
            for (auto q = f.link_at[u]; q < f.link_at[u + 1]; ++q)
                problem.add_table(w, f.links[q].edge, !f.links[q].child_is_tail, table);
            kernels().max_plus(K, w.width, own, table, message_.data());
            double* above = own_.data() + (f.parent[u] - begin) * w.width;
            for (std::int64_t l = 0; l < K; ++l) above[l] += message_[l];
        }
        for (auto i = begin; i < end; ++i) choose(f, w.width, K, begin, f.order[i], labels);
        return value;
    }

  private:
    // The best label of u given its parent's, the first in case of ties.
    void choose(const Forests& f, std::int64_t width, std::int64_t K, std::int64_t begin, std::int32_t u,
                std::int32_t* labels) const {
        const double* own = own_.data() + (u - begin) * width;
        const bool root = f.parent[u] < 0;
        const double* column = tables_.data() + (u - begin) * K * width + (root ? 0 : labels[f.parent[u] - begin]);
        double best = -std::numeric_limits<double>::infinity();
        labels[u - begin] = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            const double value = own[k] + (root ? 0.0 : column[k * width]);
            if (value > best) best = value, labels[u - begin] = static_cast<std::int32_t>(k);
        }
    }

    std::shared_ptr<const Forests> forests_;
    std::vector<double> own_, tables_, message_;  // a table a node: its label by the parent's
};

}  // namespace

Forests Forests::of(const Problem& p) {
    Forests f;
    if (const Cycle cycle = walk(p, f); cycle.graph >= 0)
        throw std::invalid_argument("oracle='tree' needs graphs without cycles, but graph " +
                                    std::to_string(cycle.graph) + " has one at node " + std::to_string(cycle.node) +
                                    ": use oracle='trws' (one-hot, with a bound) or oracle='cut'");
    f.link_at.assign(f.parent.size() + 1, 0);
    const auto child = [&](std::size_t e) { return f.parent[p.tail[e]] == p.head[e] ? p.tail[e] : p.head[e]; };
    for (std::size_t e = 0; e < p.tail.size(); ++e) ++f.link_at[child(e) + 1];
    std::partial_sum(f.link_at.begin(), f.link_at.end(), f.link_at.begin());
    f.links.resize(p.tail.size());
    auto next = f.link_at;
    for (std::size_t e = 0; e < p.tail.size(); ++e)
        f.links[next[child(e)]++] = {static_cast<std::int32_t>(e), child(e) == p.tail[e]};
    return f;
}

std::unique_ptr<GraphSolver> make_tree_solver(std::shared_ptr<const Forests> forests) {
    return std::make_unique<TreeSolver>(std::move(forests));
}

}  // namespace gapcut
