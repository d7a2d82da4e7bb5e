#include "gapcut/oracle/slack_bound.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gapcut/edge_shards.hpp"
#include "gapcut/kernels.hpp"
#include "gapcut/linear/vectors.hpp"
#include "gapcut/rounding.hpp"
#include "scores.hpp"

namespace gapcut {
namespace {

constexpr std::int64_t kChunk = EndSums<double>::kChunk, kStride = EndSums<double>::kStride, kNodes = 512;

struct PairWeights {
    std::int32_t k, l;
    std::vector<std::pair<std::int32_t, double>> by_feature;
};

std::vector<PairWeights> by_pair(const SparseWeights& w) {
    std::vector<PairWeights> pairs;
    for (const auto& [k, l] : w.pairs) pairs.push_back({k, l, {}});
    const auto& [items, first, entries] = w.pairwise;
    for (std::size_t d = 0; d + 1 < first.size(); ++d)
        for (auto q = first[d]; q < first[d + 1]; ++q)
            pairs[entries[q].item].by_feature.emplace_back(static_cast<std::int32_t>(d), entries[q].weight);
    return pairs;
}

// A run of edges, what the splits add to the nodes it touches, and w'Psi(y) of the edges.
struct Shard {
    EdgeRange range;
    EndSums<double> sums;
    double truth = 0.0;
};

class Pass {
  public:
    Pass(const Problem& p, std::span<const double> weights, const ArcMultipliers& multipliers)
        : p_(p), w_(p, weights), pairs_(by_pair(w_)), multipliers_(multipliers) {
        check_multipliers(p, multipliers);
        if (!p.cliques.empty())
            throw std::invalid_argument("arc multipliers bound pairwise terms only, the problem has cliques");
        for (const EdgeRange& range : edge_shards(p, true)) shards_.push_back({range, {}});
    }

    void edges(std::int64_t shard);
    double nodes(std::int64_t begin, std::int64_t end) const;  // sum of max(0, .) + loss - w'Psi(y) of nodes
    // About: ten an arc, as many a label of a node.
    std::int64_t operations() const {
        return 10 * (std::ssize(pairs_) * p_.edges.rows() + p_.n_labels * p_.nodes.rows());
    }
    double truth() const {
        double sum = 0.0;
        for (const Shard& s : shards_) sum += s.truth;
        return sum;
    }

  private:
    const Problem& p_;
    SparseWeights w_;
    std::vector<PairWeights> pairs_;
    const ArcMultipliers& multipliers_;
    std::vector<Shard> shards_;
};

void Pass::edges(std::int64_t shard) {
    Shard& s = shards_[shard];
    const auto K = p_.n_labels;
    s.sums.clear(p_, s.range);
    std::vector<double> columns(static_cast<std::size_t>(p_.edge_dim() * kStride)), b(kChunk);
    const std::vector<float> even(kChunk, 1.0F);
    s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
        std::ranges::fill(columns, 0.0);
        for (std::int64_t i = 0; i < n; ++i)
            p_.edges.for_row(begin + i, [&](std::int32_t d, double x) { columns[d * kStride + i] += x; });
        s.sums.start_chunk();
        double truth = 0.0;
        for (const PairWeights& pair : pairs_) {
            std::ranges::fill(b, 0.0);
            for (const auto& [d, weight] : pair.by_feature)
                add_scaled(b.data(), weight, columns.data() + d * kStride, n);
            const auto at = pair.k * K + pair.l;
            const bool known = !multipliers_.tail[at].empty();
            kernels().add_split(n, b.data(), known ? multipliers_.tail[at].data() + begin : even.data(),
                                known ? multipliers_.head[at].data() + begin : even.data(), s.sums.tail(pair.k),
                                s.sums.head(pair.l));
            for (std::int64_t i = 0; i < n; ++i)
                if (p_.labels[p_.tail[begin + i]] == pair.k && p_.labels[p_.head[begin + i]] == pair.l) truth += b[i];
        }
        s.truth += truth;
        s.sums.scatter(begin, n);
    });
    s.sums.end_chunks();  // memory that the next shard finds warm
}

