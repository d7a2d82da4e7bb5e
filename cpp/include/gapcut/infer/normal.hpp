// Terms in normal form: the least entry of each is 0, and the largest near 1.
//
// A constant in a term changes no minimiser, but costs digits in every sum and would loosen a tolerance that is
// relative to the terms; entries near either end of the range of doubles lose digits or overflow in sums. Solvers see
// terms without either. All is rounded down, so bounds of the normal form hold for the terms given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gapcut::infer {

// Segment s of the entries is [starts[s], starts[s + 1]).
struct TermRanges {
    std::vector<double> least;  // (segments,) +inf where all entries are
    double widest = 0.0;        // the largest finite entry less the least of its segment
};
TermRanges term_ranges(std::span<const double> entries, std::span<const std::int64_t> starts);

// (entry - least of its segment) / 2^exponent, rounded down, tiny results to 0; what is above `upper` before the
// division becomes +inf. Requires 0 <= upper; entries are finite or +inf.
std::vector<double> normal_entries(std::span<const double> entries, std::span<const std::int64_t> starts,
                                   std::span<const double> least, int exponent, double upper);

// The sum of terms[i] - least[i], rounded up by a few units in the last place; 0 where all are equal. Requires finite
// least; terms are finite or +inf.
double excess(std::span<const double> terms, std::span<const double> least);

}  // namespace gapcut::infer
