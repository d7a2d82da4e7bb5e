#include "gapcut/oracle/cut.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "scores.hpp"

namespace gapcut {

namespace {

// b_(uk,vl) = w^{kl} . phi(u,v), only where it is not zero.
void add_potentials(const Problem& p, const SparseWeights& w, std::int64_t graph, const ArcMultipliers* multipliers,
                    std::vector<double>& potentials, Closure& closure) {
    const auto K = p.n_labels;
    const auto begin = p.node_offset[graph];
    const auto* pairs = w.pairs.data();
    potentials.assign(w.pairs.size(), 0.0);
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const auto tail = static_cast<std::int32_t>((p.tail[e] - begin) * K);
        const auto head = static_cast<std::int32_t>((p.head[e] - begin) * K);
        w.pairwise.for_potentials(p.edges, e, potentials, [=, &closure](std::size_t q, double gain) {
            const auto [k, l] = pairs[q];
            const auto at = k * K + l;
            const bool known = multipliers != nullptr && !multipliers->tail[at].empty();
            closure.add_pair(tail + k, head + l, gain,
                             known ? tail_fraction(multipliers->tail[at][e], multipliers->head[at][e]) : 0.5F);
        });
    }
}

// Adds the unary and pairwise part of Psi(x, y) - Psi(x, z) to `plane` (full coordinates) and returns Delta_b(y, z).
double add_plane(const Problem& p, std::int64_t graph, const std::vector<std::uint8_t>& z, std::vector<double>& plane) {
    const auto K = p.n_labels;
    const auto begin = p.node_offset[graph];
    const auto dn = p.node_dim(), de = p.edge_dim();
    double loss = 0.0;
    for (auto u = begin; u < p.node_offset[graph + 1]; ++u)
        for (int k = 0; k < K; ++k) {
            const bool in = z[(u - begin) * K + k] != 0, truth = p.labels[u] == k;
            if (in == truth) continue;
            loss += p.indicator_loss(u, k);
            p.nodes.add_row(u, truth ? 1.0 : -1.0, plane.data() + k * dn);
        }
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const auto u = p.tail[e], v = p.head[e];
        const std::uint8_t *zu = z.data() + (u - begin) * K, *zv = z.data() + (v - begin) * K;
        for (int k = 0; k < K; ++k) {
            const bool true_k = p.labels[u] == k;
            if (!zu[k] && !true_k) continue;
            for (int l = 0; l < K; ++l) {
                const int change = (true_k && p.labels[v] == l) - (zu[k] && zv[l]);
                if (change == 0) continue;
                p.edges.add_row(e, change, plane.data() + p.unary_size() + (k * K + l) * de);
            }
        }
    }
    return loss;
}

// What rounding can hide from the value loss - w'h computed for the labeling found, compared with the true maximum:
// twice the error of the coefficients (each a sum of at most Dn + 1, De or D products), plus the error of the plane (at
// most 2 (V + E + cliques) terms a coordinate), of its product with w, and of the loss. All are sums whose absolute
// terms total at most `mass` = sum_j |w_j| A_j + sum_uk loss_uk, A the absolute feature sums of the graph.
double float_rounding(const Problem& p, std::int64_t graph, std::span<const double> compact, const double* absolute,
                      const std::vector<std::int32_t>& columns) {
    double mass = 0.0;
    for (std::int64_t c = 0; c < p.dim(); ++c)
        if (compact[c] != 0.0) mass += std::abs(compact[c]) * absolute[columns[c]];
    auto terms = p.node_offset[graph + 1] - p.node_offset[graph] + p.edge_offset[graph + 1] - p.edge_offset[graph];
    for (const CliqueGroup& group : p.cliques) terms += group.offset[graph + 1] - group.offset[graph];
    for (auto u = p.node_offset[graph]; u < p.node_offset[graph + 1]; ++u) mass += p.total_loss(u);
    return 4.0 * gamma_n(static_cast<double>(p.feature_width() + 2 * terms + p.dim() + 16)) * mass;
}

double dot_compact(const Problem& p, std::span<const double> compact, const std::vector<double>& full) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < p.dim(); ++c) sum += compact[c] * full[p.coordinates[c]];
    return sum;
}

void add(ClosureStats& sum, const ClosureStats& s) {
    sum.variables += s.variables;
    sum.arcs += s.arcs;
    sum.core_variables += s.core_variables;
    sum.core_arcs += s.core_arcs;
    sum.components += s.components;
}

void check_features(const RowMatrix& rows, const std::vector<std::int64_t>& offset, const std::string& what,
                    const std::string& row) {
    for (std::size_t g = 0; g + 1 < offset.size(); ++g)
        for (auto e = offset[g]; e < offset[g + 1]; ++e)
            rows.for_row(e, [&](std::int32_t d, double x) {
                if (x >= 0.0) return;
                throw std::invalid_argument("the cut oracle needs " + what + " features >= 0: graph " +
                                            std::to_string(g) + ", " + row + " " + std::to_string(e - offset[g]) +
                                            ", feature " + std::to_string(d) + " is " + std::to_string(x));
            });
}

}  // namespace

