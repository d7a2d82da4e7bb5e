// Bounds that hold in spite of floating point: every operation that feeds a lower bound is rounded down.
//
// For a result t of one correctly rounded IEEE operation, t - u|t|/(1-u) is at most the exact value (u = 2^-53);
// `down` goes four times as far, which also pays for its own rounding. Sums in the subnormal range are exact, so
// nothing is lost there; a product is exact or relatively accurate only above kTiny.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gapcut {

inline constexpr double kUnit = 1.1102230246251565e-16;  // u = 2^-53
inline constexpr double kBelow = 1.0 - 4.0 * kUnit;
inline constexpr double kAbove = 1.0 + 4.0 * kUnit;
inline constexpr double kTiny = 1e-290;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// gamma_n = n u / (1 - n u): n roundings change a sum by at most this share of its absolute terms (Higham, ch. 3).
inline double gamma_n(double n) { return n * kUnit / (1.0 - n * kUnit); }

// At least the mean of `count` numbers >= 0 of which `sum` is the floating-point sum, in any order; inf stays inf. The
// rule for all bounds of oracles.
//
// Each number passes at most count - 1 additions, each of which keeps at least the share 1 - u of it, so the exact sum
// is at most sum / (1 - u)^(count-1). The three operations below, division, 1 + gamma and product, keep (1 - u)^3 of
// their exact result. 1 / (1 - u)^(count+2) <= 1 + gamma_(count+2) (Higham, lemma 3.1), and the gamma computed, two
// roundings below gamma_(count+4) >= gamma_(count+2) + 2u, is not below gamma_(count+2) while it is at most 1. Where
// the result is subnormal, the product loses at most half the smallest double; adding that double pays for it and
// changes no normal result. A sum of 0 has no terms but 0.
inline double mean_above(double sum, double count) {
    if (sum == 0.0) return 0.0;
    return sum * ((1.0 + gamma_n(count + 4.0)) / count) + 0x1p-1074;
}

// At most the exact result of the operation that gave t; +inf stays +inf.
inline double down(double t) { return t * (t < 0.0 ? kAbove : kBelow); }

// The largest double at most a - b; exact wherever the difference is a double. Requires finite b, a finite or +inf.
inline double difference_below(double a, double b) {
    const double d = a - b;
    const double part = d - a;
    const double error = (a - (d - part)) - (b + part);  // Knuth's two-sum: a - b = d + error; NaN where a is +inf
    // Without branches, which nobody could foresee: where there is an error, d is not 0, and the next double below has
    // the next bits.
    const auto bits = std::bit_cast<std::int64_t>(d);
    const std::int64_t step = bits >> 63 | 1;
    return std::bit_cast<double>(error < 0.0 ? bits - step : bits);
}

// A lower bound of a long sum, tight to a few units in the last place: the errors of the additions are exact
// (Knuth's two-sum) and summed beside it; `magnitude_` bounds what that second sum may have lost.
class LowerSum {
  public:
    // Requires x > -inf, not NaN. +inf makes the sum +inf.
    void add(double x) {
        if (x == kInfinity) {
            infinite_ = true;
            return;
        }
        const double s = sum_ + x;
        const double part = s - sum_;
        errors_ += (sum_ - (s - part)) + (x - part);
        sum_ = s;
        magnitude_ += std::abs(x);
        ++count_;
    }

    double value() const {
        if (infinite_) return kInfinity;
        const double n = (count_ + 2.0) * 2.0 * kUnit;
        return down(down(sum_ + errors_) - n * n * magnitude_);
    }

  private:
    double sum_ = 0.0, errors_ = 0.0, magnitude_ = 0.0, count_ = 0.0;
    bool infinite_ = false;
};

}  // namespace gapcut
