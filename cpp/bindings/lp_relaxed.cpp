// The LP-relaxed one-hot problem: bounds from the messages of the primal-dual iteration, planes of its tables.
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "gapcut/learn/primal_dual.hpp"
#include "gapcut/learn/table_dual.hpp"
#include "gapcut/oracle/reparametrised.hpp"
#include "infer_calls.hpp"
#include "oracle_calls.hpp"
#include "relaxed_labels.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

// One-hot inference that starts from the messages of an iteration: their bound, a better one with a table for each
// edge, or TRW-S from there.
struct MessageBounds {
    std::shared_ptr<StartMessages> start = std::make_shared<StartMessages>();
    Labeler quick, separate, merged;

    MessageBounds(const Problem& p, int threads, int max_sweeps, double tolerance, int patience, double least_progress)
        : quick(maximiser(p, message_settings(0, tolerance, patience, least_progress, "breadth-first"), false),
                threads),
          separate(
              maximiser(p, message_settings(max_sweeps, tolerance, patience, least_progress, "breadth-first"), false),
              threads),
          merged(maximiser(p, message_settings(max_sweeps, tolerance, patience, least_progress, "breadth-first"), true),
                 threads) {}

    OneHotMaximiser maximiser(const Problem& p, const infer::TrwsSettings& settings, bool merge) {
        return OneHotMaximiser(p, [=, s = start] { return make_reparametrised_solver(settings, s, merge); });
    }

    void set(const PrimalDual* state) {
        *start = {};
        if (state != nullptr) *start = {state->multipliers(), state->unit()};
    }

    Labeler& by_name(const std::string& way) {
        if (way == "quick") return quick;
        if (way == "separate") return separate;
        if (way == "merged") return merged;
        throw std::invalid_argument("unknown way '" + way + "'");
    }
};

std::vector<std::span<const float>> spans(const Problem& p, const In2<float>& tables) {
    const auto pairs = static_cast<std::size_t>(p.n_labels) * static_cast<std::size_t>(p.n_labels);
    if (tables.shape(0) != pairs || static_cast<std::int64_t>(tables.shape(1)) != p.edges.rows())
        throw std::invalid_argument("tables must be (label pairs, edges)");
    check_unit(tables, "tables");
    std::vector<std::span<const float>> rows;
    for (std::size_t pair = 0; pair < pairs; ++pair)
        rows.emplace_back(tables.data() + pair * tables.shape(1), tables.shape(1));
    return rows;
}

}  // namespace

void bind_lp_relaxed(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<MessageBounds>(m, "MessageBounds", "One-hot bounds that start from the messages of an iteration.")
        .def(nb::init<const Problem&, int, int, double, int, double>(), "problem"_a, "threads"_a, "max_sweeps"_a,
             "tolerance"_a, "patience"_a, "least_progress"_a, nb::keep_alive<1, 2>())
        .def(
            "total",
            [](MessageBounds& self, const In1<double>& weights, const PrimalDual* state, const std::string& way,
               std::optional<double> seconds) {
                self.set(state);
                Labeler& labeler = self.by_name(way);
                return totals(seconds, [&](const StopTest& stop) { return labeler.total(span(weights), stop); });
            },
            "weights"_a, "state"_a.none(), "way"_a, "seconds"_a.none() = nb::none(),
            "Mean plane (dim,), mean loss and mean bound over all graphs: 'quick', of the messages alone; 'separate', "
            "after sweeps with a table for each edge; 'merged', after TRW-S. Without a state from zero.")
        .def(
            "evaluate",
            [](MessageBounds& self, const In1<double>& weights, const In1<std::int32_t>& graphs,
               const PrimalDual* state, const std::string& way, std::optional<double> seconds) {
                self.set(state);
                return evaluate(self.by_name(way), weights, graphs, seconds);
            },
            "weights"_a, "graphs"_a, "state"_a.none(), "way"_a, "seconds"_a.none() = nb::none(),
            "Planes (m, dim), losses (m,) and proven bounds (m,) of the named graphs, after sweeps.");
    m.def("acyclic", &acyclic, "problem"_a,
          "Whether no graph has a cycle, two edges between the same nodes being one.");
    m.def("parallel_edges", &parallel_edges, "problem"_a, "Whether two edges join the same nodes, either way.");
    m.def(
        "table_plane",
        [](const Problem& p, const In2<float>& z, const In2<float>& tables, int threads,
           std::optional<double> seconds) {
            const auto labels = labels_of(p, z);
            const auto rows = spans(p, tables);
            RelaxedPlane found =
                until(seconds, [&](const StopTest& stop) { return table_plane(p, labels, rows, threads, stop); });
            return nb::make_tuple(to_array(std::move(found.plane)), found.loss);
        },
        "problem"_a, "labels"_a, "tables"_a, "threads"_a, "seconds"_a.none() = nb::none(),
        "Mean plane (dim,) and mean loss of labels (N, K) on the simplex and tables (K K, M), made feasible.");
}

}  // namespace gapcut::bindings
