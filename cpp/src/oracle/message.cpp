#include "gapcut/oracle/message.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "gapcut/infer/icm.hpp"

namespace gapcut {

void GraphEnergy::set(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                      const std::vector<double>& gains) {
    const Problem& p = problem.problem();
    const std::int64_t K = p.n_labels, begin = p.node_offset[graph], nodes = p.node_offset[graph + 1] - begin;
    const std::int64_t first = p.edge_offset[graph], edges = p.edge_offset[graph + 1] - first;
    labels.assign(static_cast<std::size_t>(nodes), p.n_labels);
    unary_at.resize(static_cast<std::size_t>(nodes) + 1);
    unary.resize(static_cast<std::size_t>(nodes * K));
    for (std::int64_t u = 0; u <= nodes; ++u) unary_at[u] = u * K;
    for (std::int64_t u = 0; u < nodes; ++u)
        for (std::int64_t k = 0; k < K; ++k) unary[u * K + k] = -gains[u * w.width + k];
    tail.resize(static_cast<std::size_t>(edges));
    head.resize(tail.size());
    table_at.resize(tail.size());
    tables.resize(static_cast<std::size_t>(edges * K * K));
    for (std::int64_t e = 0; e < edges; ++e) {
        tail[e] = static_cast<std::int32_t>(p.tail[first + e] - begin);
        head[e] = static_cast<std::int32_t>(p.head[first + e] - begin);
        table_at[e] = e * K * K;
        padded_.assign(static_cast<std::size_t>(K * w.width), 0.0);
        problem.add_table(w, first + e, false, padded_.data());
        for (std::int64_t k = 0; k < K; ++k)
            for (std::int64_t l = 0; l < K; ++l) tables[(e * K + k) * K + l] = -padded_[k * w.width + l];
    }
}

namespace {

class MessageSolver final : public GraphSolver {
  public:
    MessageSolver(const infer::TrwsSettings& settings, std::shared_ptr<MessageStore> store)
        : settings_(settings), store_(std::move(store)) {}

    double solve(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                 const std::vector<double>& gains, std::int32_t* labels) override {
        energy_.set(problem, w, graph, gains);
        const auto view = energy_.view();
        const double scale = size(view);
        auto result = pass_messages(view, graph, scale);
        const double energy = value(view, result.labels);
        if (energy - result.bound > 1e-9 * std::abs(energy)) {
            auto polished = infer::icm(view, result.labels);
            if (value(view, polished.labels) < energy) result.labels = std::move(polished.labels);
        }
        std::ranges::copy(result.labels, labels);
        return -result.bound;
    }

  private:
    // Messages of another order of magnitude are no start: rounding would eat the bound, or sums overflow.
    infer::TrwsResult pass_messages(const infer::EnergyView& view, std::int64_t graph, double scale) {
        if (!store_) return infer::trws(view, settings_);
        MessageStore::Entry& entry = store_->of_graph[graph];
        const std::scoped_lock lock(entry.busy);
        if (!(entry.scale <= kMagnitudes * scale) || scale > kHuge) entry.messages.clear();
        entry.scale = scale;
        return infer::trws(view, settings_, {}, &entry.messages);
    }

    static double value(const infer::EnergyView& view, const std::vector<std::int32_t>& labels) {
        const auto terms = infer::terms(view, labels);
        return std::accumulate(terms.begin(), terms.end(), 0.0);
    }

    // Sum of the magnitudes; bounded, as TRW-S requires, so that no sum of messages overflows.
    static double size(const infer::EnergyView& view) {
        double sum = 0.0;
        for (const auto entries : {view.unary, view.tables})
            for (const double x : entries) sum += std::abs(x);
        if (!(sum < infer::kLargestSum))
            throw std::overflow_error("the scores of a graph are too large for double precision");
        return sum;
    }

    static constexpr double kMagnitudes = 1e4, kHuge = 1e140;

    infer::TrwsSettings settings_;
    std::shared_ptr<MessageStore> store_;
    GraphEnergy energy_;
};

}  // namespace

std::unique_ptr<GraphSolver> make_message_solver(const infer::TrwsSettings& settings,
                                                 std::shared_ptr<MessageStore> store) {
    return std::make_unique<MessageSolver>(settings, std::move(store));
}

}  // namespace gapcut
