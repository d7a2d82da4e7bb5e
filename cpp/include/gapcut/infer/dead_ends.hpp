// Dead-end elimination (Desmet et al. 1992) in Goldstein's form (1994), on factors of any order.
#pragma once

#include <vector>

#include "gapcut/infer/factors.hpp"

namespace gapcut::infer {

// (unary entries,) 1 for the labels to keep. Removed are labels that no allowed labeling uses (arc consistency), and
// labels k of a node with another label l that is proven no worse whatever the other nodes take:
//   unary(k) - unary(l) + sum over factors of min over the other members of table(k, .) - table(l, .) >= 0,
// rounded down, so the minimum of the energy stays exactly what it is. Labels go one after the other, until none can
// go or stop() turns true. A node without any label left means that every labeling is forbidden. Factors with more than
// `largest` entries of (labels x table) work keep their labels.
std::vector<char> dead_ends(const FactorGraph& graph, std::int64_t largest, const StopTest& stop = {});

}  // namespace gapcut::infer
