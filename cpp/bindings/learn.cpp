#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "gapcut/learn/plane_qp.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

using SolvedPlanes = std::tuple<Out<double>, Out<double>, double, double, std::int64_t>;
using Solver = QPSolution (*)(const PlaneSet&, const Box&, double, std::vector<double>, const QPOptions&, const StopTest&);

template <Solver solve>
SolvedPlanes solve_planes(const In2<double>& planes, const In1<double>& losses, double C, const In1<double>& lower,
                       const In1<double>& upper, const In1<double>& start, double tolerance,
                       std::int64_t max_iterations, std::uint64_t seed, std::optional<double> time_left) {
    const auto count = static_cast<std::int64_t>(planes.shape(0)), dim = static_cast<std::int64_t>(planes.shape(1));
    if (static_cast<std::int64_t>(losses.size()) != count) throw std::invalid_argument("losses need one entry per plane");
    const Box box{to_vector(lower), to_vector(upper)};
    const auto stop = stop_test(time_left);
    QPSolution s;
    {
        const nb::gil_scoped_release release;
        s = solve({planes.data(), losses.data(), count, dim}, box, C, to_vector(start), {tolerance, max_iterations, seed},
                  stop);
    }
    return {to_array(std::move(s.alpha)), to_array(std::move(s.weights)), s.value, s.gap, s.iterations};
}

template <Solver solve>
void def_solver(nb::module_& m, const char* name) {
    using namespace nb::literals;
    m.def(name, &solve_planes<solve>, "planes"_a, "losses"_a, "C"_a, "lower"_a, "upper"_a, "start"_a, "tolerance"_a,
          "max_iterations"_a, "seed"_a, "time_left"_a = nb::none());
}

}  // namespace

void bind_learn(nb::module_& m) {
    def_solver<&solve_newton>(m, "solve_planes_newton");
    def_solver<&solve_coordinate>(m, "solve_planes_coordinate");
}

}  // namespace gapcut::bindings
