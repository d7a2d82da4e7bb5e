// Rows sorted by group and, within a group, by value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gapcut::scene {

// The rows by ascending group, within a group by ascending value, equal values (or no values at all) by row.
//
// Groups are placed by counting and sorted one at a time, so that with n rows in groups of at most m the time is
// n log m, and the memory at work is that of one group, however many rows there are.
//
// Requires one group in [0, n_groups) for each row, and one value for each or none; values must not be NaN. Throws
// std::invalid_argument otherwise.
std::vector<std::int64_t> group_order(std::span<const std::int64_t> groups, std::span<const double> values,
                                      std::int64_t n_groups);

}  // namespace gapcut::scene
