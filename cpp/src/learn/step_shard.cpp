#include "gapcut/learn/step_shard.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "edge_phase.hpp"
#include "gapcut/learn/metric.hpp"
#include "gapcut/learn/primal_dual.hpp"
#include "node_phase.hpp"
#include "table_phase.hpp"

namespace gapcut {
namespace {

std::unique_ptr<EdgePhase> edge_phase(const Problem& p, const StepSetup& setup) {
    if (setup.one_label) return std::make_unique<TablePhase>(p, setup.at_most, setup.pairs);
    return std::make_unique<ArcPhase>(p);
}

void check_shard(const Problem& p, const StepShard::Snapshot& copy, const EdgePhase& edges, bool simplex) {
    const auto labels = static_cast<std::size_t>(p.nodes.rows() * p.n_labels);
    if (copy.z.size() != labels || copy.z_step.size() != labels ||
        copy.arcs.size() != edges.saved_size(copy.active.size()))
        throw std::invalid_argument("the snapshot is of another problem");
    const auto finite = [](float x) { return std::isfinite(x); };
    const auto unit = [](float x) { return x >= 0.0F && x <= 1.0F; };
    bool sound = std::ranges::all_of(copy.arcs, finite) &&
                 (simplex ? std::ranges::all_of(copy.z, finite) : std::ranges::all_of(copy.z, unit)) &&
                 std::ranges::all_of(copy.z_step, unit);
    std::int32_t last = -1;
    for (const auto pair : copy.active) {
        sound = sound && pair > last && pair < p.n_labels * p.n_labels;
        last = pair;
    }
    if (!sound) throw std::invalid_argument("the snapshot holds numbers out of range");
}

}  // namespace

StepSetup step_setup(const Problem& p, std::span<const double> lower, const PrimalDualSettings& settings) {
    StepSetup setup{loss_unit(p), settings.over_relaxation, settings.one_label, false, {}};
    if (!settings.one_label) return setup;
    setup.at_most = settings.spare;
    for (std::int64_t i = 0; i < p.dim(); ++i)
        if (p.coordinates[i] >= p.unary_size() && lower[i] < 0.0) setup.at_most = false;
    const auto columns = nonnegative_columns(p);
    if (std::any_of(columns.begin() + p.node_dim(), columns.end(), [](auto x) { return x == 0; }))
        setup.at_most = false;
    for (std::int32_t pair = 0; pair < p.n_labels * p.n_labels; ++pair) {
        const auto* slot = p.slot.data() + p.unary_size() + pair * p.edge_dim();
        const auto used = [](std::int32_t at) { return at >= 0; };
        if (!setup.at_most || std::any_of(slot, slot + p.edge_dim(), used)) setup.pairs.push_back(pair);
    }
    return setup;
}

struct StepShard::State {
    float over_relaxation;
    bool one_label;
    std::unique_ptr<PageFile> file;  // of what the edges hold, unless that is in memory
    NodePhase nodes;
    std::unique_ptr<EdgePhase> edges;
    std::vector<double> kappa;  // of the labels' steps as they are set
    double label_sigma = 0.0;

