#include "gapcut/oracle/driver.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace gapcut {

void check_graphs(const Problem& problem, std::span<const std::int32_t> graphs) {
    for (const auto g : graphs)
        if (g < 0 || g >= problem.n_graphs())
            throw std::invalid_argument("no graph " + std::to_string(g) + " in this problem");
}

double checked_bound(double bound) {
    if (!std::isfinite(bound)) throw std::overflow_error("the scores of a graph are too large for double precision");
    return bound;
}

}  // namespace gapcut
