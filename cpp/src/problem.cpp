#include "gapcut/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace gapcut {
namespace {

void require(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

void check_offsets(const std::vector<std::int64_t>& offset, std::int64_t total, const char* what) {
    require(!offset.empty() && offset.front() == 0 && offset.back() == total &&
                std::is_sorted(offset.begin(), offset.end()),
            what);
}

void check_edges(const Problem& p) {
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        for (std::int64_t e = p.edge_offset[g]; e < p.edge_offset[g + 1]; ++e) {
            const std::int64_t lo = p.node_offset[g], hi = p.node_offset[g + 1];
            require(p.tail[e] >= lo && p.tail[e] < hi && p.head[e] >= lo && p.head[e] < hi, "an edge leaves its graph");
            require(p.tail[e] != p.head[e], "an edge is a self loop");
        }
}

void check_members(const Problem& p, const CliqueGroup& group) {
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        for (auto c = group.offset[g]; c < group.offset[g + 1]; ++c)
            for (std::int32_t i = 0; i < group.order; ++i) {
                const auto u = group.members_of(c)[i];
                require(u >= p.node_offset[g] && u < p.node_offset[g + 1], "a clique leaves its graph");
                for (std::int32_t j = 0; j < i; ++j)
                    require(group.members_of(c)[j] != u, "a clique holds a node twice");
            }
}

void check_group(const Problem& p, const CliqueGroup& group) {
    require(group.order >= 2, "a clique needs at least two nodes");
    require(std::ssize(group.members) == group.n_cliques() * group.order, "members need one row a clique");
    require(std::ssize(group.tuples) % group.order == 0, "tuples need one label a member");
    check_offsets(group.offset, group.n_cliques(), "a clique offset does not partition the cliques");
    require(group.offset.size() == p.node_offset.size(), "node_offset and a clique offset differ in length");
    for (const auto k : group.tuples) require(k >= 0 && k < p.n_labels, "a label of a clique tuple is out of range");
    check_members(p, group);
}

// Calls f(group, first weight, first column) for every clique group.
template <class F>
void for_groups(const Problem& p, F&& f) {
    auto weight = p.pairwise_end(), column = p.node_dim() + p.edge_dim();
    for (const CliqueGroup& group : p.cliques) {
        f(group, weight, column);
        weight += group.size();
        column += group.dim();
    }
}

// The tuple that a clique's true labels are, or -1.
std::int64_t true_tuple(const Problem& p, const CliqueGroup& group, std::int64_t clique) {
    const auto* members = group.members_of(clique);
    for (std::int64_t t = 0; t < group.n_tuples(); ++t) {
        const auto* labels = group.tuple(t);
        if (std::equal(labels, labels + group.order, members, [&](auto k, auto u) { return p.labels[u] == k; }))
            return t;
    }
    return -1;
}

}  // namespace

void Problem::finish() {
    const auto n_nodes = nodes.rows(), n_edges = edges.rows();
    require(n_labels >= 1, "a problem needs at least one label");
    require(full_dim() <= INT32_MAX, "more than 2^31 - 1 weights");
    require(n_nodes <= INT32_MAX, "more than 2^31 - 1 nodes");
    check_offsets(node_offset, n_nodes, "node_offset does not partition the nodes");
    check_offsets(edge_offset, n_edges, "edge_offset does not partition the edges");
    require(node_offset.size() == edge_offset.size(), "node_offset and edge_offset differ in length");
    require(std::ssize(tail) == n_edges && std::ssize(head) == n_edges, "tail and head need one entry per edge");
    require(std::ssize(labels) == n_nodes && std::ssize(loss) == n_nodes, "labels and loss need one entry per node");
    check_edges(*this);
    for (const CliqueGroup& group : cliques) check_group(*this, group);
    for (const auto y : labels) require(y >= 0 && y < n_labels, "a label is out of range");
    for (const auto l : loss) require(std::isfinite(l) && l >= 0, "a loss weight is negative or not finite");
    require(costs.empty() || std::ssize(costs) == n_labels * n_labels, "costs need one entry per pair of labels");
    for (const auto x : costs) require(std::isfinite(x) && x >= 0, "a cost is negative or not finite");
    if (slot.empty()) {
        std::vector<std::int32_t> all(static_cast<std::size_t>(full_dim()));
        std::iota(all.begin(), all.end(), 0);
        restrict_to(std::move(all));
    }
}

void Problem::restrict_to(std::vector<std::int32_t> full_coordinates) {
    slot.assign(static_cast<std::size_t>(full_dim()), -1);
    std::int32_t place = 0, last = -1;
    for (const auto j : full_coordinates) {
        require(j > last && j < full_dim(), "coordinates must ascend and lie inside the weight vector");
        slot[j] = place++;
        last = j;
    }
    coordinates = std::move(full_coordinates);
}

Problem part_of(const Problem& p, std::int64_t begin, std::int64_t end) {
    require(0 <= begin && begin <= end && end <= p.n_graphs(), "a part of graphs that do not exist");
    const auto nodes = p.node_offset[begin], last_node = p.node_offset[end];
    const auto edges = p.edge_offset[begin], last_edge = p.edge_offset[end];
    const auto slice = []<class T>(const std::vector<T>& all, std::int64_t from, std::int64_t to, T less = {}) {
        std::vector<T> some(all.begin() + from, all.begin() + to);
        for (T& x : some) x = static_cast<T>(x - less);
        return some;
    };
    const auto first = static_cast<std::int32_t>(nodes);
    Problem part;
    part.n_labels = p.n_labels;
    part.nodes = p.nodes.part(nodes, last_node);
    part.edges = p.edges.part(edges, last_edge);
    part.node_offset = slice(p.node_offset, begin, end + 1, nodes);
    part.edge_offset = slice(p.edge_offset, begin, end + 1, edges);
    part.tail = slice(p.tail, edges, last_edge, first);
    part.head = slice(p.head, edges, last_edge, first);
    part.labels = slice(p.labels, nodes, last_node);
    part.loss = slice(p.loss, nodes, last_node);
    for (const CliqueGroup& group : p.cliques) {
        const auto from = group.offset[begin], to = group.offset[end];
        CliqueGroup& own = part.cliques.emplace_back();
        own.order = group.order;
        own.features = group.features.part(from, to);
        own.offset = slice(group.offset, begin, end + 1, from);
        own.members = slice(group.members, from * group.order, to * group.order, first);
        own.tuples = group.tuples;
    }
    part.costs = p.costs;
    part.slot = p.slot;
    part.coordinates = p.coordinates;
    return part;
}

std::vector<double> true_feature_sum(const Problem& p) {
    std::vector<double> sum(static_cast<std::size_t>(p.full_dim()), 0.0);
    const auto dn = p.node_dim(), de = p.edge_dim();
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u) {
        double* row = sum.data() + p.labels[u] * dn;
        p.nodes.for_row(u, [&](std::int32_t d, double x) { row[d] += x; });
    }
    for (std::int64_t e = 0; e < p.edges.rows(); ++e) {
        double* row = sum.data() + p.unary_size() + (p.labels[p.tail[e]] * p.n_labels + p.labels[p.head[e]]) * de;
        p.edges.for_row(e, [&](std::int32_t d, double x) { row[d] += x; });
    }
    for_groups(p, [&](const CliqueGroup& group, std::int64_t weight, std::int64_t) {
        for (std::int64_t c = 0; c < group.n_cliques(); ++c) {
            const auto t = true_tuple(p, group, c);
            if (t < 0) continue;
            double* row = sum.data() + weight + t * group.dim();
            group.features.for_row(c, [&](std::int32_t d, double x) { row[d] += x; });
        }
    });
    return sum;
}

