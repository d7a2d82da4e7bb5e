#include "gapcut/learn/repair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <ranges>

#include "gapcut/kernels.hpp"
#include "gapcut/learn/relaxed_dual.hpp"
#include "gapcut/learn/repair_kernels.hpp"
#include "gapcut/linear/vectors.hpp"
#include "operations.hpp"

namespace gapcut {
namespace {

constexpr double kParallelWork = 2e4;    // ten times what it costs to wake the threads
constexpr double kExpectedSweeps = 2.0;  // over the labels between 0 and 1

}  // namespace

Repair::Repair(const Problem& p, std::span<const double> lower, std::span<const double> upper, int threads)
    : problem_(p), threads_(std::max(1, threads)) {
    lower_.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
    upper_ = lower_;
    for (std::int64_t i = 0; i < p.dim(); ++i) {
        lower_[p.coordinates[i]] = lower[i];
        upper_[p.coordinates[i]] = upper[i];
    }
    free_.resize(lower_.size());
    std::ranges::transform(lower_, upper_, free_.begin(),
                           [](double low, double high) { return low < high ? 1.0 : 0.0; });
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
repair::Weights Repair::weights() {
    return {run_.raw.data(), run_.w.data(), lower_.data(), upper_.data(), free_.data()};
}

repair::Moving Repair::Direction::moving() { return {sums.data(), counts.data()}; }

std::span<const RepairArc> Repair::arcs_of(std::int64_t node) const {
    return std::span(arcs_).subspan(first_[node], first_[node + 1] - first_[node]);
}

double Repair::node_score(std::int64_t node, int label) const {
    const double* w = run_.w.data() + label * problem_.node_dim();
    double sum = problem_.indicator_loss(node, label);
    if (problem_.labels[node] == label) sum = -sum;
    if (!problem_.nodes.sparse()) return sum + dot(w, problem_.nodes.dense_row(node), problem_.node_dim());
    problem_.nodes.for_row(node, [&](std::int32_t d, double x) { sum += w[d] * x; });
    return sum;
}

// The same as Kernels::sum_arcs for sparse features.
template <bool Up>
RepairLevels Repair::sum_sparse(std::span<const RepairArc> arcs, double here, const repair::Moving& moving) const {
    const auto K = problem_.n_labels;
    RepairLevels levels;
    for (const RepairArc& arc : arcs) {
        const double* others = run_.z.data() + static_cast<std::int64_t>(arc.other) * K;
        for (std::int32_t l = 0; l < K; ++l) {
            const double there = others[l];
            if (there > here) levels.above = std::min(levels.above, there);
            if (there < here) levels.below = std::max(levels.below, there);
            levels.equal |= there == here;
            if (Up ? there <= here : there < here) continue;
            const auto row = arc.tail ? l : K + l;
            moving.counts[row] += 1.0;
            double* sum = moving.sums + row * problem_.edge_dim();
            problem_.edges.for_row(arc.edge, [&](std::int32_t d, double x) { sum[d] += x; });
        }
    }
    return levels;
}

template <bool Up>
void Repair::collect(std::int64_t node, double here, Direction& s, std::vector<double>& scratch) const {
    const repair::Blocks blocks = this->blocks();
    s.sums.assign(static_cast<std::size_t>(2 * blocks.K * blocks.De), 0.0);
    s.counts.assign(static_cast<std::size_t>(2 * blocks.K), 0.0);
    const auto arcs = arcs_of(node);
    scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(blocks.scratch(std::ssize(arcs)))));
    if (problem_.edges.sparse())
        s.levels = sum_sparse<Up>(arcs, here, s.moving());
    else if (!arcs.empty())
        s.levels = kernels().sum_arcs[Up](arcs, blocks, problem_.edges.dense_row(0), run_.z.data(), here,
                                          scratch.data(), s.moving());
    else
        s.levels = {};
}

// What depends on the labels alone, not on the weights: so it can be found for many coordinates at once, and is the
// same for all labels of a node whose z is `here`.
void Repair::prepare(std::int64_t node, double here, Directions& s, std::vector<double>& scratch) const {
    if (here < 1.0) collect<true>(node, here, s.up, scratch);
    s.same = here < 1.0 && !s.up.levels.equal;
    if (here > 0.0 && !s.same) collect<false>(node, here, s.down, scratch);
}

// Slope and curvature of D / c along z_uk.
template <bool Up>
Repair::Slope Repair::slope(std::int64_t node, int label, double score, Direction& s) {
    Slope slope{score, node_square_[node]};
    kernels().add_slope[Up](blocks(), label, s.moving(), weights(), slope.gradient, slope.curvature);
    return slope;
}

// At a label of 0 or 1.
bool Repair::can_gain(std::int64_t coordinate, Directions& s) {
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    const double score = node_score(node, label);
    return run_.z[coordinate] == 0.0 ? slope<true>(node, label, score, s.up).gradient > 0.0
                                     : slope<false>(node, label, score, s.down).gradient < 0.0;
}

