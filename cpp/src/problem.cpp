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
    require(!offset.empty() && offset.front() == 0 && offset.back() == total && std::is_sorted(offset.begin(), offset.end()),
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
    for (const auto y : labels) require(y >= 0 && y < n_labels, "a label is out of range");
    for (const auto l : loss) require(std::isfinite(l) && l >= 0, "a loss weight is negative or not finite");
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
    return sum;
}

std::vector<double> absolute_feature_sums(const Problem& p) {
    const auto width = p.node_dim() + p.edge_dim();
    std::vector<double> sums(static_cast<std::size_t>(p.n_graphs() * width), 0.0);
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) {
        double* node_sum = sums.data() + g * width;
        double* edge_sum = node_sum + p.node_dim();
        for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u)
            p.nodes.for_row(u, [&](std::int32_t d, double x) { node_sum[d] += std::abs(x); });
        for (auto e = p.edge_offset[g]; e < p.edge_offset[g + 1]; ++e)
            p.edges.for_row(e, [&](std::int32_t d, double x) { edge_sum[d] += std::abs(x); });
    }
    return sums;
}

std::vector<std::uint8_t> nonnegative_edge_columns(const Problem& p) {
    std::vector<std::uint8_t> ok(static_cast<std::size_t>(p.edge_dim()), 1);
    for (std::int64_t e = 0; e < p.edges.rows(); ++e)
        p.edges.for_row(e, [&](std::int32_t d, double x) {
            if (x < 0) ok[d] = 0;
        });
    return ok;
}

namespace {

// Upper bound of |Psi(x,y) - Psi(x,z)|_2 over all z, one graph.
double graph_radius(const Problem& p, std::int64_t g) {
    const auto K = p.n_labels;
    const auto dn = p.node_dim(), de = p.edge_dim();
    // unary: coordinate (k,d) ranges between minus the negative and the positive part of sum (2 y_uk - 1) phi_d(u)
    std::vector<double> up(static_cast<std::size_t>(K * dn), 0.0), down(static_cast<std::size_t>(K * dn), 0.0);
    for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u)
        for (int k = 0; k < K; ++k) {
            const double sign = p.labels[u] == k ? 1.0 : -1.0;
            p.nodes.for_row(u, [&](std::int32_t d, double x) { (sign * x > 0 ? up : down)[k * dn + d] += std::abs(x); });
        }
    double square = 0.0;
    for (std::int64_t j = 0; j < K * dn; ++j)
        if (p.slot[j] >= 0) square += std::pow(std::max(up[j], down[j]), 2);
    std::vector<double> edge_sum(static_cast<std::size_t>(de), 0.0);
    for (auto e = p.edge_offset[g]; e < p.edge_offset[g + 1]; ++e)
        p.edges.for_row(e, [&](std::int32_t d, double x) { edge_sum[d] += std::abs(x); });
    for (std::int64_t j = 0; j < K * K * de; ++j)
        if (p.slot[K * dn + j] >= 0) square += edge_sum[j % de] * edge_sum[j % de];
    return std::sqrt(square);
}

}  // namespace

double feature_radius(const Problem& p) {
    double radius = 0.0;
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) radius = std::max(radius, graph_radius(p, g));
    return radius;
}

}  // namespace gapcut
