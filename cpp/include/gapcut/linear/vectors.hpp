// Kernels on vectors of doubles, vectorised. The sums run in a fixed order, so results repeat bit for bit on one
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/kernels.hpp"

namespace gapcut {

inline double dot(const double* a, const double* b, std::int64_t n) { return kernels().dot(a, b, n); }

// y += s * a. The two do not overlap.
inline void add_scaled(double* y, double s, const double* a, std::int64_t n) { kernels().add_scaled(y, s, a, n); }

// out (m, m): inner products of m rows over the columns named; row(i) points to the i-th. `packed` is scratch.
template <class RowAt>
void gram_over(std::int64_t m, RowAt row, const std::vector<std::int32_t>& columns, std::vector<double>& packed,
               std::vector<double>& out) {
    const auto width = std::ssize(columns);
    packed.resize(static_cast<std::size_t>(m * width));
    out.resize(static_cast<std::size_t>(m * m));
    for (std::int64_t i = 0; i < m; ++i) {
        const double* values = row(i);
        double* own = packed.data() + i * width;
        for (std::int64_t j = 0; j < width; ++j) own[j] = values[columns[j]];
        for (std::int64_t k = 0; k <= i; ++k)
            out[i * m + k] = out[k * m + i] = dot(own, packed.data() + k * width, width);
    }
}

}  // namespace gapcut
