#include "gapcut/kernels.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <stdexcept>

#include "arrays.hpp"
#include "gapcut/linear/vectors.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

void check_sizes(std::size_t one, std::size_t two) {
    if (one != two) throw std::invalid_argument("vectors differ in length");
}

double dot_of(const In1<double>& a, const In1<double>& b) {
    check_sizes(a.size(), b.size());
    return dot(a.data(), b.data(), static_cast<std::int64_t>(a.size()));
}

Out<double> dots(const In2<double>& rows, const In1<double>& w) {
    check_sizes(rows.shape(1), w.size());
    std::vector<double> found(rows.shape(0));
    for (std::size_t i = 0; i < found.size(); ++i)
        found[i] = dot(rows.data() + i * w.size(), w.data(), static_cast<std::int64_t>(w.size()));
    return to_array(std::move(found));
}

Out<double> weighted_sum(const In1<double>& weights, const In2<double>& rows) {
    check_sizes(rows.shape(0), weights.size());
    std::vector<double> sum(rows.shape(1));
    for (std::size_t i = 0; i < weights.size(); ++i)
        add_scaled(sum.data(), weights.data()[i], rows.data() + i * sum.size(), std::ssize(sum));
    return to_array(std::move(sum));
}

}  // namespace

void bind_kernels(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def("targets", &targets, "Targets of the kernels that this processor can run, slowest first.");
    m.def("target", [] { return std::string(kernels().name); }, "The target in use.");
    m.def("use_target", &use_target, "name"_a,
          "Another target (empty: the fastest); not while other threads compute. Raises ValueError naming those there "
          "are.");
    // For sums that results pass through: the order is the same whatever the library for linear algebra does.
    m.def("dot", &dot_of, "a"_a, "b"_a, "Inner product, summed in an order that depends on the length only.");
    m.def("dots", &dots, "rows"_a, "w"_a, "Inner products of all rows with w; each as dot has it.");
    m.def("weighted_sum", &weighted_sum, "weights"_a, "rows"_a, "Sum of the rows, each times its weight, in order.");
    const char* wanted = std::getenv("GAPCUT_TARGET");
    use_target(wanted == nullptr ? "" : wanted);
}

}  // namespace gapcut::bindings
