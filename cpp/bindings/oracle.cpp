#include "arrays.hpp"
#include "gapcut/learn/primal_dual.hpp"
#include "gapcut/oracle/cut.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

nb::tuple evaluate(CutOracle& oracle, const In1<double>& weights, const In1<std::int32_t>& graphs,
                   std::optional<double> seconds) {
    const auto dim = static_cast<std::size_t>(oracle.problem().dim());
    std::vector<double> planes(graphs.size() * dim), losses(graphs.size()), bounds(graphs.size());
    std::vector<CutAnswer> answers;
    {
        const auto stop = stop_test(seconds);
        const nb::gil_scoped_release release;
        answers = oracle.evaluate(span(weights), span(graphs), planes.data(), stop);
    }
    for (std::size_t r = 0; r < answers.size(); ++r) {
        losses[r] = answers[r].loss;
        bounds[r] = answers[r].bound;
    }
    return nb::make_tuple(to_array(std::move(planes), {graphs.size(), dim}), to_array(std::move(losses)),
                          to_array(std::move(bounds)));
}

nb::tuple total(CutOracle& oracle, const In1<double>& weights, std::optional<double> seconds, const PrimalDual* start) {
    CutTotals totals;
    {
        const auto stop = stop_test(seconds);
        const nb::gil_scoped_release release;
        const ArcMultipliers multipliers = start == nullptr ? ArcMultipliers() : start->multipliers();
        totals = oracle.total(span(weights), stop, start == nullptr ? nullptr : &multipliers);
    }
    const auto& s = totals.stats;
    nb::dict stats;
    stats["variables"] = s.variables;
    stats["arcs"] = s.arcs;
    stats["core_variables"] = s.core_variables;
    stats["core_arcs"] = s.core_arcs;
    stats["components"] = s.components;
    return nb::make_tuple(to_array(std::move(totals.plane)), totals.loss, totals.bound, stats);
}

nb::tuple core_network(CutOracle& oracle, const In1<double>& weights, std::int32_t graph) {
    CoreNetwork network = oracle.core_network(span(weights), graph);
    const std::size_t arcs = network.forward.size();
    return nb::make_tuple(to_array(std::move(network.excess)), to_array(std::move(network.arcs), {arcs, 2}),
                          to_array(std::move(network.forward)), to_array(std::move(network.backward)));
}

}  // namespace

void bind_oracle(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<CutOracle>(m, "CutOracle", "Exact loss-augmented inference by min cut, threads over graphs.")
        .def(nb::init<const Problem&, int>(), "problem"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def("evaluate", &evaluate, "weights"_a, "graphs"_a, "seconds"_a.none() = nb::none(),
             "Planes (m, dim), losses (m,) and proven bounds (m,) of the named graphs.")
        .def("total", &total, "weights"_a, "seconds"_a.none() = nb::none(), "start"_a.none() = nb::none(),
             "Mean plane (dim,), mean loss, mean bound and cut statistics over all graphs. The flow starts from the "
             "arc multipliers of `start`.")
        .def(
            "labelings",
            [](CutOracle& oracle, const In1<double>& weights, const In1<std::int32_t>& graphs) {
                const nb::gil_scoped_release release;
                auto labels = oracle.labelings(span(weights), span(graphs));
                const nb::gil_scoped_acquire acquire;
                return to_array(std::move(labels));
            },
            "weights"_a, "graphs"_a, "The maximisers, V * K bytes a graph.")
        .def("use_persistency", &CutOracle::use_persistency, "on"_a)
        .def("core_network", &core_network, "weights"_a, "graph"_a,
             "The cuts of one graph as one network, as max_flow takes it: excess (n,), arcs (m, 2), forward (m,), "
             "backward (m,).");
}

}  // namespace gapcut::bindings
