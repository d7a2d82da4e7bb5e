#include "scores.hpp"

#include <algorithm>

#include "gapcut/kernels.hpp"

namespace gapcut {
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
            kernels().add_rows(p.node_dim(), K, p.nodes.dense_row(u), w.unary_by_feature.data(), row);
        for (int k = 0; k < K; ++k) row[k] += p.labels[u] == k ? -p.indicator_loss(u, k) : p.indicator_loss(u, k);
    }
}

}  // namespace gapcut
