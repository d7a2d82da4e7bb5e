// What a run costs, counted rather than timed so that results do not depend on the clock: instructions of AVX2,
// roughly.
#pragma once

#include "gapcut/row_matrix.hpp"

namespace gapcut {

// Mean number of entries that for_row passes over.
inline double entries_a_row(const RowMatrix& x) {
    return x.rows() == 0 ? 0.0 : static_cast<double>(x.entries()) / static_cast<double>(x.rows());
}

// Rows of `width` floats that stay in the first cache while several weighted sums of them are made.
inline std::int64_t rows_at_once(std::int64_t width) {
    return std::max<std::int64_t>(32, (1 << 12) / std::max<std::int64_t>(1, width));
}

}  // namespace gapcut
