#include "gapcut/learn/relaxed_dual.hpp"

#include <algorithm>
#include <stdexcept>

namespace gapcut {
namespace {

constexpr std::int64_t kShards = 16;

struct Share {  // of a label at a node
    std::int32_t label;
    double amount;
};

void support(std::span<const float> z, std::int64_t u, int K, std::vector<Share>& out) {
    out.clear();
    for (std::int32_t k = 0; k < K; ++k)
        if (z[u * K + k] != 0.0F) out.push_back({k, static_cast<double>(z[u * K + k])});
}

void add_nodes(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < K; ++k) {
            const double change = (p.labels[u] == k ? 1.0 : 0.0) - static_cast<double>(z[u * K + k]);
            if (change == 0.0) continue;
            double* row = sum + k * p.node_dim();
            p.nodes.for_row(u, [&](std::int32_t d, double x) { row[d] += change * x; });
        }
}

void add_edges(const Problem& p, std::span<const float> z, std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    std::vector<Share> at_tail, at_head;
    for (auto e = begin; e < end; ++e) {
        support(z, p.tail[e], K, at_tail);
        support(z, p.head[e], K, at_head);
        const auto yu = p.labels[p.tail[e]], yv = p.labels[p.head[e]];
        bool truth_seen = false;
        const auto add = [&](std::int32_t k, std::int32_t l, double change) {
            if (change == 0.0) return;
            double* row = sum + p.unary_size() + (k * K + l) * p.edge_dim();
            p.edges.for_row(e, [&](std::int32_t d, double x) { row[d] += change * x; });
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
    parallel_for(
        kShards, threads,
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

RelaxedPlane relaxed_plane(const Problem& p, std::span<const float> z, int threads, const StopTest& stop) {
    const auto sum = relaxed_difference(p, z, threads, stop);
    const auto n = static_cast<double>(p.n_graphs());
    RelaxedPlane result;
    result.plane.reserve(p.coordinates.size());
    for (const auto j : p.coordinates) result.plane.push_back(sum[j] / n);
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u)
        for (int k = 0; k < p.n_labels; ++k) {
            const auto level = static_cast<double>(z[u * p.n_labels + k]);
            result.loss += p.loss[u] * (p.labels[u] == k ? 1.0 - level : level);
        }
    result.loss /= n;
    return result;
}

}  // namespace gapcut
