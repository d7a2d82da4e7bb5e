// Loopy belief propagation in the min-sum form (Pearl 1988; Weiss and Freeman 2001), damped, node by node.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/factors.hpp"

namespace gapcut::infer {

struct BpSettings {
    int max_sweeps = 200;     // forward and backward half-sweep together count as one
    double damping = 0.3;     // part of the old message that stays, in [0, 1)
    int patience = 20;        // sweeps without a better labeling after which it ends
    double tolerance = 1e-9;  // converged: no message changes by more than this part of the largest message
};

struct BpResult {
    std::vector<std::int32_t> labels;  // best over all sweeps
    int sweeps = 0;
    bool converged = false;
    bool infeasible = false;  // some node lost all its labels: every labeling is forbidden, proven
    bool stopped = false;
};

// Messages of factors to nodes, each recomputed in node order from what the other members believe. Labels that a factor
// forbids whatever the others take are removed for good. Exact on forests when undamped; no bound otherwise.
BpResult belief_propagation(const FactorGraph& graph, const BpSettings& settings, const StopTest& stop = {});

}  // namespace gapcut::infer
