#include "gapcut/learn/metric.hpp"

#include <algorithm>
#include <utility>

namespace gapcut {
namespace {

std::vector<double> node_degrees(const Problem& p) {
    std::vector<double> degree(static_cast<std::size_t>(p.nodes.rows()), 0.0);
    for (std::size_t e = 0; e < p.tail.size(); ++e) {
        degree[p.tail[e]] += 1.0;
        degree[p.head[e]] += 1.0;
    }
    return degree;
}

// The mean degree (in + out, at least 1) of each graph.
double degree_of(const Problem& p, std::int64_t g) {
    const auto edges = static_cast<double>(p.edge_offset[g + 1] - p.edge_offset[g]);
    return std::max(1.0, 2.0 * edges / static_cast<double>(p.node_offset[g + 1] - p.node_offset[g]));
}

Symmetric pair_form(const Problem& p, bool diagonal) {
    if (!diagonal) return gram(p.edges, {});
    Symmetric form(p.edge_dim());
    const auto sums = gram_row_sums(p.edges, {});
    for (std::int64_t d = 0; d < form.n; ++d) form(d, d) = sums[d];
    return form;
}

}  // namespace

std::vector<double> inverse_degrees(const Problem& p) {
    auto inverse = node_degrees(p);
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u)
            inverse[u] = 1.0 / std::max(inverse[u], degree_of(p, g) / 2.0);
    return inverse;
}

double loss_unit(const Problem& p) {
    double sum = 0.0;
    std::int64_t graphs = 0;
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) {
        const auto begin = p.node_offset[g], end = p.node_offset[g + 1];
        if (begin == end) continue;
        double own = 0.0;
        for (auto u = begin; u < end; ++u) own += p.costs.empty() ? p.loss[u] : p.total_loss(u) / p.n_labels;
        sum += own / static_cast<double>(end - begin);
        ++graphs;
    }
    return sum > 0.0 ? sum / static_cast<double>(graphs) : 1.0;
}

Metric::Metric(const Problem& p, double theta, double step, bool diagonal, int threads, FloatRows rows,
               std::vector<int> sharing)
    : theta_(theta),
      unary_(p, inverse_degrees(p), diagonal ? UnarySystem::Way::diagonal : UnarySystem::fitting(p), threads, rows),
      pair_form_(pair_form(p, diagonal)), sharing_(std::move(sharing)) {
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)
        if (p.node_offset[g] < p.node_offset[g + 1])
            mean_degree_ += degree_of(p, g) / static_cast<double>(p.n_graphs());
    mean_degree_ = std::max(mean_degree_, 1e-6);
    set_primal_weight(step);
}

void Metric::set_primal_weight(double step) {
    primal_weight_ = step;
    s_ = step * mean_degree_;
    pair_metric_ = scaled(pair_form_, s_ / (2.0 * theta_), 0.0);
}

void Metric::update(std::span<const double> kappa, double c) {
    pair_hessian_.clear();
    pair_factor_.clear();
    for (const int n : sharing_) {
        pair_hessian_.push_back(scaled(pair_metric_, 1.0, 1.0 / (n * c)));
        pair_factor_.emplace_back(pair_hessian_.back());
    }
    std::vector<double> factor;
    for (const double k : kappa) factor.push_back(s_ / (k * theta_));
    unary_.update(factor, 1.0 / c);
}

}  // namespace gapcut
