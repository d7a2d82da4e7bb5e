// Splits of arcs as whole numbers, to be written down: of an arc's coefficient b the tail gets share/kWhole, the head
// the rest. Any shares bound the slack (slack_bound.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

struct ArcShares {
    static constexpr std::uint16_t kWhole = 1 << 15;

    // Even ones, for label pairs k * K + l.
    ArcShares(const Problem& problem, std::vector<std::int32_t> label_pairs)
        : pairs(std::move(label_pairs)),
          of_arc(pairs.size() * static_cast<std::size_t>(problem.edges.rows()), kWhole / 2) {}

    std::vector<std::int32_t> pairs;
    std::vector<std::uint16_t> of_arc;  // (pairs, M)
};

// Of a fraction in [0, 1].
inline std::uint16_t share_of(double fraction) {
    return static_cast<std::uint16_t>(std::lrint(fraction * ArcShares::kWhole));
}

// Of all label pairs with weight, as the multipliers say.
ArcShares shares_of(const Problem& problem, std::span<const double> weights, const ArcMultipliers& multipliers);

// (pairs, M) whether w^{kl} . phi_e > 0 for the pairs with weight, in exact arithmetic: products may underflow.
std::vector<std::uint8_t> arcs_with_gain(const Problem& problem, std::span<const double> weights);

// Mean over graphs of what the shares (pairs, M) of these label pairs prove. Throws std::invalid_argument for shares of
// another problem.
SlackBound slack_bound(const Problem& problem, std::span<const double> weights, std::span<const std::int32_t> pairs,
                       std::span<const std::uint16_t> shares, int threads, const StopTest& stop = {});

}  // namespace gapcut
