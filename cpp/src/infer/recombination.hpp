// Two labelings into one that is no worse than both: nodes at which they differ take either's label, chosen by variable
// elimination, all at once where tables stay small (optimal recombination; Aggarwal, Orlin and Tai 1997 for independent
// sets). Internal to infer.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "links.hpp"

namespace gapcut::infer {

// Changes `labels` of core nodes to the best choice found between them and `other`, which is never worse than `labels`.
// Returns the table entries read, about.
double recombine(const Links& links, const std::vector<std::int32_t>& other, std::vector<std::int32_t>& labels,
                 std::mt19937_64& random);

}  // namespace gapcut::infer