double Repair::improve(std::int64_t coordinate, Directions& s) {
    const auto node = coordinate / problem_.n_labels;
    const int label = static_cast<int>(coordinate % problem_.n_labels);
    const double here = run_.z[coordinate], score = node_score(node, label);
    if (here < 1.0) {
        const Slope up = slope<true>(node, label, score, s.up);
        if (up.gradient > 0.0) return move(coordinate, up, s.up.levels.above, s.up);
    }
    if (here <= 0.0) return 0.0;
    Direction& below = s.same ? s.up : s.down;
    const Slope down = slope<false>(node, label, score, below);
    return down.gradient < 0.0 ? move(coordinate, down, below.levels.below, below) : 0.0;
}

double Repair::move(std::int64_t coordinate, const Slope& slope, double limit, Direction& s) {
    const auto node = coordinate / problem_.n_labels, label = coordinate % problem_.n_labels;
    const bool up = slope.gradient > 0.0;
    const double room = limit - run_.z[coordinate];
    double step = slope.curvature > 0.0 ? slope.gradient / (run_.c * slope.curvature) : room;
    const bool whole = up ? step >= room : step <= room;
    if (whole) step = room;
    const double change = run_.c * step;
    const auto Dn = problem_.node_dim();
    if (problem_.nodes.sparse())
        problem_.nodes.for_row(
            node, [&](std::int32_t d, double x) { kernels().shift(1, label * Dn + d, change, &x, weights()); });
    else
        kernels().shift(Dn, label * Dn, change, problem_.nodes.dense_row(node), weights());
    kernels().shift_rows(blocks(), label, change, s.moving(), weights());
    run_.z[coordinate] = whole ? limit : run_.z[coordinate] + step;
    return change * (slope.gradient - 0.5 * change * slope.curvature);
}

// Of prepare(), and of a step from what it finds. Constants were chosen from the time of whole repairs on tables,
// planted scenes, letters and snakes.
double Repair::collect_operations(std::int64_t node) const {
    const auto arcs = static_cast<double>(arcs_of(node).size());
    return 2.3 * arcs * (problem_.n_labels * (entries_a_row(problem_.edges) + 8.0) + 40.0);
}

double Repair::step_operations() const {
    return 3.0 * problem_.n_labels * (3.0 * static_cast<double>(problem_.edge_dim()) + 20.0) +
           4.5 * entries_a_row(problem_.nodes);
}

double Repair::expected_operations(std::span<const float> z) const {
    const auto K = problem_.n_labels;
    double sum = 0.0;
    for (std::int64_t u = 0; u < problem_.nodes.rows(); ++u) {
        const auto inside = std::ranges::count_if(z.subspan(u * K, K), [](float x) { return x > 0.0F && x < 1.0F; });
        sum += K * step_operations() +
               (2.0 + kExpectedSweeps * static_cast<double>(inside)) * (collect_operations(u) + step_operations());
    }
    return sum;
}

std::vector<std::int64_t> Repair::candidates(Workers& workers, const StopTest& stop) {
    constexpr std::int64_t kNodes = 512;
    const auto N = problem_.nodes.rows(), shards = (N + kNodes - 1) / kNodes;
    const auto K = problem_.n_labels;
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(shards));
    std::vector<std::array<Directions, 2>> directions(static_cast<std::size_t>(threads_));  // of labels at 0 and at 1
    std::vector<std::vector<double>> scratch(directions.size());
    const auto search = [&](std::int64_t node, int worker, std::vector<std::int64_t>& out) {
        bool ready[2] = {false, false};
        for (auto i = node * K; i < (node + 1) * K; ++i) {
            const double z = run_.z[i];
            if (z > 0.0 && z < 1.0) {
                out.push_back(i);
                continue;
            }
            const int end = z == 0.0 ? 0 : 1;
            if (!ready[end]) prepare(node, z, directions[worker][end], scratch[worker]);
            ready[end] = true;
            if (can_gain(i, directions[worker][end])) out.push_back(i);
        }
    };
    workers.run(
        shards,
        [&](std::int64_t shard, int worker) {
            for (auto u = shard * kNodes; u < std::min(N, (shard + 1) * kNodes); ++u) search(u, worker, found[shard]);
        },
        stop);
    std::vector<std::int64_t> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
}

namespace {

// The coordinates of each node, from all in ascending order: its labels share what has to be read.
std::vector<Repair::Group> groups_by_node(std::span<const std::int64_t> coordinates, std::int64_t K) {
    std::vector<Repair::Group> groups;
    for (std::size_t begin = 0, end = 0; begin < coordinates.size(); begin = end) {
        while (end < coordinates.size() && coordinates[end] / K == coordinates[begin] / K) ++end;
        groups.push_back(coordinates.subspan(begin, end - begin));
    }
    return groups;
}

}  // namespace

