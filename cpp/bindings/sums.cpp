#include "arrays.hpp"
#include "gapcut/exact_sum.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

double sum_of(const In1<double>& values, ExactSum::Round round) {
    return unlocked([&] {
        ExactSum sum;
        sum.add(span(values));
        return sum.value(round);
    });
}

}  // namespace

void bind_sums(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "exact_sum", [](const In1<double>& values) { return sum_of(values, ExactSum::Round::nearest); }, "values"_a,
        "The exact sum, rounded once to the nearest float; without the GIL.");
    m.def(
        "lower_sum", [](const In1<double>& values) { return sum_of(values, ExactSum::Round::down); }, "values"_a,
        "The largest float that is not above the exact sum.");
}

}  // namespace gapcut::bindings
