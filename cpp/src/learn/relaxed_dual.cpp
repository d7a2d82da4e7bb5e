#include "gapcut/learn/relaxed_dual.hpp"

#include <algorithm>
#include <stdexcept>

#include "gapcut/kernels.hpp"

namespace gapcut {
namespace {

constexpr std::int64_t kShards = 16, kRows = 64, kNarrow = 2;

struct Share {  // of a label at a node
    std::int32_t label;
    double amount;
};

void support(std::span<const float> z, std::int64_t u, int K, std::vector<Share>& out) {
    out.clear();
    for (std::int32_t k = 0; k < K; ++k)
        if (z[u * K + k] != 0.0F) out.push_back({k, static_cast<double>(z[u * K + k])});
}

// change (of the truth less z) of nodes [begin, end), in rows of `width`
std::vector<double> changes(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end,
                            std::int64_t width) {
    const auto K = p.n_labels;
    std::vector<double> change(static_cast<std::size_t>((end - begin) * width), 0.0);
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < K; ++k)
            change[(u - begin) * width + k] = (p.labels[u] == k ? 1.0 : 0.0) - static_cast<double>(z[u * K + k]);
    return change;
}

void add_sparse_nodes(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    const auto change = changes(p, z, begin, end, K);
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < K; ++k) {
            const double factor = change[(u - begin) * K + k];
            double* row = sum + k * p.node_dim();
            if (factor != 0.0) p.nodes.for_row(u, [&](std::int32_t d, double x) { row[d] += factor * x; });
        }
}

void add_nodes(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    if (p.nodes.sparse()) return add_sparse_nodes(p, z, begin, end, sum);
    const auto tile = kernels().tile, Dn = p.node_dim(), labels = (p.n_labels + tile - 1) / tile * tile;
    const auto width = (Dn + tile - 1) / tile * tile;
    std::vector<double> rows(static_cast<std::size_t>(kRows * width), 0.0);
    std::vector<double> products(static_cast<std::size_t>(labels * width), 0.0);
    for (auto from = begin; from < end; from += kRows) {
        const auto n = std::min(kRows, end - from);
        const auto change = changes(p, z, from, from + n, labels);
        for (std::int64_t i = 0; i < n; ++i) std::copy_n(p.nodes.dense_row(from + i), Dn, rows.data() + i * width);
        kernels().add_products(n, labels, change.data(), labels, width, rows.data(), width, products.data(), width);
    }
    for (std::int64_t k = 0; k < p.n_labels; ++k)
        for (std::int64_t d = 0; d < Dn; ++d) sum[k * Dn + d] += products[k * width + d];
}

// The same sums where there are so few features that looking for labels of 0 would cost more than they do.
void add_narrow_edges(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    const auto De = p.edge_dim();
    std::vector<double> change(static_cast<std::size_t>(K));
    for (auto e = begin; e < end; ++e) {
        const float *tail = z.data() + std::int64_t{p.tail[e]} * K, *head = z.data() + std::int64_t{p.head[e]} * K;
        const double* features = p.edges.dense_row(e);
        for (std::int32_t k = 0; k < K; ++k) {
            const bool truth = k == p.labels[p.tail[e]];
            if (tail[k] == 0.0F && !truth) continue;
            for (std::int32_t l = 0; l < K; ++l) change[l] = -static_cast<double>(std::min(tail[k], head[l]));
            if (truth) change[p.labels[p.head[e]]] += 1.0;
            for (std::int64_t d = 0; d < De; ++d) {
                double* out = sum + p.unary_size() + k * K * De + d;
                for (std::int32_t l = 0; l < K; ++l) out[l * De] += change[l] * features[d];
            }
        }
    }
}

void add_edges(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    if (!p.edges.sparse() && p.edge_dim() <= kNarrow) return add_narrow_edges(p, z, begin, end, sum);
    const auto K = p.n_labels;
    std::vector<Share> at_tail, at_head;
    for (auto e = begin; e < end; ++e) {
        support(z, p.tail[e], K, at_tail);
        support(z, p.head[e], K, at_head);
        const auto yu = p.labels[p.tail[e]], yv = p.labels[p.head[e]];
        bool truth_seen = false;
        const auto add = [&](std::int32_t k, std::int32_t l, double change) {
            if (change == 0.0) return;
            p.edges.add_row(e, change, sum + p.unary_size() + (k * K + l) * p.edge_dim());
        };
        for (const auto& [k, zk] : at_tail)
            for (const auto& [l, zl] : at_head) {
                const bool truth = k == yu && l == yv;
                truth_seen |= truth;
                add(k, l, (truth ? 1.0 : 0.0) - std::min(zk, zl));
            }
        if (!truth_seen) add(yu, yv, 1.0);
    }
}

}  // namespace

std::vector<double> relaxed_difference(const Problem& p, std::span<const float> z, int threads, const StopTest& stop) {
    if (std::ssize(z) != p.nodes.rows() * p.n_labels) throw std::invalid_argument("relaxed labels have the wrong size");
    std::vector<std::vector<double>> part(kShards);
    const auto operations = 10 * p.n_labels * (p.nodes.rows() + p.edges.rows());  // about
    parallel_for(
        kShards, worthwhile_threads(operations, threads),
        [&](std::int64_t shard, int) {
            auto& sum = part[shard];
            sum.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
            const auto N = p.nodes.rows(), M = p.edges.rows();
            add_nodes(p, z, shard * N / kShards, (shard + 1) * N / kShards, sum.data());
            add_edges(p, z, shard * M / kShards, (shard + 1) * M / kShards, sum.data());
        },
        stop);
    for (std::int64_t shard = 1; shard < kShards; ++shard)
        for (std::size_t j = 0; j < part[0].size(); ++j) part[0][j] += part[shard][j];
    return std::move(part[0]);
}

RelaxedPlane relaxed_sums(const Problem& p, std::span<const float> z, int threads, const StopTest& stop) {
    const auto sum = relaxed_difference(p, z, threads, stop);
    RelaxedPlane result;
    result.plane.reserve(p.coordinates.size());
    for (const auto j : p.coordinates) result.plane.push_back(sum[j]);
    for (std::int64_t g = 0; g < p.n_graphs(); ++g) {  // each by itself: bounds count the roundings of a graph
        double own = 0.0;
        for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u)
            for (int k = 0; k < p.n_labels; ++k) {
                const auto level = static_cast<double>(z[u * p.n_labels + k]);
                own += p.indicator_loss(u, k) * (p.labels[u] == k ? 1.0 - level : level);
            }
        result.loss += own;
    }
    return result;
}

}  // namespace gapcut
