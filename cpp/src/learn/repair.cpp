#include "gapcut/learn/repair.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "gapcut/learn/relaxed_dual.hpp"
#include "gapcut/learn/vectors.hpp"
#include "gapcut/target.hpp"

namespace gapcut {
namespace {

struct Slope {
    double gradient, curvature;
};

// Slope and curvature that one block of weights contributes. Going up lowers W: entries already clipped stay so and
// cost nothing.
template <bool Up>
GAPCUT_HOT Slope slope_of(std::int64_t n, const double* __restrict sum, const double* __restrict w,
                          const double* __restrict raw, const double* __restrict lower, const double* __restrict upper) {
    double gradient[8] = {}, curvature[8] = {};
    for (std::int64_t i = 0; i < n; i += 8) {
        const std::int64_t lanes = n - i < 8 ? n - i : 8;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const std::int64_t d = i + lane;
            gradient[lane] += w[d] * sum[d];
            const bool moves = (lower[d] < upper[d]) & (!Up | (raw[d] > lower[d]));
            curvature[lane] += moves ? sum[d] * sum[d] : 0.0;
        }
    }
    Slope s{};
    for (int lane = 0; lane < 8; ++lane) {
        s.gradient += gradient[lane];
        s.curvature += curvature[lane];
    }
    return s;
}

// W -= change * x, w = clamp(W)
GAPCUT_HOT void shift(std::int64_t n, double change, const double* __restrict x, const double* __restrict lower,
                      const double* __restrict upper, double* __restrict raw, double* __restrict w) {
    for (std::int64_t d = 0; d < n; ++d) {
        raw[d] -= change * x[d];
        const double low = raw[d] < lower[d] ? lower[d] : raw[d];
        w[d] = low > upper[d] ? upper[d] : low;
    }
}

}  // namespace

Repair::Repair(const Problem& p, std::span<const double> lower, std::span<const double> upper, int threads)
    : problem_(p), threads_(std::max(1, threads)) {
    lower_.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
    upper_ = lower_;
    for (std::int64_t i = 0; i < p.dim(); ++i) {
        lower_[p.coordinates[i]] = lower[i];
        upper_[p.coordinates[i]] = upper[i];
    }
    const auto N = p.nodes.rows();
    first_.assign(static_cast<std::size_t>(N) + 1, 0);
    for (std::size_t e = 0; e < p.tail.size(); ++e) {
        ++first_[p.tail[e] + 1];
        ++first_[p.head[e] + 1];
    }
    for (std::int64_t u = 0; u < N; ++u) first_[u + 1] += first_[u];
    incident_.resize(2 * p.tail.size());
    auto next = first_;
    for (std::int32_t e = 0; e < std::ssize(p.tail); ++e) {
        incident_[next[p.tail[e]]++] = {e, p.head[e], true};
        incident_[next[p.head[e]]++] = {e, p.tail[e], false};
    }
    node_square_.assign(static_cast<std::size_t>(N), 0.0);
    for (std::int64_t u = 0; u < N; ++u) p.nodes.for_row(u, [&](std::int32_t, double x) { node_square_[u] += x * x; });
}

std::int64_t Repair::block_of(std::int32_t row, int label) const {
    const auto K = problem_.n_labels;
    const auto pair = row < K ? label * K + row : (row - K) * K + label;
    return problem_.unary_size() + pair * problem_.edge_dim();
}

double Repair::node_score(std::int64_t node, int label) const {
    const double* w = w_.data() + label * problem_.node_dim();
    double sum = problem_.labels[node] == label ? -problem_.loss[node] : problem_.loss[node];
    if (!problem_.nodes.sparse()) return sum + dot(w, problem_.nodes.dense_row(node), problem_.node_dim());
    problem_.nodes.for_row(node, [&](std::int32_t d, double x) { sum += w[d] * x; });
    return sum;
}

void Repair::clear(Scratch& s) const {
    const auto De = problem_.edge_dim();
    s.sums.resize(static_cast<std::size_t>(2 * problem_.n_labels * De));
    s.used.resize(static_cast<std::size_t>(2 * problem_.n_labels));
    for (const auto row : s.blocks) {
        std::fill_n(s.sums.begin() + row * De, De, 0.0);
        s.used[row] = 0;
    }
    s.blocks.clear();
}

