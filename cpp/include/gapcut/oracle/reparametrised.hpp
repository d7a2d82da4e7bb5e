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
// worth less than before. `start` may change between calls, not during one.
//
// TRW-S as make_message_solver without a store. It adds parallel edges up before it starts, so its bound is that of a
// tighter relaxation than one with a table for each; unless `merge`, graphs that have such get max_sweeps over all
// edges instead, each evened out with its ends (MPLP's step by edges; Globerson and Jaakkola 2007), the sum of the
// maxima of all terms, and for labels the best of each node. max_sweeps = 0: that without any sweep.
std::unique_ptr<GraphSolver> make_reparametrised_solver(const infer::TrwsSettings& settings,
                                                        std::shared_ptr<const StartMessages> start, bool merge);

}  // namespace gapcut
