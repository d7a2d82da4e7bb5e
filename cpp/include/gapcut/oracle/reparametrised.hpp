// Bounds of the one-hot slack that start from given messages (mathematics.md, Message passing): any messages move cost
// between the terms of a graph without changing the energy of a labeling, so the minima of all terms add up to a lower
// bound, and TRW-S raises it from there.
#pragma once

#include <memory>
#include <vector>

#include "gapcut/infer/trws.hpp"
#include "gapcut/oracle/labeler.hpp"
#include "gapcut/oracle/slack_bound.hpp"

namespace gapcut {

// Multipliers of the rows (tail) and columns (head) of every edge's table, (M,) for each label, in units of `unit`:
// what the edge gives its ends.
struct StartMessages {
    ArcMultipliers of_label;
    double unit = 1.0;
};

// Adds messages to a graph's gains and takes them from its tables. Both are rounded upwards, so that no labeling is
// worth less than before. `start` may change between calls, not during one. max_sweeps = 0: the sum of the maxima of
// all terms, and for labels the best of each node; otherwise as make_message_solver without a store.
std::unique_ptr<GraphSolver> make_reparametrised_solver(const infer::TrwsSettings& settings,
                                                        std::shared_ptr<const StartMessages> start);

}  // namespace gapcut
