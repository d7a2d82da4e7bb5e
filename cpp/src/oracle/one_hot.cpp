#include "gapcut/oracle/one_hot.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gapcut/kernels.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut {
OneHotProblem::OneHotProblem(const Problem& problem) : problem_(problem), absolute_(absolute_feature_sums(problem)) {
    if (!problem.cliques.empty())
        throw std::invalid_argument(
            "this oracle takes unary and pairwise terms only, but the problem has cliques: use oracle='cut'");
}

OneHotWeights OneHotProblem::prepare(std::span<const double> compact) const {
    const Problem& p = problem_;
    if (std::ssize(compact) != p.dim()) throw std::invalid_argument("the weight vector has the wrong length");
    const std::int64_t K = p.n_labels, dn = p.node_dim(), de = p.edge_dim();
    OneHotWeights w;
    w.width = (K + 7) / 8 * 8;
    w.unary.assign(static_cast<std::size_t>(dn * w.width), 0.0);
    w.pairwise.assign(static_cast<std::size_t>(de * K * w.width), 0.0);
    w.transposed.assign(w.pairwise.size(), 0.0);
    w.used.assign(static_cast<std::size_t>(de), 0);
    w.absolute.assign(static_cast<std::size_t>(dn + de), 0.0);
    for (std::int64_t c = 0; c < p.dim(); ++c) {
        const double x = compact[c];
        if (!std::isfinite(x)) throw std::invalid_argument("the oracle needs finite weights");
        if (x == 0.0) continue;
        const std::int64_t full = p.coordinates[c];
        if (full < p.unary_size()) {
            w.unary[full % dn * w.width + full / dn] = x;
            w.absolute[full % dn] += std::abs(x);
            continue;
        }
        const std::int64_t j = full - p.unary_size(), d = j % de, k = j / de / K, l = j / de % K;
        w.pairwise[(d * K + k) * w.width + l] = x;
        w.transposed[(d * K + l) * w.width + k] = x;
        w.used[d] = 1;
        w.absolute[dn + d] += std::abs(x);
    }
    return w;
}

void OneHotProblem::gains(const OneHotWeights& w, std::int64_t graph, std::vector<double>& out) const {
    const Problem& p = problem_;
    const auto begin = p.node_offset[graph], end = p.node_offset[graph + 1];
    out.assign(static_cast<std::size_t>((end - begin) * w.width), 0.0);
    for (auto u = begin; u < end; ++u) {
        double* row = out.data() + (u - begin) * w.width;
        if (p.nodes.sparse())
            p.nodes.for_row(u, [&](std::int32_t d, double x) {
                kernels().add_scaled(row, x, w.unary.data() + d * w.width, w.width);
            });
        else
            kernels().add_rows(p.node_dim(), w.width, p.nodes.dense_row(u), w.unary.data(), row);
        for (int k = 0; k < p.n_labels; ++k)
            if (k != p.labels[u]) row[k] += p.label_loss(u, k);
    }
}

void OneHotProblem::add_table(const OneHotWeights& w, std::int64_t edge, bool transposed, double* out) const {
    const std::int64_t size = problem_.n_labels * w.width;
    const double* tables = transposed ? w.transposed.data() : w.pairwise.data();
    problem_.edges.for_row(edge, [&](std::int32_t d, double x) {
        if (w.used[d]) kernels().add_scaled(out, x, tables + d * size, size);
    });
}

// Twice the error of gains and tables (sums of at most Dn + 1 or De products), and that of the sums over nodes and
// edges for both labelings, z and y. All are sums whose absolute terms total at most `mass`.
double OneHotProblem::rounding(const OneHotWeights& w, std::int64_t graph) const {
    const Problem& p = problem_;
    const std::int64_t dn = p.node_dim(), de = p.edge_dim();
    const double* absolute = absolute_.data() + graph * (dn + de);
    double mass = 0.0;
    for (std::int64_t d = 0; d < dn + de; ++d) mass += w.absolute[d] * absolute[d];
    for (auto u = p.node_offset[graph]; u < p.node_offset[graph + 1]; ++u) mass += 2.0 * p.largest_loss(u);
    const auto nodes = p.node_offset[graph + 1] - p.node_offset[graph];
    const auto terms =
        dn + de + p.n_labels * p.n_labels + 2 * (nodes + p.edge_offset[graph + 1] - p.edge_offset[graph]) + 16;
    return 4.0 * gamma_n(static_cast<double>(terms)) * mass;
}

void OneHotProblem::add_unary(std::int64_t node, std::int64_t label, double share, double* plane) const {
    const std::int32_t* slot = problem_.slot.data() + label * problem_.node_dim();
    problem_.nodes.for_row(node, [&](std::int32_t d, double x) {
        if (slot[d] >= 0) plane[slot[d]] += share * x;
    });
}

void OneHotProblem::add_pair(std::int64_t edge, std::int64_t pair, double share, double* plane) const {
    const std::int32_t* slot = problem_.slot.data() + problem_.unary_size() + pair * problem_.edge_dim();
    problem_.edges.for_row(edge, [&](std::int32_t d, double x) {
        if (slot[d] >= 0) plane[slot[d]] += share * x;
    });
}

double OneHotProblem::add_plane(std::int64_t graph, const std::int32_t* labels, double* plane) const {
    const Problem& p = problem_;
    const auto begin = p.node_offset[graph];
    double loss = 0.0;
    for (auto u = begin; u < p.node_offset[graph + 1]; ++u) {
        const std::int32_t found = labels[u - begin];
        if (found == p.labels[u]) continue;
        loss += p.label_loss(u, found);
        add_unary(u, p.labels[u], 1.0, plane);
        add_unary(u, found, -1.0, plane);
    }
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const std::int64_t truth = p.labels[p.tail[e]] * p.n_labels + p.labels[p.head[e]];
        const std::int64_t found = labels[p.tail[e] - begin] * p.n_labels + labels[p.head[e] - begin];
        if (found == truth) continue;
        add_pair(e, truth, 1.0, plane);
        add_pair(e, found, -1.0, plane);
    }
    return loss;
}

double OneHotProblem::add_fractional_plane(std::int64_t graph, const double* z, const double* m, double* plane) const {
    const Problem& p = problem_;
    const std::int64_t K = p.n_labels;
    const auto begin = p.node_offset[graph];
    double loss = 0.0;
    for (auto u = begin; u < p.node_offset[graph + 1]; ++u)
        for (std::int64_t k = 0; k < K; ++k) {
            const double change = (p.labels[u] == k ? 1.0 : 0.0) - z[(u - begin) * K + k];
            if (change == 0.0) continue;
            loss += p.indicator_loss(u, k) * std::abs(change);
            add_unary(u, k, change, plane);
        }
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const double *tail = z + (p.tail[e] - begin) * K, *head = z + (p.head[e] - begin) * K;
        const double* pairs = m == nullptr ? nullptr : m + (e - p.edge_offset[graph]) * K * K;
        const std::int64_t truth = p.labels[p.tail[e]] * K + p.labels[p.head[e]];
        for (std::int64_t j = 0; j < K * K; ++j) {
            const double share = pairs == nullptr ? tail[j / K] * head[j % K] : pairs[j];
            const double change = (j == truth ? 1.0 : 0.0) - share;
            if (change != 0.0) add_pair(e, j, change, plane);
        }
    }
    return loss;
}

}  // namespace gapcut
