#include "gapcut/learn/repair.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <ranges>

#include "gapcut/learn/relaxed_dual.hpp"
#include "gapcut/learn/vectors.hpp"
#include "repair_kernels.hpp"

namespace gapcut {
Repair::Repair(const Problem& p, std::span<const double> lower, std::span<const double> upper, int threads)
    : problem_(p), threads_(std::max(1, threads)) {
    lower_.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
    upper_ = lower_;
    for (std::int64_t i = 0; i < p.dim(); ++i) {
        lower_[p.coordinates[i]] = lower[i];
        upper_[p.coordinates[i]] = upper[i];
    }
    free_.resize(lower_.size());
    std::ranges::transform(lower_, upper_, free_.begin(), [](double low, double high) { return low < high ? 1.0 : 0.0; });
    const auto N = p.nodes.rows();
    first_.assign(static_cast<std::size_t>(N) + 1, 0);
    for (std::size_t e = 0; e < p.tail.size(); ++e) {
        ++first_[p.tail[e] + 1];
        ++first_[p.head[e] + 1];
    }
    for (std::int64_t u = 0; u < N; ++u) first_[u + 1] += first_[u];
    arcs_.resize(2 * p.tail.size());
    auto next = first_;
    for (std::int32_t e = 0; e < std::ssize(p.tail); ++e) {
        arcs_[next[p.tail[e]]++] = {e, p.head[e], true};
        arcs_[next[p.head[e]]++] = {e, p.tail[e], false};
    }
    node_square_.assign(static_cast<std::size_t>(N), 0.0);
    for (std::int64_t u = 0; u < N; ++u) p.nodes.for_row(u, [&](std::int32_t, double x) { node_square_[u] += x * x; });
}

repair::Blocks Repair::blocks() const { return {problem_.n_labels, problem_.edge_dim(), problem_.unary_size()}; }
repair::Weights Repair::weights() { return {raw_.data(), w_.data(), lower_.data(), upper_.data(), free_.data()}; }

double Repair::node_score(std::int64_t node, int label) const {
    const double* w = w_.data() + label * problem_.node_dim();
    double sum = problem_.labels[node] == label ? -problem_.loss[node] : problem_.loss[node];
    if (!problem_.nodes.sparse()) return sum + dot(w, problem_.nodes.dense_row(node), problem_.node_dim());
    problem_.nodes.for_row(node, [&](std::int32_t d, double x) { sum += w[d] * x; });
    return sum;
}

// The same as repair::sum_arcs() for sparse features.
template <bool Up>
double Repair::sum_sparse(std::span<const RepairArc> arcs, double here, const repair::Moving& moving) const {
    const auto K = problem_.n_labels;
    double limit = Up ? 1.0 : 0.0;
    for (const RepairArc& arc : arcs) {
        const double* others = z_.data() + static_cast<std::int64_t>(arc.other) * K;
        for (std::int32_t l = 0; l < K; ++l) {
            const double there = others[l];
            if (Up ? there <= here : there < here) {
                if (!Up) limit = std::max(limit, there);
                continue;
            }
            if (Up) limit = std::min(limit, there);
            const auto row = arc.tail ? l : K + l;
            moving.counts[row] += 1.0;
            double* sum = moving.sums + row * problem_.edge_dim();
            problem_.edges.for_row(arc.edge, [&](std::int32_t d, double x) { sum[d] += x; });
        }
    }
    return limit;
}

// Slope and curvature of D / c along z_uk going up or down, and how far they hold.
template <bool Up>
Repair::Direction Repair::look(std::int64_t node, int label, double score, Scratch& s) {
    const repair::Blocks blocks = this->blocks();
    const double here = z_[node * blocks.K + label];
    s.sums.assign(static_cast<std::size_t>(2 * blocks.K * blocks.De), 0.0);
    s.counts.assign(static_cast<std::size_t>(2 * blocks.K), 0.0);
    const auto arcs = std::span<const RepairArc>(arcs_).subspan(first_[node], first_[node + 1] - first_[node]);
    s.times.resize(std::max(s.times.size(), arcs.size() * blocks.K + 8));
    const repair::Moving moving{s.sums.data(), s.counts.data(), s.times.data()};
    Direction to{score, node_square_[node], Up ? 1.0 : 0.0};
    if (problem_.edges.sparse())
        to.limit = sum_sparse<Up>(arcs, here, moving);
    else if (!arcs.empty())
        to.limit = repair::sum_arcs<Up>(arcs, blocks, problem_.edges.dense_row(0), z_.data(), here, moving);
    repair::add_slope<Up>(blocks, label, moving, weights(), to.gradient, to.curvature);
    return to;
}

bool Repair::can_gain(std::int64_t coordinate, Scratch& s) {
    const double z = z_[coordinate];
    if (z > 0.0 && z < 1.0) return true;
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    const double score = node_score(node, label);
    return z == 0.0 ? look<true>(node, label, score, s).gradient > 0.0 : look<false>(node, label, score, s).gradient < 0.0;
}

void Repair::apply(std::int64_t node, int label, double step, Scratch& s) {
    const double change = c_ * step;
    const auto Dn = problem_.node_dim(), at = label * Dn;
    if (problem_.nodes.sparse())
        problem_.nodes.for_row(node, [&](std::int32_t d, double x) { repair::shift(1, at + d, change, &x, weights()); });
    else
        repair::shift(Dn, at, change, problem_.nodes.dense_row(node), weights());
    repair::shift_rows(blocks(), label, change, {s.sums.data(), s.counts.data(), s.times.data()}, weights());
}

double Repair::improve(std::int64_t coordinate, Scratch& s) {
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    const double here = z_[coordinate], score = node_score(node, label);
    for (const bool up : {true, false}) {
        if (up ? here >= 1.0 : here <= 0.0) continue;
        const Direction to = up ? look<true>(node, label, score, s) : look<false>(node, label, score, s);
        if (up ? to.gradient <= 0.0 : to.gradient >= 0.0) continue;
        double step = to.curvature > 0.0 ? to.gradient / (c_ * to.curvature) : (up ? 1.0 : -1.0);
        const double room = to.limit - here;
        const bool whole = up ? step >= room : step <= room;
        if (whole) step = room;
        if (step == 0.0) continue;
        apply(node, label, step, s);
        z_[coordinate] = whole ? to.limit : here + step;
        return c_ * step * (to.gradient - 0.5 * c_ * step * to.curvature);
    }
    return 0.0;
}

std::vector<std::int64_t> Repair::candidates(const StopTest& stop) {
    constexpr std::int64_t kNodes = 512;
    const auto N = problem_.nodes.rows(), shards = (N + kNodes - 1) / kNodes;
    const auto K = problem_.n_labels;
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(shards));
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads_));
    parallel_for(
        shards, threads_,
        [&](std::int64_t shard, int worker) {
            for (auto i = shard * kNodes * K; i < std::min(N, (shard + 1) * kNodes) * K; ++i)
                if (can_gain(i, scratch[worker])) found[shard].push_back(i);
        },
        stop);
    std::vector<std::int64_t> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
}

