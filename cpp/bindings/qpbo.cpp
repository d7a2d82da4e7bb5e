#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "gapcut/infer/fusion.hpp"
#include "gapcut/infer/qpbo.hpp"
#include "gapcut/infer/tree_search.hpp"
#include "infer_calls.hpp"
#include "pairwise_energy.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

using infer::EnergyView;
using infer::Qpbo;

// Variables are the nodes. One with a single label is no choice: its terms go to its neighbours, and nothing in the
// function depends on its variable, which is set to 0 by a unary.
void add_energy(Qpbo& q, const EnergyView& e) {
    q.reset(static_cast<std::int32_t>(e.n_nodes()));
    for (std::int64_t u = 0; u < e.n_nodes(); ++u) {
        if (e.labels[u] > 2)
            throw std::invalid_argument("roof duality takes at most two labels a node, but node " + std::to_string(u) +
                                        " has " + std::to_string(e.labels[u]));
        const double* own = e.unary_of(u);
        if (e.labels[u] == 2)
            q.add_unary(static_cast<std::int32_t>(u), own[0], own[1]);
        else
            q.add_constant(own[0]);
    }
    for (std::int64_t i = 0; i < e.n_edges(); ++i) {
        const std::int32_t u = e.tail[i], v = e.head[i];
        const double* t = e.table_of(i);
        if (e.labels[u] == 2 && e.labels[v] == 2)
            q.add_pair(u, v, {t[0], t[1], t[2], t[3]});
        else if (e.labels[u] == 1 && e.labels[v] == 1)
            q.add_constant(t[0]);
        else
            q.add_unary(e.labels[u] == 2 ? u : v, t[0], t[1]);
    }
}

nb::tuple roof_dual(const PairwiseEnergy& e, const std::optional<In1<std::uint8_t>>& start,
                    std::optional<double> time_left) {
    Qpbo q;
    add_energy(q, e.view);
    const auto given = start ? span(*start) : std::span<const std::uint8_t>{};
    until(time_left, [&](const StopTest& stop) { q.solve(given, stop); });
    return nb::make_tuple(to_array(std::vector(q.labels())), to_array(std::vector(q.strong())), q.bound(), q.stopped());
}

nb::tuple expansion(const PairwiseEnergy& e, const In1<std::int32_t>& start, const In2<std::int32_t>& proposals,
                    int max_rounds, std::optional<double> time_left) {
    std::vector<std::vector<std::int32_t>> rows;
    for (std::size_t p = 0; p < proposals.shape(0); ++p)
        rows.emplace_back(proposals.data() + p * proposals.shape(1), proposals.data() + (p + 1) * proposals.shape(1));
    std::vector<std::int32_t> labels = to_vector(start);
    infer::ExpansionResult r = until(time_left, [&](const StopTest& stop) {
        return infer::expansion(e.view, std::move(labels), rows, max_rounds, stop);
    });
    return nb::make_tuple(to_array(std::move(r.labels)), r.moves, r.improvements, r.stopped);
}

nb::tuple search_trees(infer::TreeSearch& search, const In1<std::int32_t>& start, double most_entries,
                       std::optional<double> time_left) {
    std::vector<std::int32_t> labels = to_vector(start);
    infer::TreeSearchResult r =
        until(time_left, [&](const StopTest& stop) { return search.run(std::move(labels), most_entries, stop); });
    return nb::make_tuple(to_array(std::move(r.labels)), r.moves, r.improvements, r.stopped);
}

}  // namespace

void bind_qpbo(nb::module_& m) {
    using namespace nb::literals;
    m.def("roof_dual", &roof_dual, "energy"_a, "start"_a.none(), "time_left"_a.none(),
          "(V,) int8 labels 0, 1, -1 (unlabelled), (V,) uint8 strong, bound, stopped; at most two labels a node.");
    m.def("expansion", &expansion, "energy"_a, "start"_a, "proposals"_a, "max_rounds"_a, "time_left"_a.none(),
          "(V,) int32 labels, moves, improvements, stopped; proposals (P, V).");
    nb::class_<infer::TreeSearch>(m, "TreeSearch", "Local search by forests and windows; a run goes on from the last.")
        .def(
            "__init__",
            [](infer::TreeSearch* self, const PairwiseEnergy& e, std::uint64_t seed) {
                const nb::gil_scoped_release release;
                new (self) infer::TreeSearch(e.view, seed);
            },
            "energy"_a, "seed"_a, nb::keep_alive<1, 2>())
        .def("run", &search_trees, "start"_a, "most_entries"_a, "time_left"_a.none(),
             "(V,) int32 labels, moves, improvements, stopped.");
}

}  // namespace gapcut::bindings
