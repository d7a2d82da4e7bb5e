// The calls that all native oracles have.
#pragma once

#include "arrays.hpp"
#include "gapcut/oracle/driver.hpp"

namespace gapcut::bindings {

template <class Oracle>
nb::tuple evaluate(Oracle& oracle, const In1<double>& weights, const In1<std::int32_t>& graphs,
                   std::optional<double> seconds) {
    const auto dim = static_cast<std::size_t>(oracle.problem().dim());
    std::vector<double> planes(graphs.size() * dim);
    auto answers = until(seconds, [&](const StopTest& stop) {
        return oracle.evaluate(span(weights), span(graphs), planes.data(), stop);
    });
    return nb::make_tuple(to_array(std::move(planes), {graphs.size(), dim}), to_array(std::move(answers.losses)),
                          to_array(std::move(answers.bounds)), to_array(std::move(answers.labels)));
}

// run(stop) -> OracleTotals, without the interpreter lock.
template <class F>
nb::tuple totals(std::optional<double> seconds, F&& run) {
    OracleTotals found = until(seconds, run);
    return nb::make_tuple(to_array(std::move(found.plane)), found.loss, found.bound);
}

template <class Oracle>
nb::class_<Oracle> bind_oracle_calls(nb::class_<Oracle>&& oracle) {
    using namespace nb::literals;
    oracle
        .def("evaluate", &evaluate<Oracle>, "weights"_a, "graphs"_a, "seconds"_a.none() = nb::none(),
             "Planes (m, dim), losses (m,), proven bounds (m,) and labelings, concatenated, of the named graphs.")
        .def(
            "total",
            [](Oracle& self, const In1<double>& weights, std::optional<double> seconds) {
                return totals(seconds, [&](const StopTest& stop) { return self.total(span(weights), stop); });
            },
            "weights"_a, "seconds"_a.none() = nb::none(),
            "Mean plane (dim,), mean loss and mean bound over all graphs.");
    return oracle;
}

}  // namespace gapcut::bindings
