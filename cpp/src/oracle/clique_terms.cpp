#include "gapcut/oracle/clique_terms.hpp"

#include <algorithm>

namespace gapcut {

CliqueTerms::CliqueTerms(const Problem& problem) : problem_(problem) {
    auto weight = problem.pairwise_end();
    for (const CliqueGroup& group : problem.cliques) {
        Group own;
        own.weight = weight;
        for (std::int32_t t = 0; t < group.n_tuples(); ++t) {
            const auto* slot = problem.slot.data() + weight + t * group.dim();
            if (std::any_of(slot, slot + group.dim(), [](std::int32_t place) { return place >= 0; }))
                own.live.push_back(t);
        }
        std::ranges::stable_sort(own.live, {}, [&](std::int32_t t) { return group.tuple(t)[0]; });
        for (std::int32_t k = 0; k <= problem.n_labels; ++k) {
            const auto at =
                std::ranges::lower_bound(own.live, k, {}, [&](std::int32_t t) { return group.tuple(t)[0]; });
            own.first.push_back(static_cast<std::int32_t>(at - own.live.begin()));
        }
        groups_.push_back(std::move(own));
        weight += group.size();
    }
}

void CliqueTerms::add_potentials(const SparseWeights& weights, std::int64_t graph, std::vector<double>& potentials,
                                 Closure& closure) const {
    const auto K = problem_.n_labels;
    const auto begin = problem_.node_offset[graph];
    std::vector<std::int32_t> indicators;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const CliqueGroup& group = problem_.cliques[g];
        const SparseRows& rows = weights.cliques[g];
        if (rows.items.empty()) continue;
        potentials.assign(rows.items.size(), 0.0);
        indicators.resize(static_cast<std::size_t>(group.order));
        for (auto c = group.offset[graph]; c < group.offset[graph + 1]; ++c)
            rows.for_potentials(group.features, c, potentials, [&](std::size_t q, double gain) {
                const auto *labels = group.tuple(rows.items[q]), *members = group.members_of(c);
                for (std::int32_t i = 0; i < group.order; ++i)
                    indicators[i] = static_cast<std::int32_t>((members[i] - begin) * K + labels[i]);
                closure.add_clique(indicators, gain);
            });
    }
}

void CliqueTerms::add_plane(std::int64_t graph, std::span<const std::uint8_t> z, std::vector<double>& plane) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const CliqueGroup& group = problem_.cliques[g];
        for (auto c = group.offset[graph]; c < group.offset[graph + 1]; ++c)
            add_clique_plane(group, groups_[g], c, problem_.node_offset[graph], z.data(), plane.data());
    }
}

void CliqueTerms::add_clique_plane(const CliqueGroup& group, const Group& own, std::int64_t clique,
                                   std::int64_t first_node, const std::uint8_t* z, double* plane) const {
    const auto K = problem_.n_labels;
    const auto* members = group.members_of(clique);
    const auto in_truth = [&](std::int32_t i, std::int32_t k) { return problem_.labels[members[i]] == k; };
    const auto in_found = [&](std::int32_t i, std::int32_t k) { return z[(members[i] - first_node) * K + k] != 0; };
    for (std::int32_t k = 0; k < K; ++k) {
        const bool true_first = in_truth(0, k), found_first = in_found(0, k);
        if (!true_first && !found_first) continue;
        for (auto at = own.first[k]; at < own.first[k + 1]; ++at) {
            const auto* labels = group.tuple(own.live[at]);
            bool truth = true_first, found = found_first;
            for (std::int32_t i = 1; i < group.order && (truth || found); ++i) {
                truth = truth && in_truth(i, labels[i]);
                found = found && in_found(i, labels[i]);
            }
            if (truth == found) continue;
            group.features.add_row(clique, truth ? 1.0 : -1.0, plane + own.weight + own.live[at] * group.dim());
        }
    }
}

}  // namespace gapcut
