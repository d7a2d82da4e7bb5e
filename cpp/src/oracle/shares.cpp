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

SlackBound slack_bound(const Problem& p, std::span<const double> weights, const ArcShares& shares, int threads,
                       const StopTest& stop) {
    const auto M = static_cast<std::size_t>(p.edges.rows());
    const auto pairs = static_cast<std::size_t>(p.n_labels) * static_cast<std::size_t>(p.n_labels);
    if (shares.of_arc.size() != shares.pairs.size() * M) throw std::invalid_argument("one share an arc is needed");
    std::vector<float> tail(shares.of_arc.size()), head(tail.size());  // exact: whole numbers, their sum a power of two
    for (std::size_t i = 0; i < tail.size(); ++i) {
        if (shares.of_arc[i] > ArcShares::kWhole) throw std::invalid_argument("a share is more than the whole");
        tail[i] = static_cast<float>(shares.of_arc[i]);
        head[i] = static_cast<float>(ArcShares::kWhole - shares.of_arc[i]);
    }
    ArcMultipliers multipliers{std::vector<std::span<const float>>(pairs), std::vector<std::span<const float>>(pairs)};
    for (std::size_t q = 0; q < shares.pairs.size(); ++q) {
        const auto pair = static_cast<std::size_t>(shares.pairs[q]);
        if (pair >= pairs) throw std::invalid_argument("a label pair does not exist");
        multipliers.tail[pair] = {tail.data() + q * M, M};
        multipliers.head[pair] = {head.data() + q * M, M};
    }
    return slack_bound(p, weights, multipliers, threads, stop);
}

}  // namespace gapcut
