// Kernels on vectors of doubles, vectorised. The sums run in a fixed order, so results repeat bit for bit on one
// machine.
#pragma once

#include <cstdint>

#include "gapcut/kernels.hpp"

namespace gapcut {

inline double dot(const double* a, const double* b, std::int64_t n) { return kernels().dot(a, b, n); }

// y += s * a. The two do not overlap.
inline void add_scaled(double* y, double s, const double* a, std::int64_t n) { kernels().add_scaled(y, s, a, n); }

}  // namespace gapcut