CutMaximiser::CutMaximiser(const Problem& problem) : problem_(problem), cliques_(problem) {
    check_features(problem.edges, problem.edge_offset, "edge", "edge");
    for (std::size_t g = 0; g < problem.cliques.size(); ++g)
        check_features(problem.cliques[g].features, problem.cliques[g].offset, "clique",
                       "clique group " + std::to_string(g) + ", clique");
    absolute_ = absolute_feature_sums(problem);
    const auto all_columns = feature_columns(problem);
    for (const auto full : problem.coordinates) columns_.push_back(all_columns[full]);
}

CutMaximiser::Weights CutMaximiser::prepare(std::span<const double> compact, const ArcMultipliers* multipliers) const {
    return {SparseWeights(problem_, compact), {compact.begin(), compact.end()}, multipliers};
}

// The closure problem of a graph.
void CutMaximiser::pose(const Weights& w, std::int64_t graph, Scratch& s) const {
    const Problem& p = problem_;
    const auto begin = p.node_offset[graph], end = p.node_offset[graph + 1];
    s.scores.resize(static_cast<std::size_t>((end - begin) * p.n_labels));
    unary_gains(p, w.sparse, begin, end, s.scores.data());
    s.closure.reset(static_cast<std::int32_t>(s.scores.size()));
    for (std::int32_t i = 0; i < std::ssize(s.scores); ++i) s.closure.set_gain(i, s.scores[i]);
    add_potentials(p, w.sparse, graph, w.multipliers, s.potentials, s.closure);
    cliques_.add_potentials(w.sparse, graph, s.potentials, s.closure);
}

GraphAnswer CutMaximiser::solve(const Weights& w, std::int64_t graph, Scratch& s, double* plane) const {
    const Problem& p = problem_;
    pose(w, graph, s);
    s.closure.solve();
    add(s.stats, s.closure.stats());

    s.plane.assign(static_cast<std::size_t>(p.full_dim()), 0.0);
    const double loss = add_plane(p, graph, s.closure.labels(), s.plane);
    cliques_.add_plane(graph, s.closure.labels(), s.plane);
    const double value = loss - dot_compact(p, w.compact, s.plane);
    const double* absolute = absolute_.data() + graph * p.feature_width();
    const double rounding = s.closure.rounding() + float_rounding(p, graph, w.compact, absolute, columns_);
    if (plane != nullptr)
        for (std::int64_t c = 0; c < p.dim(); ++c) plane[c] += s.plane[p.coordinates[c]];
    return {loss, std::max(0.0, checked_bound(value + rounding))};
}

OracleTotals CutOracle::sums(std::span<const double> compact, const ArcMultipliers& multipliers, const StopTest& stop) {
    check_multipliers(problem(), multipliers);
    return Oracle::sums(maximiser_.prepare(compact, &multipliers), stop);
}

void CutMaximiser::share(const Weights& w, std::int64_t graph, Scratch& s, ArcShares& shares) const {
    const Problem& p = problem_;
    pose(w, graph, s);
    s.closure.keep_split = true;
    s.closure.solve();
    const std::vector<double> split = s.closure.split();
    s.closure.keep_split = false;
    auto next = split.begin();
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e)  // the order of add_potentials
        w.sparse.pairwise.for_potentials(p.edges, e, s.potentials, [&](std::size_t q, double) {
            shares.of_arc[q * static_cast<std::size_t>(p.edges.rows()) + e] = share_of(*next++);
        });
}

ArcShares CutOracle::shares(std::span<const double> compact, const ArcMultipliers* multipliers, const StopTest& stop) {
    const Problem& p = problem();
    if (!p.cliques.empty()) throw std::invalid_argument("shares are of pairs, but the problem has cliques");
    if (multipliers != nullptr) check_multipliers(p, *multipliers);
    const auto weights = maximiser_.prepare(compact, multipliers);
    ArcShares shares(p, weights.sparse.pairwise.items);
    run(p.n_graphs(), [&](std::int64_t g, Scratch& s) { maximiser_.share(weights, g, s, shares); }, stop);
    return shares;
}

ClosureStats CutOracle::statistics(std::span<const double> compact) {
    for (Scratch& s : scratch_) s.stats = {};
    total(compact);
    ClosureStats all;
    for (const Scratch& s : scratch_) add(all, s.stats);
    return all;
}

void CutOracle::use_persistency(bool on) {
    for (Scratch& s : scratch_) s.closure.use_persistency = on;
}

CoreNetwork CutOracle::core_network(std::span<const double> compact, std::int32_t graph) {
    check_graphs(problem(), {&graph, 1});
    CoreNetwork network;
    Scratch s = maximiser_.scratch();
    s.closure.use_persistency = scratch_.front().closure.use_persistency;
    s.closure.record = &network;
    maximiser_.solve(maximiser_.prepare(compact), graph, s, nullptr);
    return network;
}

}  // namespace gapcut