std::vector<double> absolute_feature_sums(const Problem& p) {
    const auto width = p.feature_width();
    std::vector<double> sums(static_cast<std::size_t>(p.n_graphs() * width), 0.0);
    const auto add = [](const RowMatrix& rows, std::int64_t begin, std::int64_t end, double* sum) {
        for (auto r = begin; r < end; ++r) rows.for_row(r, [&](std::int32_t d, double x) { sum[d] += std::abs(x); });
    };
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) {
        double* row = sums.data() + g * width;
        add(p.nodes, p.node_offset[g], p.node_offset[g + 1], row);
        add(p.edges, p.edge_offset[g], p.edge_offset[g + 1], row + p.node_dim());
        for_groups(p, [&](const CliqueGroup& group, std::int64_t, std::int64_t column) {
            add(group.features, group.offset[g], group.offset[g + 1], row + column);
        });
    }
    return sums;
}

std::vector<std::int32_t> feature_columns(const Problem& p) {
    std::vector<std::int32_t> columns;
    columns.reserve(static_cast<std::size_t>(p.full_dim()));
    const auto add = [&](std::int64_t rows, std::int64_t dims, std::int64_t first) {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t d = 0; d < dims; ++d) columns.push_back(static_cast<std::int32_t>(first + d));
    };
    add(p.n_labels, p.node_dim(), 0);
    add(static_cast<std::int64_t>(p.n_labels) * p.n_labels, p.edge_dim(), p.node_dim());
    for_groups(p, [&](const CliqueGroup& group, std::int64_t, std::int64_t column) {
        add(group.n_tuples(), group.dim(), column);
    });
    return columns;
}

