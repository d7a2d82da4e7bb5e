#include "gapcut/learn/metric.hpp"

#include <algorithm>
#include <map>

namespace gapcut {
namespace {

// sum_r weight_r row_r row_r'
Symmetric gram(const RowMatrix& rows, std::span<const double> weight) {
    const auto dims = rows.cols();
    Symmetric sum(dims);
    std::vector<double> dense(static_cast<std::size_t>(dims), 0.0);
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
        const double factor = weight.empty() ? 1.0 : weight[r];
        rows.for_row(r, [&](std::int32_t i, double x) {
            double* out = sum.values.data() + i * dims;
            if (rows.sparse()) {
                rows.for_row(r, [&](std::int32_t j, double y) { out[j] += factor * x * y; });
            } else {
                const double* y = rows.dense_row(r);
                for (std::int64_t j = 0; j < dims; ++j) out[j] += factor * x * y[j];
            }
        });
    }
    return sum;
}

std::vector<double> node_degrees(const Problem& p) {
    std::vector<double> degree(static_cast<std::size_t>(p.nodes.rows()), 0.0);
    for (std::size_t e = 0; e < p.tail.size(); ++e) {
        degree[p.tail[e]] += 1.0;
        degree[p.head[e]] += 1.0;
    }
    return degree;
}

}  // namespace

Metric::Metric(const Problem& p, double theta, double step) : theta_(theta), s_(step) {
    const auto degree = node_degrees(p);
    inverse_degree_.resize(degree.size());
    double mean = 0.0;
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) {
        const auto begin = p.node_offset[g], end = p.node_offset[g + 1];
        if (begin == end) continue;
        const auto edges = static_cast<double>(p.edge_offset[g + 1] - p.edge_offset[g]);
        const double here = std::max(1.0, 2.0 * edges / static_cast<double>(end - begin));
        mean += here / static_cast<double>(p.n_graphs());
        for (auto u = begin; u < end; ++u) inverse_degree_[u] = 1.0 / std::max(degree[u], here / 2.0);
    }
    s_ = step * std::max(mean, 1e-6);
    unary_gram_ = gram(p.nodes, inverse_degree_);
    pair_metric_ = scaled(gram(p.edges, {}), s_ / (2.0 * theta_), 0.0);
}

void Metric::update(std::span<const double> kappa, double c) {
    pair_hessian_ = scaled(pair_metric_, 1.0, 1.0 / c);
    kappa_.assign(kappa.begin(), kappa.end());
    which_.resize(kappa_.size());
    factor_.clear();
    std::map<double, std::size_t> seen;
    for (std::size_t k = 0; k < kappa_.size(); ++k) {
        const auto [place, fresh] = seen.try_emplace(kappa_[k], factor_.size());
        if (fresh) factor_.emplace_back(scaled(unary_gram_, unary_factor(static_cast<int>(k)), 1.0 / c));
        which_[k] = place->second;
    }
    c_ = c;
}

}  // namespace gapcut
