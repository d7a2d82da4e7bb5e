// Weak persistency from the residual network of a doubled graph (Kolmogorov, Rother 2007, section 2.3; Billionnet,
// Jaumard 1992).
//
// Nodes 0..n-1 stand for literals x_i, n..2n-1 for their complements. A set of literals that no arc leaves, and that
// holds no literal together with its complement, may be made true.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gapcut::infer {

// The largest such set, (2 n) flags. `arcs` are pairs of nodes, and are completed by their mirror images: an arc i -> j
// implies one from the complement of j to the complement of i. Which of two complementary literals gets in where both
// could is arbitrary but deterministic.
std::vector<std::uint8_t> closed_set(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& arcs);

}  // namespace gapcut::infer