    State(const Problem& p, const StepSetup& setup)
        : over_relaxation(static_cast<float>(setup.over_relaxation)), one_label(setup.one_label),
          nodes(p, setup.unit, setup.one_label), edges(edge_phase(p, setup)) {}
};

StepShard::StepShard(const Problem& problem, const StepSetup& setup)
    : problem_(problem), state_(std::make_unique<State>(problem, setup)) {}

StepShard::~StepShard() = default;

std::vector<double> StepShard::ask(StepQuestion question, std::span<const double> numbers, const ForAll& for_all) {
    const auto order = StepOrder::unpacked(problem_, numbers);
    if (question == StepQuestion::distance) {
        follow(order);  // one that was just restored has no step sizes yet
        return distance(order, for_all);
    }
    if (question == StepQuestion::step) {
        step(order, for_all);
    } else {
        follow(order);
        for_all(NodePhase::kShards, [&](std::int64_t s) { state_->nodes.compute_gradient(s); });
    }
    if (order.inactive)
        for_all(EdgePhase::kShards,
                [&](std::int64_t s) { state_->edges->compute_inactive_gradient(s, state_->nodes.z_rows()); });
    return answer(order).packed();
}

// Label pairs and step sizes as the order has them.
void StepShard::follow(const StepOrder& order) {
    State& s = *state_;
    for (std::int32_t pair = 0; pair < problem_.n_labels * problem_.n_labels; ++pair) {
        const bool wanted = std::ranges::binary_search(order.active, pair);
        if (wanted && !s.edges->active(pair)) s.edges->activate(pair, s.nodes.z_rows());
        if (!wanted && s.edges->active(pair)) s.edges->deactivate(pair);
    }
    if (s.edges->active_pairs() != order.active) throw std::invalid_argument("an order for other label pairs");
    s.edges->set_damping(order.damping);
    if (order.label_sigma == s.label_sigma && order.kappa == s.kappa) return;
    s.label_sigma = order.label_sigma;
    s.kappa = order.kappa;
    s.nodes.set_sigma(s.label_sigma, s.kappa);
}

void StepShard::step(const StepOrder& order, const ForAll& for_all) {
    State& s = *state_;
    follow(order);
    const auto unary = static_cast<std::size_t>(problem_.unary_size());
    s.nodes.set_weights(std::span(order.weights).first(unary));
    s.edges->set_weights(std::span(order.weights).subspan(unary));
    const ArcSteps steps{static_cast<float>(order.arc_tau), static_cast<float>(order.arc_sigma), s.over_relaxation};
    for_all(EdgePhase::kShards, [&](std::int64_t i) { s.edges->step(i, steps, s.nodes.z_rows()); });
    for_all(NodePhase::kShards, [&](std::int64_t i) { s.nodes.step(i, s.over_relaxation, *s.edges); });
}

StepAnswer StepShard::answer(const StepOrder& order) const {
    const State& s = *state_;
    const auto De = problem_.edge_dim(), all = std::int64_t{problem_.n_labels} * problem_.n_labels;
    StepAnswer found;
    s.nodes.gradient(found.unary);
    std::vector<double> rows(static_cast<std::size_t>(all * De), 0.0);
    s.edges->gradient(order.inactive, rows);
    if (order.inactive)
        found.pairs = std::move(rows);
    else
        for (const auto pair : order.active)
            found.pairs.insert(found.pairs.end(), rows.begin() + pair * De, rows.begin() + (pair + 1) * De);
    found.residual = s.edges->residual() + s.nodes.residual();
    for (const auto pair : order.active) found.needed.push_back(s.edges->needed(pair) ? 1.0 : 0.0);
    return found;
}

std::vector<double> StepShard::distance(const StepOrder& order, const ForAll& for_all) const {
    std::vector<EdgePhase::Distance> parts(EdgePhase::kShards);
    for_all(EdgePhase::kShards, [&](std::int64_t s) { parts[s] = state_->edges->squared_distance(s); });
    std::vector<double> found{state_->nodes.squared_distance()};
    for (const auto& part : parts) {
        found[0] += part.labels / order.arc_sigma;
        found.push_back(part.multipliers / order.arc_tau);
    }
    return found;
}

StepShard::Snapshot StepShard::snapshot() const {
    return {state_->nodes.z(), state_->nodes.z_step(), state_->edges->active_pairs(), state_->edges->save()};
}

void StepShard::restore(const Snapshot& copy, const ForAll& for_all) {
    check_shard(problem_, copy, *state_->edges, state_->one_label);
    state_->edges->load(copy.active, copy.arcs);
    state_->nodes.set_labels(copy.z, copy.z_step);
    for_all(EdgePhase::kShards, [&](std::int64_t shard) { state_->edges->compute_gradient(shard); });
}

void StepShard::move_to(const std::string& folder) {
    state_->file = std::make_unique<PageFile>(folder, problem_.edges.rows());
    state_->file->map();
    state_->edges->move_to(*state_->file);
}

void StepShard::wake() {
    if (state_->file) state_->file->map();
}

void StepShard::rest() {
    if (state_->file) state_->file->unmap();
}

FloatRows StepShard::rows() const { return state_->nodes.rows(); }
ArcMultipliers StepShard::multipliers() const { return state_->edges->multipliers(); }
std::vector<std::span<const float>> StepShard::tables() const { return state_->edges->tables(); }

std::vector<float> StepShard::labels() const {
    const auto N = problem_.nodes.rows();
    const auto K = problem_.n_labels;
    std::vector<float> z(static_cast<std::size_t>(N * K));
    for (int k = 0; k < K; ++k)
        for (std::int64_t u = 0; u < N; ++u) z[u * K + k] = state_->nodes.z_step()[k * N + u];
    return z;
}

}  // namespace gapcut