void Repair::add_edge(std::int32_t edge, double* sum) const {
    if (problem_.edges.sparse())
        problem_.edges.for_row(edge, [&](std::int32_t d, double x) { sum[d] += x; });
    else
        add_scaled(sum, 1.0, problem_.edges.dense_row(edge), problem_.edge_dim());
}

// Slope and curvature of D / c along z_uk going up or down, and how far the set of arcs that move along stays the same:
// up, m of an arc follows z_uk while the other end is above it; down, while the other end is not below it.
template <bool Up>
Repair::Direction Repair::look(std::int64_t node, int label, Scratch& s) const {
    const auto K = problem_.n_labels;
    const auto De = problem_.edge_dim();
    const double here = z_[node * K + label];
    Direction to;
    to.limit = Up ? 1.0 : 0.0;
    to.gradient = node_score(node, label);
    to.curvature = node_square_[node];
    clear(s);
    for (auto q = first_[node]; q < first_[node + 1]; ++q) {
        const Incident& arc = incident_[q];
        const double* others = z_.data() + static_cast<std::int64_t>(arc.other) * K;
        for (std::int32_t l = 0; l < K; ++l) {
            const double there = others[l];
            if (Up ? there <= here : there < here) {
                if (!Up) to.limit = std::max(to.limit, there);
                continue;
            }
            if (Up) to.limit = std::min(to.limit, there);
            const std::int32_t row = arc.tail ? l : K + l;
            if (!s.used[row]) {
                s.used[row] = 1;
                s.blocks.push_back(row);
            }
            add_edge(arc.edge, s.sums.data() + row * De);
        }
    }
    for (const auto row : s.blocks) {
        const auto at = block_of(row, label);
        const Slope slope = slope_of<Up>(De, s.sums.data() + row * De, w_.data() + at, raw_.data() + at, lower_.data() + at,
                                         upper_.data() + at);
        to.gradient += slope.gradient;
        to.curvature += slope.curvature;
    }
    return to;
}

bool Repair::can_gain(std::int64_t coordinate, Scratch& s) const {
    const double z = z_[coordinate];
    if (z > 0.0 && z < 1.0) return true;
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    return z == 0.0 ? look<true>(node, label, s).gradient > 0.0 : look<false>(node, label, s).gradient < 0.0;
}

void Repair::apply(std::int64_t node, int label, double step, const Scratch& s) {
    const double change = c_ * step;
    const auto De = problem_.edge_dim(), Dn = problem_.node_dim();
    if (problem_.nodes.sparse()) {
        problem_.nodes.for_row(node, [&](std::int32_t d, double x) {
            const auto j = label * Dn + d;
            shift(1, change, &x, &lower_[j], &upper_[j], &raw_[j], &w_[j]);
        });
    } else {
        const auto j = label * Dn;
        shift(Dn, change, problem_.nodes.dense_row(node), &lower_[j], &upper_[j], &raw_[j], &w_[j]);
    }
    for (const auto row : s.blocks) {
        const auto j = block_of(row, label);
        shift(De, change, s.sums.data() + row * De, &lower_[j], &upper_[j], &raw_[j], &w_[j]);
    }
}

double Repair::improve(std::int64_t coordinate, Scratch& s) {
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    const double here = z_[coordinate];
    for (const bool up : {true, false}) {
        if (up ? here >= 1.0 : here <= 0.0) continue;
        const Direction to = up ? look<true>(node, label, s) : look<false>(node, label, s);
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
        std::shuffle(order.begin(), order.end(), random);
        std::vector<std::int64_t> again;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % 1024 == 0 && stop && stop()) throw Interrupted();
            if (improve(order[i], s) > worthwhile) again.push_back(order[i]);
        }
        steps_ += std::ssize(order);
        order.swap(again);
    }
    return std::vector<float>(z_.begin(), z_.end());
}

}  // namespace gapcut
