// Iterated conditional modes (Besag 1986): each node in turn takes its best label given its neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "gapcut/infer/factors.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

struct IcmResult {
    std::vector<std::int32_t> labels;
    std::int64_t changes = 0;
    bool stopped = false;  // stop() ended it before no node wanted to change
};

// Ensures that no single node can be improved (unless stopped, or after kIcmVisits visits a node, which only rounding
// could cause), and that a node changes only for a strictly better local cost. Local costs are compared by the number
// of forbidden terms first, then by the sum of the others, so a forbidden labeling is repaired where one node suffices.
// Requires labels in range (checked; throws std::invalid_argument).
IcmResult icm(const EnergyView& energy, std::vector<std::int32_t> labels, const StopTest& stop = {});
IcmResult icm(const FactorGraph& graph, std::vector<std::int32_t> labels, const StopTest& stop = {});

inline constexpr std::int64_t kIcmVisits = 1000;

}  // namespace gapcut::infer
