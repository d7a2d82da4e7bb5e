#include "gapcut/learn/step_shard.hpp"
#include "gapcut/oracle/cut.hpp"
#include "oracle_calls.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

nb::tuple sums_from(CutOracle& oracle, const In1<double>& weights, const StepShard& start,
                    std::optional<double> seconds) {
    return totals(seconds, [&](const StopTest& stop) { return oracle.sums(span(weights), start.multipliers(), stop); });
}

nb::dict statistics(CutOracle& oracle, const In1<double>& weights) {
    const ClosureStats s = oracle.statistics(span(weights));
    nb::dict stats;
    stats["variables"] = s.variables;
    stats["arcs"] = s.arcs;
    stats["core_variables"] = s.core_variables;
    stats["core_arcs"] = s.core_arcs;
    stats["components"] = s.components;
    return stats;
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
    bind_oracle_calls(
        nb::class_<CutOracle>(m, "CutOracle", "Exact loss-augmented inference by min cut, threads over graphs."))
        .def(nb::init<const Problem&, int>(), "problem"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def("sums_from", &sums_from, "weights"_a, "start"_a, "seconds"_a.none() = nb::none(),
             "Sums where total has means; the flow starts from the arc multipliers of `start`.")
        .def("statistics", &statistics, "weights"_a, "Sizes of the cuts, summed over all graphs.")
        .def("use_persistency", &CutOracle::use_persistency, "on"_a)
        .def("core_network", &core_network, "weights"_a, "graph"_a,
             "The cuts of one graph as one network, as max_flow takes it: excess (n,), arcs (m, 2), forward (m,), "
             "backward (m,).");
    m.def("mean_above", &mean_above, "sum"_a, "count"_a,
          "At least the mean of `count` numbers >= 0 whose floating-point sum, in any order, is `sum`.");
}

}  // namespace gapcut::bindings
