#include "gapcut/oracle/sparse_weights.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gapcut {
namespace {

std::string clique_weight(std::int64_t j, const Problem& p) {
    std::size_t g = 0;
    while (j >= p.cliques[g].size()) j -= p.cliques[g++].size();
    const CliqueGroup& group = p.cliques[g];
    std::string labels;
    for (std::int32_t i = 0; i < group.order; ++i)
        labels += (i ? ", " : "") + std::to_string(group.tuple(j / group.dim())[i]);
    return "weight of clique group " + std::to_string(g) + ", labels (" + labels + "), feature " +
           std::to_string(j % group.dim());
}

std::string weight_name(std::int64_t full, const Problem& p) {
    if (full < p.unary_size())
        return "unary weight of label " + std::to_string(full / std::max<std::int64_t>(p.node_dim(), 1));
    if (full >= p.pairwise_end()) return clique_weight(full - p.pairwise_end(), p);
    const auto j = full - p.unary_size(), pair = j / p.edge_dim();
    return "pairwise weight of labels (" + std::to_string(pair / p.n_labels) + ", " +
           std::to_string(pair % p.n_labels) + "), edge feature " + std::to_string(j % p.edge_dim());
}

void check_weight(double w, std::int64_t full, const Problem& p) {
    if (std::isfinite(w) && (w >= 0.0 || full < p.unary_size())) return;
    throw std::invalid_argument("the cut oracle needs finite weights, pairwise and clique ones >= 0: the " +
                                weight_name(full, p) + " is " + std::to_string(w));
}

// The weights from full coordinate `begin` on, rows of `dims`; `at` is the compact place of the first of them and moves
// on.
SparseRows sparse_rows(const Problem& p, std::span<const double> compact, std::int64_t begin, std::int64_t rows,
                       std::int64_t dims, std::int64_t& at) {
    SparseRows block;
    std::vector<std::int32_t> item_of(static_cast<std::size_t>(rows), -1);
    block.first.assign(static_cast<std::size_t>(dims) + 1, 0);
    const auto start = at, end = begin + rows * dims;
    for (; at < p.dim() && p.coordinates[at] < end; ++at) {
        if (!(compact[at] > 0.0)) continue;
        const auto j = p.coordinates[at] - begin;
        auto& item = item_of[j / dims];
        if (item < 0) {
            item = static_cast<std::int32_t>(block.items.size());
            block.items.push_back(static_cast<std::int32_t>(j / dims));
        }
        ++block.first[j % dims + 1];
    }
    for (std::int64_t d = 0; d < dims; ++d) block.first[d + 1] += block.first[d];
    block.entries.resize(static_cast<std::size_t>(block.first[dims]));
    std::vector<std::int64_t> next(block.first.begin(), block.first.end() - 1);
    for (auto c = start; c < at; ++c) {
        if (!(compact[c] > 0.0)) continue;
        const auto j = p.coordinates[c] - begin;
        block.entries[next[j % dims]++] = {item_of[j / dims], compact[c]};
    }
    return block;
}

}  // namespace

SparseWeights::SparseWeights(const Problem& p, std::span<const double> compact) {
    if (std::ssize(compact) != p.dim()) throw std::invalid_argument("the weight vector has the wrong length");
    const auto K = p.n_labels;
    const auto dn = p.node_dim(), unary = p.unary_size();
    for (std::int64_t c = 0; c < p.dim(); ++c) check_weight(compact[c], p.coordinates[c], p);
    unary_by_feature.assign(static_cast<std::size_t>(unary), 0.0);
    std::int64_t at = 0;
    for (; at < p.dim() && p.coordinates[at] < unary; ++at) {
        const std::int64_t full = p.coordinates[at];
        unary_by_feature[(full % dn) * K + full / dn] = compact[at];
    }
    pairwise = sparse_rows(p, compact, unary, static_cast<std::int64_t>(K) * K, p.edge_dim(), at);
    for (const auto pair : pairwise.items) pairs.emplace_back(pair / K, pair % K);
    auto begin = p.pairwise_end();
    for (const CliqueGroup& group : p.cliques) {
        cliques.push_back(sparse_rows(p, compact, begin, group.n_tuples(), group.dim(), at));
        begin += group.size();
    }
}

}  // namespace gapcut
