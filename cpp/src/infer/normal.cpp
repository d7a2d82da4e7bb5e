#include "gapcut/infer/normal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gapcut/rounding.hpp"

namespace gapcut::infer {

TermRanges term_ranges(std::span<const double> entries, std::span<const std::int64_t> starts) {
    TermRanges out;
    out.least.reserve(starts.size());
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        double least = kInfinity, most = -kInfinity;
        for (std::int64_t i = starts[s]; i < starts[s + 1]; ++i) {
            const double x = entries[static_cast<std::size_t>(i)];
            least = std::min(least, x);
            if (x < kInfinity) most = std::max(most, x);
        }
        out.least.push_back(least);
        if (least < kInfinity) out.widest = std::max(out.widest, most - least);
    }
    return out;
}

std::vector<double> normal_entries(std::span<const double> entries, std::span<const std::int64_t> starts,
                                   std::span<const double> least, int exponent, double upper) {
    std::vector<double> out(entries.begin(), entries.end());
    const auto each = [&](auto&& f) {  // f(entry, least of its segment)
        for (std::size_t s = 0; s + 1 < starts.size(); ++s)
            if (least[s] < kInfinity)
                for (double *x = out.data() + starts[s], *end = out.data() + starts[s + 1]; x < end; ++x)
                    *x = f(*x, least[s]);
    };
    if (exponent == 0 && upper == kInfinity) {  // nearly always
        each([](double x, double low) {
            const double range = difference_below(x, low);
            return range < kTiny ? 0.0 : range;
        });
    } else {
        each([&](double x, double low) {
            const double range = difference_below(x, low);
            const double scaled = std::ldexp(range, -exponent);  // exact above kTiny
            return range > upper ? kInfinity : scaled < kTiny ? 0.0 : scaled;
        });
    }
    return out;
}

double excess(std::span<const double> terms, std::span<const double> least) {
    LowerSum negative;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i] == kInfinity) return kInfinity;
        const double d = least[i] - terms[i];
        const double part = d - least[i];
        negative.add(d);
        negative.add((least[i] - (d - part)) - (terms[i] + part));  // what d lost to rounding (Knuth's two-sum)
    }
    return -negative.value();
}

}  // namespace gapcut::infer
