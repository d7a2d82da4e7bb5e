#include "gapcut/oracle/labeler.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gapcut {

void check_graphs(const Problem& problem, std::span<const std::int32_t> graphs) {
    for (const auto g : graphs)
        if (g < 0 || g >= problem.n_graphs())
            throw std::invalid_argument("no graph " + std::to_string(g) + " in this problem");
}

Labeler::Labeler(const Problem& problem, int threads, const Factory& make) : one_hot_(problem) {
    for (int t = 0; t < std::max(1, threads); ++t) workers_.push_back({make(), {}, {}});
}

// The labels of one graph, into worker.labels; returns the proven bound of its slack. The value of z = y is the sum of
// the same gains and tables.
double Labeler::solve(const OneHotWeights& w, std::int64_t graph, Worker& worker) const {
    const Problem& p = problem();
    const auto begin = p.node_offset[graph], end = p.node_offset[graph + 1];
    one_hot_.gains(w, graph, worker.gains);
    worker.labels.resize(static_cast<std::size_t>(end - begin));
    const double found = worker.solver->solve(one_hot_, w, graph, worker.gains, worker.labels.data());
    double truth = 0.0;
    for (auto u = begin; u < end; ++u) truth += worker.gains[(u - begin) * w.width + p.labels[u]];
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const std::int64_t k = p.labels[p.tail[e]], l = p.labels[p.head[e]];
        p.edges.for_row(e,
                        [&](std::int32_t d, double x) { truth += x * w.pairwise[(d * p.n_labels + k) * w.width + l]; });
    }
    const double bound = std::max(0.0, found - truth) + one_hot_.rounding(w, graph);
    if (!std::isfinite(bound)) throw std::overflow_error("the scores of a graph are too large for double precision");
    return bound;
}

std::vector<LabelerAnswer> Labeler::evaluate(std::span<const double> compact, std::span<const std::int32_t> graphs,
                                             double* planes, const StopTest& stop) {
    check_graphs(problem(), graphs);
    const OneHotWeights w = one_hot_.prepare(compact);
    std::vector<LabelerAnswer> answers(graphs.size());
    parallel_for(
        std::ssize(graphs), static_cast<int>(workers_.size()),
        [&](std::int64_t item, int worker) {
            answers[item].bound = solve(w, graphs[item], workers_[worker]);
            answers[item].loss =
                one_hot_.add_plane(graphs[item], workers_[worker].labels.data(), planes + item * problem().dim());
        },
        stop);
    return answers;
}

LabelerTotals Labeler::total(std::span<const double> compact, const StopTest& stop) {
    const OneHotWeights w = one_hot_.prepare(compact);
    const std::int64_t n = problem().n_graphs(), shards = (n + kShard - 1) / kShard;
    std::vector<LabelerTotals> part(static_cast<std::size_t>(shards));
    parallel_for(
        shards, static_cast<int>(workers_.size()),
        [&](std::int64_t shard, int worker) {
            LabelerTotals& sum = part[shard];
            sum.plane.assign(static_cast<std::size_t>(problem().dim()), 0.0);
            for (auto g = shard * kShard; g < std::min(n, (shard + 1) * kShard); ++g) {
                sum.bound += solve(w, g, workers_[worker]);
                sum.loss += one_hot_.add_plane(g, workers_[worker].labels.data(), sum.plane.data());
            }
        },
        stop);
    LabelerTotals all;
    all.plane.assign(static_cast<std::size_t>(problem().dim()), 0.0);
    for (const LabelerTotals& sum : part) {
        for (std::int64_t c = 0; c < problem().dim(); ++c) all.plane[c] += sum.plane[c];
        all.loss += sum.loss;
        all.bound += sum.bound;
    }
    const double count = static_cast<double>(n), unit = 0x1p-53;
    for (double& x : all.plane) x /= count;
    all.loss /= count;
    all.bound *= (1.0 + 2.0 * (count + 4.0) * unit) / count;  // the sum of bounds rounds too
    return all;
}

std::vector<std::int32_t> Labeler::labelings(std::span<const double> compact, std::span<const std::int32_t> graphs,
                                             const StopTest& stop) {
    const Problem& p = problem();
    check_graphs(p, graphs);
    const OneHotWeights w = one_hot_.prepare(compact);
    std::vector<std::int64_t> place(graphs.size() + 1, 0);
    for (std::size_t r = 0; r < graphs.size(); ++r)
        place[r + 1] = place[r] + p.node_offset[graphs[r] + 1] - p.node_offset[graphs[r]];
    std::vector<std::int32_t> labels(static_cast<std::size_t>(place.back()));
    parallel_for(
        std::ssize(graphs), static_cast<int>(workers_.size()),
        [&](std::int64_t item, int worker) {
            solve(w, graphs[item], workers_[worker]);
            std::ranges::copy(workers_[worker].labels, labels.begin() + place[item]);
        },
        stop);
    return labels;
}

}  // namespace gapcut
