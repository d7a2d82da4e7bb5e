#include "gapcut/oracle/sparse_weights.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace gapcut {
namespace {

void check_weight(double w, bool pairwise, std::int64_t full, const Problem& p) {
    if (std::isfinite(w) && (w >= 0.0 || !pairwise)) return;
    std::string where = "unary weight of label " + std::to_string(full / std::max<std::int64_t>(p.node_dim(), 1));
    if (pairwise) {
        const auto j = full - p.unary_size(), pair = j / p.edge_dim();
        where = "pairwise weight of labels (" + std::to_string(pair / p.n_labels) + ", " + std::to_string(pair % p.n_labels) +
                "), edge feature " + std::to_string(j % p.edge_dim());
    }
    throw std::invalid_argument("the cut oracle needs finite weights, pairwise ones >= 0: the " + where + " is " +
                                std::to_string(w));
}

}  // namespace

SparseWeights::SparseWeights(const Problem& p, std::span<const double> compact) {
    if (std::ssize(compact) != p.dim()) throw std::invalid_argument("the weight vector has the wrong length");
    const auto K = p.n_labels;
    const auto dn = p.node_dim(), de = p.edge_dim(), unary = p.unary_size();
    unary_by_feature.assign(static_cast<std::size_t>(unary), 0.0);
    std::vector<std::int32_t> pair_index(static_cast<std::size_t>(K) * K, -1);
    first.assign(static_cast<std::size_t>(de) + 1, 0);
    for (std::int64_t c = 0; c < p.dim(); ++c) {
        const std::int64_t full = p.coordinates[c];
        const double w = compact[c];
        check_weight(w, full >= unary, full, p);
        if (full < unary) {
            unary_by_feature[(full % dn) * K + full / dn] = w;
        } else if (w > 0.0) {
            const auto pair = static_cast<std::int32_t>((full - unary) / de);
            if (pair_index[pair] < 0) {
                pair_index[pair] = static_cast<std::int32_t>(pairs.size());
                pairs.emplace_back(pair / K, pair % K);
            }
            ++first[(full - unary) % de + 1];
        }
    }
    for (std::int64_t d = 0; d < de; ++d) first[d + 1] += first[d];
    entries.resize(static_cast<std::size_t>(first[de]));
    std::vector<std::int64_t> next(first.begin(), first.end() - 1);
    for (std::int64_t c = 0; c < p.dim(); ++c) {
        const std::int64_t full = p.coordinates[c];
        if (full < unary || !(compact[c] > 0.0)) continue;
        entries[next[(full - unary) % de]++] = {pair_index[(full - unary) / de], compact[c]};
    }
}

}  // namespace gapcut
