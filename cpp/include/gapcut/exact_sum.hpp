// The exact sum of doubles, rounded once, whatever their order and size (a small superaccumulator: Neal, Fast exact
// summation using small and large superaccumulators, 2015): one long fixed-point number, of which every summand changes
// two digits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gapcut {

class ExactSum {
  public:
    enum class Round { nearest, down };

    // Takes infinities and NaN too.
    void add(std::span<const double> values);

    // The nearest double (ties to even), as Python's math.fsum has it, or the largest that is not above; 0 is never -0.
    // Sums beyond the range of doubles are infinite or, rounded down, the largest double. NaN where a summand is, or
    // where both infinities are among them.
    double value(Round round) const;

  private:
    // digits_[i] counts 2^(32 i - 1074). Each addend changes a digit by less than 2^54, so carries can wait.
    static constexpr std::size_t kDigits = 67;
    static constexpr int kDigitBits = 32, kMostWaiting = 256;
    using Digits = std::array<std::int64_t, kDigits>;

    void add_bits(std::uint64_t bits);
    static void carry(Digits& digits);
    static double rounded(const Digits& digits, bool nearest, bool up);

    Digits digits_{};
    int waiting_ = 0;
    bool above_ = false, below_ = false, nan_ = false;  // +inf, -inf, NaN were added
};

}  // namespace gapcut
