#include "gapcut/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gapcut/rounding.hpp"

namespace gapcut {
namespace {

constexpr int kFraction = 52, kLeastExponent = -1074;  // of doubles
constexpr std::uint64_t kFractionMask = (std::uint64_t{1} << kFraction) - 1;
constexpr int kSpecial = 2047;  // the exponent of infinities and NaN

}  // namespace

void ExactSum::add_bits(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> kFraction) & kSpecial;
    const std::uint64_t fraction = bits & kFractionMask;
    if (exponent == kSpecial) {
        if (fraction != 0)
            nan_ = true;
        else
            (bits >> 63 ? below_ : above_) = true;
        return;
    }
    // |x| = mantissa 2^(place - 1074); subnormal numbers have no hidden bit, and the place of the least normal ones.
    const std::uint64_t normal = exponent != 0;
    const std::uint64_t mantissa = fraction | normal << kFraction;
    const int place = exponent - static_cast<int>(normal);
    const auto digit = static_cast<std::size_t>(place / kDigitBits);
    const int shift = place % kDigitBits;
    const auto low = static_cast<std::int64_t>((mantissa << shift) & 0xffffffffU);
    const auto high = static_cast<std::int64_t>(mantissa >> (kDigitBits - shift));
    const std::int64_t sign = static_cast<std::int64_t>(bits) >> 63;  // 0 or -1
    digits_[digit] += (low ^ sign) - sign;
    digits_[digit + 1] += (high ^ sign) - sign;
}

void ExactSum::add(std::span<const double> values) {
    while (!values.empty()) {
        if (waiting_ == kMostWaiting) carry(digits_), waiting_ = 0;
        const std::size_t n = std::min(values.size(), static_cast<std::size_t>(kMostWaiting - waiting_));
        for (const double x : values.first(n)) add_bits(std::bit_cast<std::uint64_t>(x));
        waiting_ += static_cast<int>(n);
        values = values.subspan(n);
    }
}

// All digits but the last into [0, 2^32); that one holds the sign.
void ExactSum::carry(Digits& digits) {
    for (std::size_t i = 0; i + 1 < kDigits; ++i) {
        digits[i + 1] += digits[i] >> kDigitBits;
        digits[i] &= 0xffffffff;
    }
}

double ExactSum::value(Round round) const {
    if (nan_ || (above_ && below_)) return std::numeric_limits<double>::quiet_NaN();
    if (above_ || below_) return above_ ? kInfinity : -kInfinity;
    Digits digits = digits_;
    carry(digits);
    const bool negative = digits.back() < 0;
    if (negative) {
        for (std::int64_t& d : digits) d = -d;
        carry(digits);
    }
    const double size = rounded(digits, round == Round::nearest, negative);
    if (size == kInfinity && round == Round::down && !negative) return std::numeric_limits<double>::max();
    return negative ? -size : size;
}

// Of carried digits that are not negative; away from 0 (`up`) where not to the nearest double.
double ExactSum::rounded(const Digits& digits, bool nearest, bool up) {
    std::size_t top = kDigits - 1;
    while (top > 0 && digits[top] == 0) --top;
    const auto bit = [&](int i) { return digits[static_cast<std::size_t>(i / kDigitBits)] >> (i % kDigitBits) & 1; };
    const auto highest = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(digits[top])));
    const int length = kDigitBits * static_cast<int>(top) + highest;
    const int cut = std::max(length - kFraction - 1, 0);  // lower bits are no part of the mantissa
    std::int64_t mantissa = 0;
    for (int i = length - 1; i >= cut; --i) mantissa = mantissa << 1 | bit(i);
    if (cut > 0) {
        const bool half = bit(cut - 1) != 0;
        const auto lowest = static_cast<std::size_t>((cut - 1) / kDigitBits);
        const std::int64_t mask = (std::int64_t{1} << ((cut - 1) % kDigitBits)) - 1;
        const bool rest = (digits[lowest] & mask) != 0 ||
                          std::any_of(digits.begin(), digits.begin() + lowest, [](auto d) { return d != 0; });
        mantissa += nearest ? half && (rest || (mantissa & 1) != 0) : up && (half || rest);
    }
    return std::ldexp(static_cast<double>(mantissa), cut + kLeastExponent);
}

}  // namespace gapcut
