// When message passing ends, for TRW-S and SRMP alike. A run has energy, bound, magnitude (sum of the absolute terms of
// the energy) and the history of both ends, a value a sweep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gapcut/infer/trws.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut::infer {

template <class Run>
bool closed(const Run& run, const TrwsSettings& settings) {
    return run.energy < kInfinity && run.energy - run.bound <= settings.tolerance * run.magnitude;
}

template <class Run>
bool stalled(const Run& run, const TrwsSettings& settings) {
    const std::size_t n = run.bounds.size(), back = static_cast<std::size_t>(settings.patience);
    if (n <= back) return false;
    const double rise = run.bound - run.bounds[n - 1 - back];
    if (run.energy == kInfinity) return rise <= settings.tolerance * std::abs(run.bound);
    const double fall = run.energies[n - 1 - back] - run.energy;
    return std::max(rise, fall) <= settings.least_progress * (run.energy - run.bound);
}

}  // namespace gapcut::infer
