// What tests of kernels share: random numbers, comparisons, and every target of this machine in turn.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/kernels.hpp"

namespace gapcut::testing {

template <class Real>
std::vector<Real> numbers(std::mt19937& random, std::int64_t n, double low = -1.0, double high = 1.0) {
    std::uniform_real_distribution<double> draw(low, high);
    std::vector<Real> out(static_cast<std::size_t>(n));
    for (Real& x : out) x = static_cast<Real>(draw(random));
    return out;
}

inline bool near(double a, double b, double tolerance = 1e-12) {
    return std::abs(a - b) <= tolerance * (1.0 + std::abs(b));
}

template <class Real>
bool near(const std::vector<Real>& a, const std::vector<Real>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!near(static_cast<double>(a[i]), static_cast<double>(b[i]), sizeof(Real) == 4 ? 1e-5 : 1e-12)) return false;
    return true;
}

// test(random) with each target in use.
template <class F>
void on_every_target(F test) {
    for (const auto& name : targets()) {
        use_target(name);
        CHECK(name == kernels().name);
        std::mt19937 random(7);
        test(random);
    }
    use_target("");
}

}  // namespace gapcut::testing
