#include "scores.hpp"

#include <algorithm>

#include "gapcut/target.hpp"

namespace gapcut {
namespace {

GAPCUT_HOT void add_dense_scores(const double* features, std::int64_t dims, const double* by_feature, int labels,
                                 double* scores) {
    for (std::int64_t d = 0; d < dims; ++d) {
        const double x = features[d];
        const double* row = by_feature + d * labels;
        for (int k = 0; k < labels; ++k) scores[k] += x * row[k];
    }
}

}  // namespace

void unary_gains(const Problem& p, const SparseWeights& w, std::int64_t begin, std::int64_t end, double* gains) {
    const auto K = p.n_labels;
    for (auto u = begin; u < end; ++u) {
        double* row = gains + (u - begin) * K;
        std::fill(row, row + K, 0.0);
        if (p.nodes.sparse())
            p.nodes.for_row(u, [&](std::int32_t d, double x) {
                const double* by_label = w.unary_by_feature.data() + static_cast<std::int64_t>(d) * K;
                for (int k = 0; k < K; ++k) row[k] += x * by_label[k];
            });
        else
            add_dense_scores(p.nodes.dense_row(u), p.node_dim(), w.unary_by_feature.data(), K, row);
        for (int k = 0; k < K; ++k) row[k] += p.labels[u] == k ? -p.loss[u] : p.loss[u];
    }
}

}  // namespace gapcut
