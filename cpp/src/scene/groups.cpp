#include "gapcut/scene/groups.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gapcut::scene {
namespace {

struct Entry {
    double value;
    std::int64_t row;
};

bool before(const Entry& a, const Entry& b) { return a.value < b.value || (a.value == b.value && a.row < b.row); }

// Where each group starts, one more than there are groups.
std::vector<std::int64_t> starts(std::span<const std::int64_t> groups, std::int64_t n_groups) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(std::max<std::int64_t>(n_groups, 0)) + 1, 0);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] < 0 || groups[i] >= n_groups)
            throw std::invalid_argument("row " + std::to_string(i) + " is of group " + std::to_string(groups[i]) +
                                        ", but there are " + std::to_string(n_groups) + " groups");
        ++start[static_cast<std::size_t>(groups[i]) + 1];
    }
    for (std::size_t g = 1; g < start.size(); ++g) start[g] += start[g - 1];
    return start;
}

}  // namespace

std::vector<std::int64_t> group_order(std::span<const std::int64_t> groups, std::span<const double> values,
                                      std::int64_t n_groups) {
    if (!values.empty() && values.size() != groups.size())
        throw std::invalid_argument("there must be one value for each row, or none at all");
    const std::vector<std::int64_t> start = starts(groups, n_groups);
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    std::vector<std::int64_t> order(groups.size());
    if (values.empty()) {
        for (std::size_t i = 0; i < groups.size(); ++i)
            order[static_cast<std::size_t>(next[static_cast<std::size_t>(groups[i])]++)] = static_cast<std::int64_t>(i);
        return order;
    }
    std::vector<Entry> entries(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (std::isnan(values[i])) throw std::invalid_argument("the value of row " + std::to_string(i) + " is NaN");
        entries[static_cast<std::size_t>(next[static_cast<std::size_t>(groups[i])]++)] = {values[i],
                                                                                          static_cast<std::int64_t>(i)};
    }
    for (std::size_t g = 0; g + 1 < start.size(); ++g)
        std::sort(entries.begin() + start[g], entries.begin() + start[g + 1], before);
    std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& e) { return e.row; });
    return order;
}

}  // namespace gapcut::scene
