// Scores of nodes and their rounding, as the exact oracles need them.
#pragma once

#include <cstdint>

#include "gapcut/oracle/sparse_weights.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// gamma_n = n u / (1 - n u): n roundings change a sum by at most this share of its absolute terms (Higham, ch. 3).
inline double gamma(double n) {
    constexpr double unit = 0x1p-53;
    return n * unit / (1.0 - n * unit);
}

// a_uk = w^k . phi(u) + loss_u (1 - 2 y_uk) of nodes [begin, end), (end - begin, K).
void unary_gains(const Problem& problem, const SparseWeights& weights, std::int64_t begin, std::int64_t end,
                 double* gains);

}  // namespace gapcut
