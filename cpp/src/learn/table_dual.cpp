#include "gapcut/learn/table_dual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gapcut/linear/vectors.hpp"

namespace gapcut {
namespace {

constexpr std::int64_t kShards = 16;

// One table at a time.
class Feasible {
  public:
    explicit Feasible(int labels) : K_(labels), m_(labels * labels), sum_(labels), left_(labels), below_(labels) {}

    std::vector<double>& table() { return m_; }

    // m moved into the polytope of tables with these rows and columns (Altschuler, Weed, Rigollet 2017, algorithm 2).
    void make(const double* tail, const double* head) {
        for (int k = 0; k < K_; ++k) {
            double sum = 0.0;
            for (int l = 0; l < K_; ++l) sum += m_[k * K_ + l];
            if (sum <= tail[k]) continue;
            for (int l = 0; l < K_; ++l) m_[k * K_ + l] *= tail[k] / sum;
        }
        sum_columns();
        for (int l = 0; l < K_; ++l) {
            if (sum_[l] <= head[l]) continue;
            for (int k = 0; k < K_; ++k) m_[k * K_ + l] *= head[l] / sum_[l];
        }
        sum_columns();
        double in_rows = 0.0, in_columns = 0.0;
        for (int k = 0; k < K_; ++k) {
            double sum = 0.0;
            for (int l = 0; l < K_; ++l) sum += m_[k * K_ + l];
            in_rows += left_[k] = std::max(0.0, tail[k] - sum);
            in_columns += below_[k] = std::max(0.0, head[k] - sum_[k]);
        }
        const double missing = std::max(in_rows, in_columns);
        if (missing <= 0.0) return;
        for (int k = 0; k < K_; ++k)
            if (left_[k] > 0.0)
                for (int l = 0; l < K_; ++l) m_[k * K_ + l] += left_[k] * (below_[l] / missing);
    }

  private:
    void sum_columns() {
        std::ranges::fill(sum_, 0.0);
        for (int k = 0; k < K_; ++k)
            for (int l = 0; l < K_; ++l) sum_[l] += m_[k * K_ + l];
    }

    std::int64_t K_;
    std::vector<double> m_, sum_, left_, below_;
};

// z of every node divided by its sum.
std::vector<double> simplex_labels(const Problem& p, std::span<const float> z) {
    const auto K = p.n_labels;
    std::vector<double> labels(z.begin(), z.end());
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u) {
        double sum = 0.0;
        for (int k = 0; k < K; ++k) sum += labels[u * K + k];
        if (!(sum > 0.0 && std::isfinite(sum))) throw std::invalid_argument("a node has no label");
        for (int k = 0; k < K; ++k) labels[u * K + k] /= sum;
    }
    return labels;
}

void add_nodes(const Problem& p, const std::vector<double>& z, std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < K; ++k) {
            const double change = (p.labels[u] == k ? 1.0 : 0.0) - z[u * K + k];
            if (change == 0.0) continue;
            double* row = sum + k * p.node_dim();
            p.nodes.for_row(u, [&](std::int32_t d, double x) { row[d] += change * x; });
        }
}

void load(const Problem& p, const std::vector<double>& z, std::span<const std::span<const float>> tables,
          std::int64_t e, Feasible& feasible) {
    auto& m = feasible.table();
    for (std::size_t pair = 0; pair < m.size(); ++pair)
        m[pair] = tables[pair].empty() ? 0.0 : static_cast<double>(tables[pair][e]);
    feasible.make(z.data() + p.tail[e] * p.n_labels, z.data() + p.head[e] * p.n_labels);
}

