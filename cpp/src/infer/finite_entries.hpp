// How large the finite entries of a table are; internal to infer.
#pragma once

#include <algorithm>
#include <cmath>

#include "gapcut/rounding.hpp"

namespace gapcut::infer {

class FiniteEntries {
  public:
    void add(double x) {
        if (x < kInfinity) least_ = std::min(least_, x), most_ = std::max(most_, x);
    }
    double magnitude() const { return least_ > most_ ? 0.0 : std::max(std::abs(least_), std::abs(most_)); }
    double range() const { return least_ > most_ ? 0.0 : std::min(most_ - least_, 2.0 * magnitude()); }

  private:
    double least_ = kInfinity, most_ = -kInfinity;
};

}  // namespace gapcut::infer
