// Scores of nodes, as the bounds of the relaxed binary problem need them.
#pragma once

#include <cstdint>

#include "gapcut/oracle/sparse_weights.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// a_uk = w^k . phi(u) + loss_u (1 - 2 y_uk) of nodes [begin, end), (end - begin, K).
void unary_gains(const Problem& problem, const SparseWeights& weights, std::int64_t begin, std::int64_t end,
                 double* gains);

}  // namespace gapcut