std::vector<std::uint8_t> nonnegative_columns(const Problem& p) {
    std::vector<std::uint8_t> ok(static_cast<std::size_t>(p.feature_width()), 1);
    const auto look = [&](const RowMatrix& rows, std::int64_t first) {
        for (std::int64_t r = 0; r < rows.rows(); ++r)
            rows.for_row(r, [&](std::int32_t d, double x) {
                if (x < 0) ok[first + d] = 0;
            });
    };
    look(p.nodes, 0);
    look(p.edges, p.node_dim());
    for_groups(p, [&](const CliqueGroup& group, std::int64_t, std::int64_t column) { look(group.features, column); });
    return ok;
}

namespace {

// Upper bound of |Psi(x,y) - Psi(x,z)|_2 over all z, one graph, whose absolute feature sums are given.
double graph_radius(const Problem& p, std::int64_t g, const std::vector<std::int32_t>& columns,
                    const double* absolute) {
    const auto K = p.n_labels;
    const auto dn = p.node_dim();
    // unary: coordinate (k,d) ranges between minus the negative and the positive part of sum (2 y_uk - 1) phi_d(u)
    std::vector<double> up(static_cast<std::size_t>(K * dn), 0.0), down(static_cast<std::size_t>(K * dn), 0.0);
    for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u)
        for (int k = 0; k < K; ++k) {
            const double sign = p.labels[u] == k ? 1.0 : -1.0;
            p.nodes.for_row(u,
                            [&](std::int32_t d, double x) { (sign * x > 0 ? up : down)[k * dn + d] += std::abs(x); });
        }
    double square = 0.0;
    for (std::int64_t j = 0; j < K * dn; ++j)
        if (p.slot[j] >= 0) square += std::pow(std::max(up[j], down[j]), 2);
    // all others are sums of |phi| over some of the graph's edges or cliques, for either labeling
    for (auto j = p.unary_size(); j < p.full_dim(); ++j)
        if (p.slot[j] >= 0) square += absolute[columns[j]] * absolute[columns[j]];
    return std::sqrt(square);
}

}  // namespace

double feature_radius(const Problem& p) {
    const auto columns = feature_columns(p);
    const auto absolute = absolute_feature_sums(p);
    double radius = 0.0;
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        radius = std::max(radius, graph_radius(p, g, columns, absolute.data() + g * p.feature_width()));
    return radius;
}

}  // namespace gapcut