namespace {

// The coordinates of each node, from all in ascending order: its labels share what has to be read.
std::vector<std::span<const std::int64_t>> groups_by_node(std::span<const std::int64_t> coordinates, std::int64_t K) {
    std::vector<std::span<const std::int64_t>> groups;
    for (std::size_t begin = 0, end = 0; begin < coordinates.size(); begin = end) {
        while (end < coordinates.size() && coordinates[end] / K == coordinates[begin] / K) ++end;
        groups.push_back(coordinates.subspan(begin, end - begin));
    }
    return groups;
}

}  // namespace

std::vector<float> Repair::run(std::span<const float> z, double C, int sweeps, double worthwhile, std::uint64_t seed,
                               const StopTest& stop) {
    const Problem& p = problem_;
    c_ = C / static_cast<double>(p.n_graphs());
    z_.assign(z.begin(), z.end());
    raw_ = relaxed_difference(p, z, threads_, stop);
    w_.resize(raw_.size());
    for (std::size_t j = 0; j < raw_.size(); ++j) {
        raw_[j] *= c_;
        w_[j] = std::clamp(raw_[j], lower_[j], upper_[j]);
    }
    auto order = candidates(stop);
    steps_ = 0;
    std::mt19937_64 random(seed);
    Scratch s;
    for (int sweep = 0; sweep < sweeps && !order.empty(); ++sweep) {
        auto nodes = groups_by_node(order, p.n_labels);
        std::shuffle(nodes.begin(), nodes.end(), random);
        std::vector<std::int64_t> again;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i % 256 == 0 && stop && stop()) throw Interrupted();
            for (const auto coordinate : nodes[i])
                if (improve(coordinate, s) > worthwhile) again.push_back(coordinate);
        }
        steps_ += std::ssize(order);
        std::ranges::sort(again);
        order.swap(again);
    }
    return std::vector<float>(z_.begin(), z_.end());
}

}  // namespace gapcut
