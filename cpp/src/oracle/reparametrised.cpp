#include "gapcut/oracle/reparametrised.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "gapcut/infer/icm.hpp"
#include "gapcut/oracle/message.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut {
namespace {

class ReparametrisedSolver final : public GraphSolver {
  public:
    ReparametrisedSolver(const infer::TrwsSettings& settings, std::shared_ptr<const StartMessages> start, bool merge)
        : settings_(settings), start_(std::move(start)), merge_(merge) {}

    double solve(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                 const std::vector<double>& gains, std::int32_t* labels) override {
        energy_.set(problem, w, graph, gains);
        if (!start_->of_label.tail.empty()) move_costs(problem.problem(), graph);
        check_size();
        const auto view = energy_.view();
        if (settings_.max_sweeps == 0 || (!merge_ && parallel_edges())) {
            for (int sweep = 0; sweep < settings_.max_sweeps; ++sweep) even_out();
            return -independent_minima(labels);
        }
        const auto result = infer::trws(view, settings_);
        std::ranges::copy(result.labels, labels);
        if (value(view, result.labels) - result.bound > 1e-9 * std::abs(result.bound)) {
            const auto polished = infer::icm(view, result.labels);
            if (value(view, polished.labels) < value(view, result.labels)) std::ranges::copy(polished.labels, labels);
        }
        return -result.bound;
    }

  private:
    // Energies are what gains are, with the opposite sign: rounded down.
    void move_costs(const Problem& p, std::int64_t graph) {
        const std::int64_t K = p.n_labels, first = p.edge_offset[graph];
        const auto& [tail, head] = start_->of_label;
        if (std::ssize(tail) != K || (K > 0 && std::ssize(tail[0]) != p.edges.rows()))
            throw std::invalid_argument("the messages are of another problem");
        to_tail_.resize(static_cast<std::size_t>(K));
        to_head_.resize(to_tail_.size());
        for (std::int64_t e = 0; e < std::ssize(energy_.tail); ++e) {
            double *at_tail = energy_.unary.data() + energy_.tail[e] * K,
                   *at_head = energy_.unary.data() + energy_.head[e] * K;
            for (std::int64_t k = 0; k < K; ++k) {
                to_tail_[k] = start_->unit * static_cast<double>(tail[k][first + e]);
                to_head_[k] = start_->unit * static_cast<double>(head[k][first + e]);
                at_tail[k] = down(at_tail[k] - to_tail_[k]);
                at_head[k] = down(at_head[k] - to_head_[k]);
            }
            double* table = energy_.tables.data() + e * K * K;
            for (std::int64_t k = 0; k < K; ++k)
                for (std::int64_t l = 0; l < K; ++l)
                    table[k * K + l] = down(down(table[k * K + l] + to_tail_[k]) + to_head_[l]);
        }
    }

    bool parallel_edges() {
        ends_.clear();
        for (std::size_t e = 0; e < energy_.tail.size(); ++e)
            ends_.push_back(std::minmax({energy_.tail[e], energy_.head[e]}));
        std::ranges::sort(ends_);
        return std::ranges::adjacent_find(ends_) != ends_.end();
    }

    // One table after the other: its ends give it all they have and get half of its min-marginals each. No sum over a
    // labeling grows, the sum of the minima never falls.
    void even_out() {
        const std::int64_t K = energy_.labels.empty() ? 0 : energy_.labels[0];
        to_tail_.resize(static_cast<std::size_t>(K));
        to_head_.resize(to_tail_.size());
        for (std::int64_t e = 0; e < std::ssize(energy_.tail); ++e) {
            double *tail = energy_.unary.data() + energy_.tail[e] * K,
                   *head = energy_.unary.data() + energy_.head[e] * K;
            double* table = energy_.tables.data() + e * K * K;
            std::ranges::fill(to_tail_, kInfinity);
            std::ranges::fill(to_head_, kInfinity);
            for (std::int64_t k = 0; k < K; ++k)
                for (std::int64_t l = 0; l < K; ++l) {
                    double& x = table[k * K + l];
                    x = down(down(x + tail[k]) + head[l]);
                    to_tail_[k] = std::min(to_tail_[k], x);
                    to_head_[l] = std::min(to_head_[l], x);
                }
            for (std::int64_t k = 0; k < K; ++k) {
                tail[k] = 0.5 * to_tail_[k];
                head[k] = 0.5 * to_head_[k];
            }
            for (std::int64_t k = 0; k < K; ++k)
                for (std::int64_t l = 0; l < K; ++l)
                    table[k * K + l] = down(down(table[k * K + l] - tail[k]) - head[l]);
        }
    }

    double independent_minima(std::int32_t* labels) const {
        LowerSum sum;
        const auto K = static_cast<std::ptrdiff_t>(energy_.labels.empty() ? 0 : energy_.labels[0]);
        for (std::size_t u = 0; u < energy_.labels.size(); ++u) {
            const auto begin = energy_.unary.begin() + static_cast<std::ptrdiff_t>(u) * K;
            const auto least = std::min_element(begin, begin + K);
            labels[u] = static_cast<std::int32_t>(least - begin);
            sum.add(*least);
        }
        for (auto at = energy_.tables.begin(); at != energy_.tables.end(); at += K * K)
            sum.add(*std::min_element(at, at + K * K));
        return sum.value();
    }

    static double value(const infer::EnergyView& view, const std::vector<std::int32_t>& labels) {
        double sum = 0.0;
        for (const double x : infer::terms(view, labels)) sum += x;
        return sum;
    }

    // Bounded, as TRW-S requires, so that no sum of messages overflows.
    void check_size() const {
        double sum = 0.0;
        for (const auto* entries : {&energy_.unary, &energy_.tables})
            for (const double x : *entries) sum += std::abs(x);
        if (!(sum < infer::kLargestSum))
            throw std::overflow_error("the scores of a graph are too large for double precision");
    }

    infer::TrwsSettings settings_;
    std::shared_ptr<const StartMessages> start_;
    bool merge_;
    GraphEnergy energy_;
    std::vector<double> to_tail_, to_head_;
    std::vector<std::pair<std::int32_t, std::int32_t>> ends_;
};

}  // namespace

std::unique_ptr<GraphSolver> make_reparametrised_solver(const infer::TrwsSettings& settings,
                                                        std::shared_ptr<const StartMessages> start, bool merge) {
    return std::make_unique<ReparametrisedSolver>(settings, std::move(start), merge);
}

}  // namespace gapcut
