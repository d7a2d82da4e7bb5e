#include "gapcut/infer/fusion.hpp"

#include <algorithm>
#include <utility>

namespace gapcut::infer {
namespace {

// Whether labels by which forbidden terms and finite ones change make things better, beyond rounding.
class Comparison {
  public:
    void add(double before, double after) {
        if (before == kInfinity) --forbidden_;
        if (after == kInfinity) ++forbidden_;
        if (before != kInfinity) fall_.add(before);
        if (after != kInfinity) fall_.add(-after);
    }
    bool better() const { return forbidden_ != 0 ? forbidden_ < 0 : fall_.value() > 0.0; }

  private:
    std::int64_t forbidden_ = 0;
    LowerSum fall_;
};

}  // namespace

Fusion::Fusion(const EnergyView& energy, std::vector<std::int32_t> labels)
    : energy_(energy), labels_(std::move(labels)), variable_(labels_.size(), -1), takes_(labels_.size(), 0) {
    terms(energy_, labels_);  // checks them
}

// A node's own entries, and those of edges whose other end stays.
void Fusion::add_unaries(std::span<const std::int32_t> proposal) {
    choice_.assign(node_.size(), {});
    for (std::size_t i = 0; i < node_.size(); ++i) {
        const double* own = energy_.unary_of(node_[i]);
        choice_[i].add(0, own[labels_[node_[i]]]);
        choice_[i].add(1, own[proposal[node_[i]]]);
    }
    for (std::int64_t e = 0; e < energy_.n_edges(); ++e) {
        const std::int32_t u = energy_.tail[e], v = energy_.head[e];
        const std::int32_t i = variable_[u], j = variable_[v];
        if ((i < 0) == (j < 0)) continue;
        Choice& c = choice_[i >= 0 ? i : j];
        c.add(0, energy_.pair(e, labels_[u], labels_[v]));
        c.add(1, i >= 0 ? energy_.pair(e, proposal[u], labels_[v]) : energy_.pair(e, labels_[u], proposal[v]));
    }
    for (std::size_t i = 0; i < node_.size(); ++i) {
        const Choice& c = choice_[i];
        const auto cost = [&](int side) {
            return c.forbidden[side] > c.forbidden[1 - side] ? kInfinity : c.finite[side];
        };
        qpbo_.add_unary(static_cast<std::int32_t>(i), cost(0), cost(1));
    }
}

void Fusion::add_edges(std::span<const std::int32_t> proposal) {
    for (std::int64_t e = 0; e < energy_.n_edges(); ++e) {
        const std::int32_t u = energy_.tail[e], v = energy_.head[e];
        if (variable_[u] < 0 || variable_[v] < 0) continue;
        const Qpbo::Table t{energy_.pair(e, labels_[u], labels_[v]), energy_.pair(e, labels_[u], proposal[v]),
                            energy_.pair(e, proposal[u], labels_[v]), energy_.pair(e, proposal[u], proposal[v])};
        if (*std::min_element(t.begin(), t.end()) < kInfinity) qpbo_.add_pair(variable_[u], variable_[v], t);
    }
}

// Takes the proposal where takes_ says so, if that is better.
bool Fusion::take(std::span<const std::int32_t> proposal) {
    const auto next = [&](std::int32_t u) { return takes_[u] ? proposal[u] : labels_[u]; };
    Comparison change;
    for (const std::int32_t u : node_)
        if (takes_[u]) change.add(energy_.unary_of(u)[labels_[u]], energy_.unary_of(u)[proposal[u]]);
    for (std::int64_t e = 0; e < energy_.n_edges(); ++e) {
        const std::int32_t u = energy_.tail[e], v = energy_.head[e];
        if (takes_[u] || takes_[v])
            change.add(energy_.pair(e, labels_[u], labels_[v]), energy_.pair(e, next(u), next(v)));
    }
    const bool better = change.better();
    for (const std::int32_t u : node_) {
        if (better) labels_[u] = next(u);
        takes_[u] = 0;
    }
    return better;
}

bool Fusion::fuse(std::span<const std::int32_t> proposal, const StopTest& stop) {
    node_.clear();
    for (std::size_t u = 0; u < labels_.size(); ++u) {
        variable_[u] = -1;
        if (proposal[u] == labels_[u]) continue;
        variable_[u] = static_cast<std::int32_t>(node_.size());
        node_.push_back(static_cast<std::int32_t>(u));
    }
    if (node_.empty()) return false;
    qpbo_.reset(static_cast<std::int32_t>(node_.size()));
    add_unaries(proposal);
    add_edges(proposal);
    keep_.assign(node_.size(), 0);
    qpbo_.solve(keep_, stop);
    bool any = false;
    for (std::size_t i = 0; i < node_.size(); ++i) {
        takes_[node_[i]] = qpbo_.labels()[i] == 1;
        any |= qpbo_.labels()[i] == 1;
    }
    return any && take(proposal);
}

bool Fusion::expand(std::int32_t alpha, const StopTest& stop) {
    proposal_ = labels_;
    for (std::size_t u = 0; u < labels_.size(); ++u)
        if (alpha < energy_.labels[u] && energy_.unary_of(static_cast<std::int64_t>(u))[alpha] < kInfinity)
            proposal_[u] = alpha;
    return fuse(proposal_, stop);
}

ExpansionResult expansion(const EnergyView& energy, std::vector<std::int32_t> labels,
                          const std::vector<std::vector<std::int32_t>>& proposals, int max_rounds,
                          const StopTest& stop) {
    Fusion state(energy, std::move(labels));
    ExpansionResult result;
    const auto stopped = [&] { return result.stopped = result.stopped || (stop && stop()); };
    const auto count = [&](bool better) {
        ++result.moves;
        result.improvements += better;
        return better;
    };
    for (const auto& proposal : proposals) {
        terms(energy, proposal);  // checks its labels
        if (!stopped()) count(state.fuse(proposal, stop));
    }
    const std::int32_t most = energy.labels.empty() ? 0 : *std::max_element(energy.labels.begin(), energy.labels.end());
    std::int32_t in_vain = 0;
    for (int round = 0; round < max_rounds && in_vain < most; ++round)
        for (std::int32_t alpha = 0; alpha < most && in_vain < most; ++alpha) {
            if (stopped()) break;
            in_vain = count(state.expand(alpha, stop)) ? 0 : in_vain + 1;
        }
    result.labels = state.labels();
    return result;
}

}  // namespace gapcut::infer
