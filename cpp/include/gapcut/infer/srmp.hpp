// Sequential reweighted message passing, SRMP (Kolmogorov, A new look at reweighted message passing, PAMI 2015), on
// factors of any order, with single nodes as separators: TRW-S where all factors are edges.
//
// The energy is kept as a sum of reparametrised terms, unary_u - sum_f add_fu and table_f + sum_u add_fu. A step at a
// node moves the min-marginals of all its factors into it (their minima become zero), then gives equal parts to the
// factors that go on in the direction of the sweep. The sum of the minima of all terms, the bound, never falls in exact
// arithmetic; it is evaluated with every operation rounded down, so it is valid in floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/factors.hpp"
#include "gapcut/infer/trws.hpp"

namespace gapcut::infer {

// Every component of the graph until it is closed, stalled or has had max_sweeps (settings.order: breadth first or by
// index). `start`: message_size() finite messages to add to the factors, or empty for zeros; with max_sweeps = 0 only
// their bound and decoded labeling are returned. Labels that factors forbid are removed on the way.
TrwsResult srmp(const FactorGraph& graph, const TrwsSettings& settings, const std::vector<double>& start,
                const StopTest& stop = {});

}  // namespace gapcut::infer