void add_edges(const Problem& p, const std::vector<double>& z, std::span<const std::span<const float>> tables,
               std::int64_t begin, std::int64_t end, double* sum) {
    const auto K = p.n_labels;
    Feasible feasible(K);
    const auto& m = feasible.table();
    for (auto e = begin; e < end; ++e) {
        load(p, z, tables, e, feasible);
        const auto truth = p.labels[p.tail[e]] * K + p.labels[p.head[e]];
        for (int pair = 0; pair < K * K; ++pair) {
            const double change = (pair == truth ? 1.0 : 0.0) - m[pair];
            if (change == 0.0) continue;
            double* row = sum + p.unary_size() + pair * p.edge_dim();
            p.edges.for_row(e, [&](std::int32_t d, double x) { row[d] += change * x; });
        }
    }
}

void check(const Problem& p, std::span<const float> z, std::span<const std::span<const float>> tables) {
    const auto K = p.n_labels;
    if (std::ssize(z) != p.nodes.rows() * K) throw std::invalid_argument("relaxed labels have the wrong size");
    if (std::ssize(tables) != K * K) throw std::invalid_argument("one table entry for each label pair is needed");
    for (const auto& table : tables)
        if (!table.empty() && std::ssize(table) != p.edges.rows())
            throw std::invalid_argument("tables have the wrong size");
}

double loss_of(const Problem& p, const std::vector<double>& labels, std::int64_t begin, std::int64_t end) {
    double sum = 0.0;
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < p.n_labels; ++k)
            if (k != p.labels[u]) sum += p.label_loss(u, k) * labels[u * p.n_labels + k];
    return sum;
}

}  // namespace

RelaxedPlane table_sums(const Problem& p, std::span<const float> z, std::span<const std::span<const float>> tables,
                        int threads, const StopTest& stop) {
    const auto N = p.nodes.rows(), M = p.edges.rows();
    check(p, z, tables);
    const auto labels = simplex_labels(p, z);
    std::vector<std::vector<double>> part(kShards);
    parallel_for(
        kShards, threads,
        [&](std::int64_t shard, int) {
            auto& sum = part[shard];
            sum.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
            add_nodes(p, labels, shard * N / kShards, (shard + 1) * N / kShards, sum.data());
            add_edges(p, labels, tables, shard * M / kShards, (shard + 1) * M / kShards, sum.data());
        },
        stop);
    for (std::int64_t shard = 1; shard < kShards; ++shard)
        add_scaled(part[0].data(), 1.0, part[shard].data(), std::ssize(part[0]));
    RelaxedPlane result;
    for (const auto j : p.coordinates) result.plane.push_back(part[0][j]);
    for (std::int64_t g = 0; g < p.n_graphs(); ++g)  // each by itself: bounds count the roundings of a graph
        result.loss += loss_of(p, labels, p.node_offset[g], p.node_offset[g + 1]);
    return result;
}

TablePoint feasible_point(const Problem& p, std::span<const float> z, std::span<const std::span<const float>> tables,
                          int threads, const StopTest& stop) {
    check(p, z, tables);
    const auto labels = simplex_labels(p, z);
    const auto M = p.edges.rows();
    TablePoint point{std::vector<float>(labels.begin(), labels.end()),
                     std::vector<float>(tables.size() * static_cast<std::size_t>(M))};
    parallel_for(
        kShards, threads,
        [&](std::int64_t shard, int) {
            Feasible feasible(p.n_labels);
            for (auto e = shard * M / kShards; e < (shard + 1) * M / kShards; ++e) {
                load(p, labels, tables, e, feasible);
                for (std::int64_t pair = 0; pair < std::ssize(tables); ++pair)
                    point.tables[pair * M + e] = static_cast<float>(std::min(1.0, feasible.table()[pair]));
            }
        },
        stop);
    return point;
}

