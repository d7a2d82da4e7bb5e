#include "gapcut/oracle/shares.hpp"

#include <stdexcept>
#include <utility>

#include "gapcut/oracle/sparse_weights.hpp"

namespace gapcut {

ArcShares shares_of(const Problem& p, std::span<const double> weights, const ArcMultipliers& multipliers) {
    check_multipliers(p, multipliers);
    ArcShares shares(p, SparseWeights(p, weights).pairwise.items);
    auto at = shares.of_arc.begin();
    for (const auto pair : shares.pairs) {
        const auto tail = multipliers.tail[pair], head = multipliers.head[pair];
        for (std::size_t e = 0; e < tail.size(); ++e)
            at[static_cast<std::ptrdiff_t>(e)] = share_of(tail_fraction(tail[e], head[e]));
        at += p.edges.rows();
    }
    return shares;
}

std::vector<std::uint8_t> arcs_with_gain(const Problem& p, std::span<const double> weights) {
    const SparseRows w = SparseWeights(p, weights).pairwise;
    const auto M = p.edges.rows();
    std::vector<std::uint8_t> gain(w.items.size() * static_cast<std::size_t>(M), 0);
    for (std::int64_t e = 0; e < M; ++e)
        p.edges.for_row(e, [&](std::int32_t d, double x) {
            if (x > 0.0)
                for (auto q = w.first[d]; q < w.first[d + 1]; ++q) gain[w.entries[q].item * M + e] = 1;
        });
    return gain;
}

SlackBound slack_bound(const Problem& p, std::span<const double> weights, std::span<const std::int32_t> pairs,
                       std::span<const std::uint16_t> shares, int threads, const StopTest& stop) {
    const auto M = static_cast<std::size_t>(p.edges.rows());
    const auto all = static_cast<std::size_t>(p.n_labels) * static_cast<std::size_t>(p.n_labels);
    if (shares.size() != pairs.size() * M) throw std::invalid_argument("one share an arc is needed");
    std::vector<float> parts(2 * shares.size());  // exact: whole numbers, their sum a power of two
    const std::span tail(parts.data(), shares.size()), head(parts.data() + shares.size(), shares.size());
    bool sound = true;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        sound &= shares[i] <= ArcShares::kWhole;
        tail[i] = static_cast<float>(shares[i]);
        head[i] = static_cast<float>(ArcShares::kWhole - shares[i]);
    }
    if (!sound) throw std::invalid_argument("a share is more than the whole");
    ArcMultipliers multipliers{std::vector<std::span<const float>>(all), std::vector<std::span<const float>>(all)};
    for (std::size_t q = 0; q < pairs.size(); ++q) {
        const auto pair = static_cast<std::size_t>(pairs[q]);
        if (pair >= all) throw std::invalid_argument("a label pair does not exist");
        multipliers.tail[pair] = tail.subspan(q * M, M);
        multipliers.head[pair] = head.subspan(q * M, M);
    }
    return slack_bound(p, weights, multipliers, threads, stop);
}

}  // namespace gapcut
