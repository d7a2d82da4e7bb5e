// Lower bounds of min-marginals, min { U(y) : y_u = k }, from the reparametrisation that message passing ends with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/infer/packed.hpp"
#include "gapcut/infer/trws.hpp"

namespace gapcut::infer {

struct MinMarginals {
    TrwsResult found;
    // (unary entries,) min { U(y) : y_u = k } >= found.bound + excess[u, k]; never negative, +inf where label k of node
    // u is proven forbidden.
    std::vector<double> excess;
    bool exact = false;  // no component has a cycle: both sides agree but for rounding
};

// trws(), then one pass over its messages. Forests get their min-marginals by dynamic programming, see
// Reduction::spread. Requires what trws requires.
MinMarginals min_marginals(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop = {});

// The same for the core's nodes [first, last), one component in the order: writes how far at least a label lies above
// `bound`, which is one of the component, at the places of the original unary entries. False if the component is proven
// to have no allowed labeling. Uses up the messages, which must be those of a forward sweep, or zeros; requires loaded
// tables.
//
// One more backward half-sweep (sweep.hpp) leaves U(y) >= C + sum_i R_i(y_i) + sum_e E_e(y_a, y_b), all R and E >= 0:
// R_i is what node i keeps of its own excess, E_e(k, l) = sent_e(l) + T_e(k, l) - m_e - M_e(k). What lies before i in
// the order adds up by dynamic programming, each node's sum divided among its edges to later nodes (C_a = number of
// these):
//   G_i(l) = R_i(l) + sum over edges from a < i of min_k [E_e(k, l) + G_a(k) / C_a],
// and C + G_i(l) is the lower bound. All is rounded down.
bool core_excess(const Reduction& reduced, Packed& packed, std::int64_t first, std::int64_t last, double bound,
                 std::span<const std::int64_t> unary_at, std::span<double> excess);

}  // namespace gapcut::infer