double Pass::nodes(std::int64_t begin, std::int64_t end) const {
    const auto K = p_.n_labels;
    std::vector<double> gains(static_cast<std::size_t>((end - begin) * K));
    unary_gains(p_, w_, begin, end, gains.data());
    double sum = 0.0;
    for (auto u = begin; u < end; ++u) sum -= gains[(u - begin) * K + p_.labels[u]];  // loss_u - score of y
    for (const Shard& s : shards_) {
        const auto from = std::max(begin, s.range.node_begin), to = std::min(end, s.range.node_end);
        for (auto u = from; u < to; ++u)
            for (int k = 0; k < K; ++k) gains[(u - begin) * K + k] += s.sums.row(u)[k];
    }
    for (const double gain : gains) sum += std::max(0.0, gain);
    return sum;
}

// What rounding can hide: every sum above has at most `terms` roundings on the way of one term, and the absolute terms
// of all of them total at most sum_j |w_j| A_j + sum_uk loss_uk + 2 sum_u max_k loss_uk, each met in at most four sums.
double rounding(const Problem& p, std::span<const double> weights) {
    const auto dn = p.node_dim(), de = p.edge_dim();
    const auto K = p.n_labels;
    std::vector<double> absolute(static_cast<std::size_t>(p.feature_width()), 0.0);
    const auto by_graph = absolute_feature_sums(p);
    for (std::size_t i = 0; i < by_graph.size(); ++i) absolute[i % absolute.size()] += by_graph[i];
    double mass = 0.0;
    const auto columns = feature_columns(p);
    for (std::int64_t c = 0; c < p.dim(); ++c) mass += std::abs(weights[c]) * absolute[columns[p.coordinates[c]]];
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u) mass += p.total_loss(u) + 2.0 * p.largest_loss(u);
    std::vector<std::int32_t> degree(static_cast<std::size_t>(p.nodes.rows()), 0);
    for (const auto* end : {&p.tail, &p.head})
        for (const auto u : *end) ++degree[u];
    const auto busiest = degree.empty() ? 0 : *std::ranges::max_element(degree);
    const auto terms = dn + de + static_cast<std::int64_t>(busiest) * K + K * kNodes + kChunk * K * K +
                       p.nodes.rows() / kNodes + p.edges.rows() / kChunk + p.n_graphs() + 2 * kEdgeShards + 64;
    return 8.0 * gamma_n(static_cast<double>(terms)) * mass * (1.0 + 1e-6);
}

}  // namespace

void check_multipliers(const Problem& p, const ArcMultipliers& multipliers) {
    const auto sized = [&](const std::vector<std::span<const float>>& all) {
        return std::ssize(all) == p.n_labels * p.n_labels && std::ranges::all_of(all, [&](const auto& of_pair) {
                   return of_pair.empty() || std::ssize(of_pair) == p.edges.rows();
               });
    };
    bool sound = sized(multipliers.tail) && sized(multipliers.head);
    for (std::size_t i = 0; sound && i < multipliers.tail.size(); ++i)
        sound = multipliers.tail[i].empty() == multipliers.head[i].empty();
    if (!sound) throw std::invalid_argument("the arc multipliers are of another problem");
}

SlackBound slack_sum(const Problem& p, std::span<const double> weights, const ArcMultipliers& multipliers, int threads,
                     const StopTest& stop) {
    Pass pass(p, weights, multipliers);
    threads = worthwhile_threads(pass.operations(), threads);
    parallel_for(kEdgeShards, threads, [&](std::int64_t shard, int) { pass.edges(shard); }, stop);
    const auto N = p.nodes.rows(), blocks = (N + kNodes - 1) / kNodes;
    std::vector<double> part(static_cast<std::size_t>(blocks));
    parallel_for(
        blocks, threads, [&](std::int64_t i, int) { part[i] = pass.nodes(i * kNodes, std::min(N, (i + 1) * kNodes)); },
        stop);
    double sum = -pass.truth();
    for (const double x : part) sum += x;
    const double slip = rounding(p, weights), bound = std::max(0.0, sum + slip);
    if (!std::isfinite(bound)) throw std::overflow_error("the scores of a graph are too large for double precision");
    return {bound, slip};
}

SlackBound slack_bound(const Problem& p, std::span<const double> weights, const ArcMultipliers& multipliers,
                       int threads, const StopTest& stop) {
    const SlackBound sum = slack_sum(p, weights, multipliers, threads, stop);
    const auto n = static_cast<double>(p.n_graphs());
    return {mean_above(sum.bound, n), sum.rounding / n};
}

}  // namespace gapcut
