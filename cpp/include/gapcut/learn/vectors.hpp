// Kernels on vectors of doubles, vectorised. The sums run in a fixed order, so results repeat bit for bit on one
// machine.
#pragma once

#include <cstdint>

namespace gapcut {

// Independent partial sums of a loop; the compiler turns them into vector registers, which one sum in a fixed order
// would not allow.
constexpr std::int64_t kLanes = 16;

inline double add_lanes(double (&lane)[kLanes]) {
    for (std::int64_t width = kLanes / 2; width > 0; width /= 2)
        for (std::int64_t k = 0; k < width; ++k) lane[k] += lane[k + width];
    return lane[0];
}

double dot(const double* a, const double* b, std::int64_t n);

// y += s * a. The two do not overlap.
void add_scaled(double* y, double s, const double* a, std::int64_t n);

}  // namespace gapcut
