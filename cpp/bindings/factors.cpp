#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <span>
#include <string>

#include "gapcut/infer/bp.hpp"
#include "gapcut/infer/cycles.hpp"
#include "gapcut/infer/dead_ends.hpp"
#include "gapcut/infer/srmp.hpp"
#include "infer_calls.hpp"
#include "pairwise_energy.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

// Keeps the arrays alive that the graph looks at.
struct Factors {
    In1<std::int32_t> labels;
    In1<std::int64_t> unary_at;
    In1<double> unary;
    In1<std::int64_t> factor_at;
    In1<std::int32_t> member;
    In1<std::int64_t> table_at;
    In1<double> tables;
    infer::FactorGraph graph;

    Factors(In1<std::int32_t> labels_, In1<std::int64_t> unary_at_, In1<double> unary_, In1<std::int64_t> factor_at_,
            In1<std::int32_t> member_, In1<std::int64_t> table_at_, In1<double> tables_)
        : labels(std::move(labels_)), unary_at(std::move(unary_at_)), unary(std::move(unary_)),
          factor_at(std::move(factor_at_)), member(std::move(member_)), table_at(std::move(table_at_)),
          tables(std::move(tables_)),
          graph(infer::FactorView{span(labels), span(unary_at), span(unary), span(factor_at), span(member),
                                  span(table_at), span(tables)}) {}
};

infer::TrwsResult run_srmp(const Factors& f, std::optional<double> time_left, int max_sweeps, double tolerance,
                           int patience, double least_progress, const std::string& order, const In1<double>& start) {
    const infer::TrwsSettings settings = message_settings(max_sweeps, tolerance, patience, least_progress, order);
    const std::vector<double> messages = to_vector(start);
    return until(time_left, [&](const StopTest& stop) { return infer::srmp(f.graph, settings, messages, stop); });
}

nb::tuple run_bp(const Factors& f, std::optional<double> time_left, int max_sweeps, double damping, int patience,
                 double tolerance) {
    infer::BpResult r = until(time_left, [&](const StopTest& stop) {
        return infer::belief_propagation(f.graph, {max_sweeps, damping, patience, tolerance}, stop);
    });
    return nb::make_tuple(to_array(std::move(r.labels)), r.infeasible, r.stopped, r.sweeps);
}

Out<std::uint8_t> run_dead_ends(const Factors& f, std::optional<double> time_left, std::int64_t largest) {
    const std::vector<char> keep =
        until(time_left, [&](const StopTest& stop) { return infer::dead_ends(f.graph, largest, stop); });
    return to_array(std::vector<std::uint8_t>(keep.begin(), keep.end()));
}

// Entries must be finite, since messages are differences of them.
nb::tuple run_tighten(const PairwiseEnergy& e, std::optional<double> time_left, int max_sweeps, double upper,
                      double tolerance, double most_entries) {
    infer::CycleResult r = until(time_left, [&](const StopTest& stop) {
        return infer::tighten(e.view, {max_sweeps, upper, tolerance, most_entries}, stop);
    });
    return nb::make_tuple(to_array(std::move(r.labels)), r.bound, r.triplets, r.sweeps, r.stopped);
}

}  // namespace

void bind_factors(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Factors>(m, "FactorGraph", "An energy as unary terms and factors of any order >= 2; checks sizes.")
        .def(nb::init<In1<std::int32_t>, In1<std::int64_t>, In1<double>, In1<std::int64_t>, In1<std::int32_t>,
                      In1<std::int64_t>, In1<double>>(),
             "labels"_a, "unary_at"_a, "unary"_a, "factor_at"_a, "member"_a, "table_at"_a, "tables"_a)
        .def(
            "components",
            [](const Factors& f) {
                std::vector<std::int32_t> component;
                const std::int32_t count = f.graph.components(component);
                return nb::make_tuple(count, to_array(std::move(component)));
            },
            "How many connected components, and (V,) that of each node, numbered by their first nodes.");

    m.def("srmp", &run_srmp, "factors"_a, "time_left"_a.none(), "max_sweeps"_a, "tolerance"_a, "patience"_a,
          "least_progress"_a, "order"_a, "start"_a, "Messages to the factors; `start` empty: zeros.");
    m.def("belief_propagation", &run_bp, "factors"_a, "time_left"_a.none(), "max_sweeps"_a, "damping"_a, "patience"_a,
          "tolerance"_a, "labels, infeasible, stopped, sweeps");
    m.def(
        "factor_icm",
        [](const Factors& f, const In1<std::int32_t>& start, std::optional<double> time_left) {
            return local_search(f.graph, start, time_left);
        },
        "factors"_a, "start"_a, "time_left"_a.none());
    m.def("tighten", &run_tighten, "energy"_a, "time_left"_a.none(), "max_sweeps"_a, "upper"_a, "tolerance"_a,
          "most_entries"_a, "(V,) int32 labels, bound, triplets, sweeps, stopped.");
    m.def("dead_ends", &run_dead_ends, "factors"_a, "time_left"_a.none(), "largest"_a,
          "(unary entries,) 1 for labels to keep.");
}

}  // namespace gapcut::bindings
