#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "gapcut/planes/plane_cache.hpp"
#include "gapcut/planes/plane_qp.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

using SolvedPlanes = std::tuple<Out<double>, Out<double>, double, double, std::int64_t>;

using Solver = decltype(&solve_newton);

template <Solver solve>
SolvedPlanes solve_planes(const In2<double>& planes, const In1<double>& losses, double C, const In1<double>& lower,
                          const In1<double>& upper, const In1<double>& start, double tolerance,
                          std::int64_t max_iterations, std::optional<double> time_left) {
    const auto count = static_cast<std::int64_t>(planes.shape(0)), dim = static_cast<std::int64_t>(planes.shape(1));
    if (static_cast<std::int64_t>(losses.size()) != count)
        throw std::invalid_argument("losses need one entry per plane");
    const Box box{to_vector(lower), to_vector(upper)};
    const PlaneSet set{planes.data(), losses.data(), count, dim};
    QPSolution s = until(time_left, [&](const StopTest& stop) {
        return solve(set, box, C, to_vector(start), {tolerance, max_iterations}, stop);
    });
    return {to_array(std::move(s.alpha)), to_array(std::move(s.weights)), s.value, s.gap, s.iterations};
}

template <Solver solve>
void def_solver(nb::module_& m, const char* name) {
    using namespace nb::literals;
    m.def(name, &solve_planes<solve>, "planes"_a, "losses"_a, "C"_a, "lower"_a, "upper"_a, "start"_a, "tolerance"_a,
          "max_iterations"_a, "time_left"_a = nb::none());
}

template <class Cache>
std::int64_t add_planes(Cache& cache, const In1<std::int32_t>& blocks, const In2<double>& planes,
                        const In1<double>& losses) {
    if (planes.shape(0) != blocks.size() || losses.size() != blocks.size() ||
        static_cast<std::int64_t>(planes.shape(1)) != cache.dim())
        throw std::invalid_argument("planes and losses need one row per block and one column per weight");
    return cache.add(span(blocks), planes.data(), losses.data());
}

template <class Cache>
void bind_plane_cache(nb::module_& m, const char* name, const char* doc) {
    using namespace nb::literals;
    using Release = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Cache>(m, name, doc)
        .def(
            "__init__",
            [](Cache* self, std::int64_t blocks, double mass, const In1<double>& lower, const In1<double>& upper,
               std::int64_t max_planes, std::uint64_t seed) {
                new (self) Cache(blocks, mass, {to_vector(lower), to_vector(upper)}, max_planes, seed);
            },
            "blocks"_a, "mass"_a, "lower"_a, "upper"_a, "max_planes"_a, "seed"_a)
        .def("add", &add_planes<Cache>, "blocks"_a, "planes"_a, "losses"_a)
        .def(
            "sweep",
            [](Cache& cache, double target, std::int64_t most, std::optional<double> time_left) {
                return cache.sweep(target, most, stop_test(time_left));
            },
            Release(), "target"_a, "most"_a, "time_left"_a = nb::none())
        .def("refresh",
             [](Cache& cache) -> std::tuple<Out<double>, double, std::int64_t> {
                 auto sums = cache.refresh();
                 return {to_array(std::move(sums.x)), sums.loss, sums.terms};
             })
        .def("tick", &Cache::tick, "age"_a)
        .def("set_masses", [](Cache& cache, const In1<double>& masses) { cache.set_masses(span(masses)); })
        .def("masses", [](const Cache& cache) { return to_array(cache.masses()); })
        .def_prop_ro("size", &Cache::size)
        .def_prop_ro(
            "weights", [](const Cache& cache) { return to_array(std::vector(cache.weights())); }, nb::rv_policy::move);
}

}  // namespace

void bind_learn(nb::module_& m) {
    using namespace nb::literals;
    bind_plane_cache<PlaneCache<DensePoint>>(m, "PlaneCache", "Planes of every graph and the dual over them.");
    bind_plane_cache<PlaneCache<SparsePoint>>(m, "SparsePlaneCache", "The same for planes with few entries.");
    def_solver<&solve_newton>(m, "solve_planes_newton");
    def_solver<&solve_coordinate>(m, "solve_planes_coordinate");
}

}  // namespace gapcut::bindings