// Nodes whose sums are collected together: so few that hardly one has a neighbour among them. One thread: one node.
std::size_t Repair::batch_size() const {
    if (threads_ == 1 || arcs_.empty()) return 1;
    const double degree = static_cast<double>(arcs_.size()) / static_cast<double>(problem_.nodes.rows());
    return static_cast<std::size_t>(
        std::clamp(static_cast<double>(problem_.nodes.rows()) / (5.0 * degree), 1.0, 512.0));
}

// Directions the nodes in parallel, then steps one after the other; a node whose neighbour has moved meanwhile is
// surveyed again. The result is that of one node at a time.
void Repair::improve_batch(std::span<const Group> nodes, double min_gain, Workers& workers,
                           std::vector<std::int64_t>& again) {
    const auto K = static_cast<std::size_t>(problem_.n_labels);
    ++run_.batch;
    run_.directions.resize(std::max(run_.directions.size(), nodes.size() * K));
    run_.shared.resize(run_.directions.size());
    run_.scratch.resize(static_cast<std::size_t>(threads_));
    const auto collect = [&](std::int64_t i, int worker) {
        const Group& group = nodes[i];
        for (std::size_t j = 0; j < group.size(); ++j) {
            const double here = run_.z[group[j]];
            const auto first = std::ranges::find(group, here, [&](std::int64_t other) { return run_.z[other]; });
            run_.shared[i * K + j] = i * K + static_cast<std::size_t>(first - group.begin());
            if (*first == group[j])
                prepare(group[j] / problem_.n_labels, here, run_.directions[i * K + j], run_.scratch[worker]);
        }
    };
    double work = 0.0;  // arcs of label pairs, in eights of features
    for (const Group& group : nodes)
        work += static_cast<double>(group.size() * arcs_of(group.front() / problem_.n_labels).size() * K);
    work *= 1.0 + static_cast<double>(problem_.edge_dim()) / 8.0;
    if (work < kParallelWork)
        for (std::int64_t i = 0; i < std::ssize(nodes); ++i) collect(i, 0);
    else
        workers.run(std::ssize(nodes), collect);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto node = nodes[i].front() / problem_.n_labels;
        const auto stale = [&](const RepairArc& arc) { return run_.moved[arc.other] == run_.batch; };
        if (i > 0 && std::ranges::any_of(arcs_of(node), stale)) collect(i, 0);
        for (std::size_t j = 0; j < nodes[i].size(); ++j) {
            const auto coordinate = nodes[i][j];
            const double before = run_.z[coordinate];
            operations_ += step_operations() + (run_.shared[i * K + j] == i * K + j ? collect_operations(node) : 0.0);
            if (improve(coordinate, run_.directions[run_.shared[i * K + j]]) > min_gain) again.push_back(coordinate);
            if (run_.z[coordinate] != before) run_.moved[node] = run_.batch;
        }
    }
}

std::vector<float> Repair::run(std::span<const float> z, const Start& start, int sweeps, double min_gain,
                               std::uint64_t seed, const StopTest& stop) {
    const Problem& p = problem_;
    if (std::ssize(start.W) != p.dim()) throw std::invalid_argument("W has the wrong size");
    run_ = {};
    run_.c = start.parts * start.c;
    min_gain *= start.parts;
    run_.z.assign(z.begin(), z.end());
    run_.raw.assign(lower_.size(), 0.0);  // what is not in use stays at weights of 0
    for (std::int64_t i = 0; i < p.dim(); ++i) run_.raw[p.coordinates[i]] = start.W[i];
    run_.w.resize(run_.raw.size());
    for (std::size_t j = 0; j < run_.raw.size(); ++j) run_.w[j] = std::clamp(run_.raw[j], lower_[j], upper_[j]);
    Workers workers(threads_);
    auto order = candidates(workers, stop);
    operations_ = 0.0;
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u)
        operations_ += 2.0 * collect_operations(u) + p.n_labels * step_operations();
    std::mt19937_64 random(seed);
    run_.moved.assign(static_cast<std::size_t>(p.nodes.rows()), 0);
    const std::size_t batch = batch_size();
    for (int sweep = 0; sweep < sweeps && !order.empty(); ++sweep) {
        auto nodes = groups_by_node(order, p.n_labels);
        std::shuffle(nodes.begin(), nodes.end(), random);
        std::vector<std::int64_t> again;
        for (std::size_t i = 0; i < nodes.size(); i += batch) {
            if (stop && i / batch % 32 == 0 && stop()) throw Interrupted();
            improve_batch(std::span(nodes).subspan(i, std::min(batch, nodes.size() - i)), min_gain, workers, again);
        }
        std::ranges::sort(again);
        order.swap(again);
    }
    std::vector<float> better(run_.z.begin(), run_.z.end());
    run_ = {};
    return better;
}

}  // namespace gapcut
