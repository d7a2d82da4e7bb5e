#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "gapcut/oracle/message.hpp"
#include "gapcut/oracle/tree.hpp"
#include "infer_calls.hpp"
#include "oracle_calls.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

// One graph as an energy, for solvers outside of this core.
struct AugmentedGraphs {
    OneHotProblem one_hot;

    explicit AugmentedGraphs(const Problem& problem) : one_hot(problem) {}

    void check(std::int32_t graph) const { check_graphs(one_hot.problem(), {&graph, 1}); }

    std::size_t nodes(std::int32_t graph) const {
        const auto& offset = one_hot.problem().node_offset;
        return static_cast<std::size_t>(offset[graph + 1] - offset[graph]);
    }

    nb::tuple energy(const In1<double>& weights, std::int32_t graph, bool binary) const {
        check(graph);
        const Problem& p = one_hot.problem();
        const OneHotWeights w = one_hot.prepare(span(weights));
        std::vector<double> gains;
        one_hot.gains(w, graph, gains);
        if (binary)  // loss_uk (1 - 2 y_uk) an indicator, in place of the loss of a label
            for (std::size_t i = 0; i < gains.size(); ++i) {
                const auto u = p.node_offset[graph] + static_cast<std::int64_t>(i) / w.width;
                gains[i] -= p.indicator_loss(u, p.labels[u]);
            }
        GraphEnergy e;
        e.set(one_hot, w, graph, gains);
        const auto K = static_cast<std::size_t>(p.n_labels), edges = e.tail.size();
        std::vector<std::int64_t> ends(2 * edges);
        for (std::size_t i = 0; i < edges; ++i) ends[2 * i] = e.tail[i], ends[2 * i + 1] = e.head[i];
        return nb::make_tuple(to_array(std::move(e.unary), {nodes(graph), K}), to_array(std::move(ends), {edges, 2}),
                              to_array(std::move(e.tables), {edges, K, K}), one_hot.rounding(w, graph));
    }

    nb::tuple plane(std::int32_t graph, const In1<std::int32_t>& labels) const {
        check(graph);
        const Problem& p = one_hot.problem();
        if (labels.size() != nodes(graph)) throw std::invalid_argument("one label a node is needed");
        for (std::size_t u = 0; u < labels.size(); ++u)
            if (labels.data()[u] < 0 || labels.data()[u] >= p.n_labels)
                throw std::invalid_argument("a label is out of range");
        std::vector<double> row(static_cast<std::size_t>(p.dim()));
        const double loss = one_hot.add_plane(graph, labels.data(), row.data());
        return nb::make_tuple(to_array(std::move(row)), loss);
    }

    nb::tuple fractional_plane(std::int32_t graph, const In2<double>& z, std::optional<In3<double>> m) const {
        check(graph);
        const Problem& p = one_hot.problem();
        const auto K = static_cast<std::size_t>(p.n_labels);
        const auto edges = static_cast<std::size_t>(p.edge_offset[graph + 1] - p.edge_offset[graph]);
        if (z.shape(0) != nodes(graph) || z.shape(1) != K)
            throw std::invalid_argument("shares must be (nodes, labels)");
        if (m && (m->shape(0) != edges || m->shape(1) != K || m->shape(2) != K))
            throw std::invalid_argument("shares of label pairs must be (edges, labels, labels)");
        std::vector<double> row(static_cast<std::size_t>(p.dim()));
        const double loss = one_hot.add_fractional_plane(graph, z.data(), m ? m->data() : nullptr, row.data());
        return nb::make_tuple(to_array(std::move(row)), loss);
    }
};

std::unique_ptr<Labeler> tree(const Problem& problem, int threads) {
    const auto forests = std::make_shared<const Forests>(Forests::of(problem));
    return std::make_unique<Labeler>(OneHotMaximiser(problem, [=] { return make_tree_solver(forests); }), threads);
}

std::unique_ptr<Labeler> message(const Problem& problem, int threads, int max_sweeps, double tolerance, int patience,
                                 double least_progress, bool warm) {
    const auto settings = message_settings(max_sweeps, tolerance, patience, least_progress, "breadth-first");
    const auto store = warm ? std::make_shared<MessageStore>(problem.n_graphs()) : nullptr;
    const auto make = [=] { return make_message_solver(settings, store); };
    return std::make_unique<Labeler>(OneHotMaximiser(problem, make), threads);
}

}  // namespace

void bind_one_hot(nb::module_& m) {
    using namespace nb::literals;
    bind_oracle_calls(nb::class_<Labeler>(m, "Labeler", "Loss-augmented one-hot inference, threads over graphs."));
    m.def("tree_labeler", &tree, "problem"_a, "threads"_a, nb::keep_alive<0, 1>());
    m.def("message_labeler", &message, "problem"_a, "threads"_a, "max_sweeps"_a, "tolerance"_a, "patience"_a,
          "least_progress"_a, "warm"_a, nb::keep_alive<0, 1>());
    nb::class_<AugmentedGraphs>(m, "AugmentedGraphs",
                                "Graphs of the one-hot problem as energies, and planes of their labelings.")
        .def(nb::init<const Problem&>(), "problem"_a, nb::keep_alive<1, 2>())
        .def("energy", &AugmentedGraphs::energy, "weights"_a, "graph"_a, "binary"_a = false,
             "Unary (V, K), edges (E, 2), tables (E, K, K) to minimise, and what rounding can hide; binary: with the "
             "loss of independent indicators.")
        .def(
            "truth",
            [](const AugmentedGraphs& a, std::int32_t graph) {
                a.check(graph);
                const Problem& p = a.one_hot.problem();
                return to_array(std::vector<std::int32_t>(p.labels.begin() + p.node_offset[graph],
                                                          p.labels.begin() + p.node_offset[graph + 1]));
            },
            "graph"_a, "True labels (V,).")
        .def("plane", &AugmentedGraphs::plane, "graph"_a, "labels"_a, "Plane (dim,) and loss of a labeling.")
        .def("fractional_plane", &AugmentedGraphs::fractional_plane, "graph"_a, "z"_a, "m"_a.none() = nb::none(),
             "The same for shares of labels (V, K) and of label pairs (E, K, K; default: products).");
}

}  // namespace gapcut::bindings