TablePoint mixed_point(const Problem& p, TablePointView one, TablePointView two,
                       std::span<const std::int32_t> labelings, std::span<const double> shares, int threads) {
    const auto N = p.nodes.rows(), M = p.edges.rows(), G = p.n_graphs(), K = std::int64_t{p.n_labels};
    const auto count = G > 0 ? std::ssize(shares) / G - 2 : 0;  // there may be no nodes
    if (count < 0 || std::ssize(shares) != (2 + count) * G || std::ssize(labelings) != count * N)
        throw std::invalid_argument("shares or labels have the wrong size");
    for (const auto& point : {one, two})
        if (std::ssize(point.labels) != N * K || std::ssize(point.tables) != K * K * M)
            throw std::invalid_argument("a point has the wrong size");
    TablePoint mixed{std::vector<float>(one.labels.size()), std::vector<float>(one.tables.size())};
    parallel_for(G, threads, [&](std::int64_t g, int) {
        const double a = shares[g], b = shares[G + g];
        double truth = 1.0 - a - b;
        for (std::int64_t l = 0; l < count; ++l) truth -= shares[(2 + l) * G + g];
        truth = std::max(0.0, truth);
        const auto mix = [&](float x, float y) {
            return std::clamp(static_cast<float>(a * static_cast<double>(x) + b * static_cast<double>(y)), 0.0F, 1.0F);
        };
        const auto add = [](float& x, double share) { x = std::min(1.0F, x + static_cast<float>(share)); };
        for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u) {
            for (auto at = u * K; at < (u + 1) * K; ++at) mixed.labels[at] = mix(one.labels[at], two.labels[at]);
        }
        const auto begin = p.edge_offset[g], end = p.edge_offset[g + 1];
        for (std::int64_t pair = 0; pair < K * K; ++pair)
            for (auto at = pair * M + begin; at < pair * M + end; ++at)
                mixed.tables[at] = mix(one.tables[at], two.tables[at]);
        const auto add_labeling = [&](const std::int32_t* labels, double share) {
            if (share == 0.0) return;
            for (auto u = p.node_offset[g]; u < p.node_offset[g + 1]; ++u) add(mixed.labels[u * K + labels[u]], share);
            for (auto e = begin; e < end; ++e)
                add(mixed.tables[(labels[p.tail[e]] * K + labels[p.head[e]]) * M + e], share);
        };
        for (std::int64_t l = 0; l < count; ++l) add_labeling(labelings.data() + l * N, shares[(2 + l) * G + g]);
        add_labeling(p.labels.data(), truth);
    });
    return mixed;
}

std::vector<double> table_planes(const Problem& p, std::span<const float> z,
                                 std::span<const std::span<const float>> tables, std::span<const std::int32_t> graphs,
                                 double* planes, int threads, const StopTest& stop) {
    check(p, z, tables);
    const auto labels = simplex_labels(p, z);
    std::vector<double> losses(graphs.size());
    parallel_for(
        std::ssize(graphs), threads,
        [&](std::int64_t row, int) {
            const auto g = graphs[row];
            std::vector<double> sum(static_cast<std::size_t>(p.full_dim()), 0.0);
            add_nodes(p, labels, p.node_offset[g], p.node_offset[g + 1], sum.data());
            add_edges(p, labels, tables, p.edge_offset[g], p.edge_offset[g + 1], sum.data());
            for (std::int64_t i = 0; i < p.dim(); ++i) planes[row * p.dim() + i] = sum[p.coordinates[i]];
            losses[row] = loss_of(p, labels, p.node_offset[g], p.node_offset[g + 1]);
        },
        stop);
    return losses;
}

bool acyclic(const Problem& p) {
    std::vector<std::int32_t> group(static_cast<std::size_t>(p.nodes.rows()));
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&](std::int32_t u) {
        while (group[u] != u) u = group[u] = group[group[u]];
        return u;
    };
    for (std::size_t e = 0; e < p.tail.size(); ++e) {
        const auto a = root(p.tail[e]), b = root(p.head[e]);
        if (a == b) return false;
        group[a] = b;
    }
    return true;
}

bool parallel_edges(const Problem& p) {
    std::vector<std::pair<std::int32_t, std::int32_t>> ends;
    for (std::size_t e = 0; e < p.tail.size(); ++e) ends.push_back(std::minmax({p.tail[e], p.head[e]}));
    std::ranges::sort(ends);
    return std::ranges::adjacent_find(ends) != ends.end();
}

}  // namespace gapcut
