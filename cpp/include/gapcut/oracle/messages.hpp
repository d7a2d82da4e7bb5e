// Messages that bound the one-hot slack, to be written down (mathematics.md, Message passing): edge e gives d_e(k) to
// its tail's and to its head's label k, and pays for both,
//
//     max_y sum_u gain_u(y_u) + sum_e table_e(y_u, y_v)
//         <=  sum_u max_k (gain_u(k) + sum_e d_e(k)) + sum_e max_kl (table_e(k, l) - d_e,tail(k) - d_e,head(l)),
//
// whatever the messages are. For given ones to the head, the best to the tail are d_e,tail(k) = max_l (table_e(k, l) -
// d_e,head(l)), so only the former need to be written down; a constant on all of them changes nothing.
#pragma once

#include <span>
#include <vector>

#include "gapcut/oracle/reparametrised.hpp"

namespace gapcut {

// (2, K, M) messages to tails, the best up to rounding, and heads, 0 for the last label, at these weights: `start`,
// then sweeps of TRW-S, in which a node collects what its edges can give up and hands equal parts to the edges ahead
// (SRMP on edges; Kolmogorov 2015). Each edge keeps a table of its own, so the bound is one of the local polytope. It
// never falls, up to rounding, and nothing rests on that.
std::vector<float> edge_messages(const Problem& problem, std::span<const double> weights, const StartMessages& start,
                                 int sweeps, int threads, const StopTest& stop = {});

}  // namespace gapcut
