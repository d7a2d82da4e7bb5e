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

    // messages: those of the tails of all edges, label by label, then those of the heads. Read until the next call.
    void set(const std::optional<In2<float>>& messages, double unit) {
        *start = {};
        if (!messages) return;
        const auto labels = messages->shape(0) / 2, edges = messages->shape(1);
        const auto row = [&](std::size_t i) { return std::span(messages->data() + i * edges, edges); };
        for (std::size_t k = 0; k < labels; ++k) {
            start->of_label.tail.push_back(row(k));
            start->of_label.head.push_back(row(labels + k));
        }
        start->unit = unit;
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

// Planes, losses, proven bounds and labelings of the named graphs, by one of the ways.
nb::tuple evaluate_from(MessageBounds& self, const In1<double>& weights, const In1<std::int32_t>& graphs,
                        const std::optional<In2<float>>& messages, double unit, const std::string& way,
                        std::optional<double> seconds) {
    self.set(messages, unit);
    return evaluate(self.by_name(way), weights, graphs, seconds);
}

nb::tuple sums_of_messages(MessageBounds& self, const In1<double>& weights, const std::optional<In2<float>>& messages,
                           double unit, const std::string& way, std::optional<double> seconds) {
    self.set(messages, unit);
    Labeler& labeler = self.by_name(way);
    return totals(seconds, [&](const StopTest& stop) { return labeler.sums(span(weights), stop); });
}

nb::tuple sums_of_tables(const Problem& p, const In2<float>& z, const In2<float>& tables, int threads,
                         std::optional<double> seconds) {
    const auto labels = labels_of(p, z);
    const auto rows = spans(p, tables);
    RelaxedPlane found =
        until(seconds, [&](const StopTest& stop) { return table_sums(p, labels, rows, threads, stop); });
    return nb::make_tuple(to_array(std::move(found.plane)), found.loss);
}

nb::tuple planes_of(const Problem& p, const In2<float>& z, const In2<float>& tables, const In1<std::int32_t>& graphs,
                    int threads, std::optional<double> seconds) {
    const auto labels = labels_of(p, z);
    const auto rows = spans(p, tables);
    const auto dim = static_cast<std::size_t>(p.dim());
    std::vector<double> planes(graphs.size() * dim);
    auto losses = until(seconds, [&](const StopTest& stop) {
        return table_planes(p, labels, rows, span(graphs), planes.data(), threads, stop);
    });
    return nb::make_tuple(to_array(std::move(planes), {graphs.size(), dim}), to_array(std::move(losses)));
}

// In the shapes of the point it was made from.
nb::tuple point(TablePoint&& made, const In2<float>& z, const In2<float>& tables) {
    return nb::make_tuple(to_array(std::move(made.labels), {z.shape(0), z.shape(1)}),
                          to_array(std::move(made.tables), {tables.shape(0), tables.shape(1)}));
}

nb::tuple feasible(const Problem& p, const In2<float>& z, const In2<float>& tables, int threads,
                   std::optional<double> seconds) {
    const auto labels = labels_of(p, z);
    const auto rows = spans(p, tables);
    return point(until(seconds, [&](const StopTest& stop) { return feasible_point(p, labels, rows, threads, stop); }),
                 z, tables);
}

nb::tuple mixed(const Problem& p, const In2<float>& z, const In2<float>& tables, const In2<float>& other_z,
                const In2<float>& other_tables, const In2<std::int32_t>& labelings, const In2<double>& shares,
                int threads) {
    const auto view = [](const In2<float>& x) { return std::span(x.data(), x.size()); };
    const std::span all(labelings.data(), labelings.size());
    for (const auto label : all)
        if (label < 0 || label >= p.n_labels) throw std::invalid_argument("a label is out of range");
    return point(unlocked([&] {
                     return mixed_point(p, {view(z), view(tables)}, {view(other_z), view(other_tables)}, all,
                                        std::span(shares.data(), shares.size()), threads);
                 }),
                 z, tables);
}

}  // namespace

void bind_lp_relaxed(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<MessageBounds>(m, "MessageBounds", "One-hot bounds that start from the messages of an iteration.")
        .def(nb::init<const Problem&, int, int, double, int, double>(), "problem"_a, "threads"_a, "max_sweeps"_a,
             "tolerance"_a, "patience"_a, "least_progress"_a, nb::keep_alive<1, 2>())
        .def("sums", &sums_of_messages, "weights"_a, "messages"_a.none(), "unit"_a, "way"_a,
             "seconds"_a.none() = nb::none(),
             "Plane (dim,), loss and bound, summed over all graphs: 'quick', of the messages alone; 'separate', "
             "after sweeps with a table for each edge; 'merged', after TRW-S. "
             "messages (2 K, M): those of the tails of all edges, then those of the heads, over `unit`; without from "
             "zero.")
        .def("evaluate", &evaluate_from, "weights"_a, "graphs"_a, "messages"_a.none(), "unit"_a, "way"_a,
             "seconds"_a.none() = nb::none(),
             "Planes (m, dim), losses (m,), proven bounds (m,) and labelings (N,) of the named graphs, after sweeps.");
    m.def("acyclic", &acyclic, "problem"_a,
          "Whether no graph has a cycle, two edges between the same nodes being one.");
    m.def("parallel_edges", &parallel_edges, "problem"_a, "Whether two edges join the same nodes, either way.");
    m.def("table_sums", &sums_of_tables, "problem"_a, "labels"_a, "tables"_a, "threads"_a,
          "seconds"_a.none() = nb::none(),
          "Plane (dim,) and loss of labels (N, K) on the simplex and tables (K K, M), made feasible, summed over "
          "graphs.");
    m.def("feasible_point", &feasible, "problem"_a, "labels"_a, "tables"_a, "threads"_a,
          "seconds"_a.none() = nb::none(),
          "Labels (N, K) on the simplex and tables (K K, M) made feasible for them, rounded to single precision.");
    m.def("mixed_point", &mixed, "problem"_a, "labels"_a, "tables"_a, "other_labels"_a, "other_tables"_a, "labelings"_a,
          "shares"_a, "threads"_a,
          "Of each graph, shares (2 + L, n_graphs) of two points and labelings (L, N); the rest is the truth's.");
    m.def("table_planes", &planes_of, "problem"_a, "labels"_a, "tables"_a, "graphs"_a, "threads"_a,
          "seconds"_a.none() = nb::none(),
          "Planes (m, dim) and losses (m,) of the named graphs, as table_sums adds them up.");
}

}  // namespace gapcut::bindings
