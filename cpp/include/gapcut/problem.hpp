// The learning problem as the core sees it: all training graphs stacked, their labels, their loss, and which
// weights exist.
//
// Weights. The full weight vector is [unary (K, Dn) | pairwise (K, K, De) | (T, D) of each clique group], row-major,
// full_dim() long. Learners and oracles exchange the compact vector instead: the dim() coordinates that can differ from
// zero. `slot` maps a full coordinate to its compact place, or to -1 where the weight is zero by the domain
// (mathematics.md, Learning problems: a non-negative pairwise coordinate that is zero in every true joint feature map).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gapcut/row_matrix.hpp"

namespace gapcut {

// Terms over `order` nodes (mathematics.md, Cliques): clique (u_1, ..., u_d) scores w_t . phi(u_1, ..., u_d) if its
// labels are tuple t of the group, and nothing if they are no tuple of it.
struct CliqueGroup {
    std::int32_t order = 0;             // d >= 2
    RowMatrix features;                 // (M, D), all graphs stacked
    std::vector<std::int64_t> offset;   // n + 1: whose cliques are whose
    std::vector<std::int32_t> members;  // (M, d) nodes of the stacked set, distinct within a clique
    std::vector<std::int32_t> tuples;   // (T, d) labels, distinct

    std::int64_t n_cliques() const { return features.rows(); }
    std::int64_t dim() const { return features.cols(); }
    std::int64_t n_tuples() const { return static_cast<std::int64_t>(tuples.size()) / order; }
    std::int64_t size() const { return n_tuples() * dim(); }  // weights
    const std::int32_t* members_of(std::int64_t clique) const { return members.data() + clique * order; }
    const std::int32_t* tuple(std::int64_t t) const { return tuples.data() + t * order; }
};

struct Problem {
    int n_labels = 0;                       // K >= 1
    RowMatrix nodes;                        // (N, Dn), all graphs stacked
    RowMatrix edges;                        // (M, De)
    std::vector<std::int64_t> node_offset;  // n + 1
    std::vector<std::int64_t> edge_offset;  // n + 1
    std::vector<std::int32_t> tail, head;   // (M,) node of the stacked set: edge (u, v) has tail u and head v
    std::vector<std::int32_t> labels;       // (N,) in [0, K)
    std::vector<CliqueGroup> cliques;       // any number of groups, of any orders
    std::vector<double> loss;               // (N,) lc_u = rho weight_u / (2 sum of weights in its graph), >= 0
    std::vector<double> costs;       // (K, K) by true label and indicator, >= 0: factors of the loss; empty: all 1
    std::vector<std::int32_t> slot;  // (full_dim(),)
    std::vector<std::int32_t> coordinates;  // (dim(),) inverse of slot, ascending

    std::int64_t n_graphs() const { return static_cast<std::int64_t>(node_offset.size()) - 1; }
    std::int64_t node_dim() const { return nodes.cols(); }
    std::int64_t edge_dim() const { return edges.cols(); }
    std::int64_t unary_size() const { return n_labels * node_dim(); }
    std::int64_t pairwise_end() const { return unary_size() + n_labels * n_labels * edge_dim(); }
    std::int64_t full_dim() const {
        auto size = pairwise_end();
        for (const CliqueGroup& group : cliques) size += group.size();
        return size;
    }
    std::int64_t feature_width() const {  // columns of nodes, edges and all clique groups
        auto width = node_dim() + edge_dim();
        for (const CliqueGroup& group : cliques) width += group.dim();
        return width;
    }
    std::int64_t dim() const { return static_cast<std::int64_t>(coordinates.size()); }

    // What a wrong indicator costs: that of the true label where it is 0, any other where it is 1.
    double indicator_loss(std::int64_t node, std::int64_t label) const {
        return costs.empty() ? loss[node] : loss[node] * costs[std::int64_t{labels[node]} * n_labels + label];
    }
    // What a label costs that is not the true one: both its indicators.
    double label_loss(std::int64_t node, std::int64_t label) const {
        return indicator_loss(node, labels[node]) + indicator_loss(node, label);
    }
    // Over all labels.
    double largest_loss(std::int64_t node) const {
        double most = 0.0;
        for (int k = 0; k < n_labels; ++k) most = std::max(most, indicator_loss(node, k));
        return most;
    }
    double total_loss(std::int64_t node) const {
        double sum = 0.0;
        for (int k = 0; k < n_labels; ++k) sum += indicator_loss(node, k);
        return sum;
    }

    // Checks every shape and range above; throws std::invalid_argument naming what is wrong. Sets the identity slot
    // map if `slot` is empty.
    void finish();

    // Restricts the weights to these full coordinates (ascending).
    void restrict_to(std::vector<std::int32_t> full_coordinates);
};

// Graphs [begin, end) alone, with the same weights. Features are shared, not copied.
Problem part_of(const Problem& problem, std::int64_t begin, std::int64_t end);

// sum over all graphs of Psi(x_i, y_i), full_dim() long.
std::vector<double> true_feature_sum(const Problem& problem);

// (n, feature_width()): for each graph the sums of |phi_d(u)| over nodes, of |phi_d(u,v)| over edges, and the like over
// the cliques of each group; they bound every coordinate of every joint feature map and so the rounding of sums over
// them.
std::vector<double> absolute_feature_sums(const Problem& problem);

// (full_dim(),) the column, of feature_width() ones, that belongs to each weight.
std::vector<std::int32_t> feature_columns(const Problem& problem);

// (feature_width(),) whether no node, edge or clique has a negative value in this column.
std::vector<std::uint8_t> nonnegative_columns(const Problem& problem);

// R of Theorem B.4 (mathematics.md, Cutting plane): max over graphs of an upper bound of |Psi(x,y) - Psi(x,z)|, all z,
// over the coordinates in use.
double feature_radius(const Problem& problem);

}  // namespace gapcut
