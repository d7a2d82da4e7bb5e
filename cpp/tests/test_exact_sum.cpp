#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "gapcut/exact_sum.hpp"
#include "gapcut/rounding.hpp"

using namespace gapcut;

namespace {

double total(const std::vector<double>& values, ExactSum::Round round) {
    ExactSum sum;
    sum.add(values);
    return sum.value(round);
}

}  // namespace

// Against Python's math.fsum: tests/inference/test_sums.py.
GAPCUT_TEST(exact_sum_keeps_what_cancellation_leaves) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> values;
        for (int i = 0; i < 2000; ++i) {
            const double x = std::ldexp(normal(random), static_cast<int>(random() % 1900) - 1000);
            values.push_back(x), values.push_back(-x);
        }
        values.push_back(std::numeric_limits<double>::denorm_min());
        std::shuffle(values.begin(), values.end(), random);
        CHECK(total(values, ExactSum::Round::nearest) == std::numeric_limits<double>::denorm_min());
        CHECK(total(values, ExactSum::Round::down) == std::numeric_limits<double>::denorm_min());
    }
}

GAPCUT_TEST(exact_sum_rounds_to_nearest_and_down) {
    const double u = kUnit, most = std::numeric_limits<double>::max();
    CHECK(total({1.0, u}, ExactSum::Round::nearest) == 1.0);
    CHECK(total({1.0 + 2.0 * u, u}, ExactSum::Round::nearest) == 1.0 + 4.0 * u);
    CHECK(total({-1.0, -u}, ExactSum::Round::nearest) == -1.0);
    CHECK(total({-1.0, -u}, ExactSum::Round::down) == -1.0 - 2.0 * u);
    CHECK(total({1.0, 1.9 * u}, ExactSum::Round::down) == 1.0);
    CHECK(total({most, most}, ExactSum::Round::nearest) == kInfinity);
    CHECK(total({most, most}, ExactSum::Round::down) == most);
    CHECK(total({-most, -most}, ExactSum::Round::down) == -kInfinity);
    CHECK(std::isnan(total({kInfinity, -kInfinity}, ExactSum::Round::nearest)));
    CHECK(!std::signbit(total({-0.0}, ExactSum::Round::nearest)));
}
