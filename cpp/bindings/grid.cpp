#include "gapcut/infer/grid.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>

#include "infer_calls.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

// Keeps the arrays alive that the view looks at.
struct Grid {
    In3<double> unary;
    In2<double> table;
    std::optional<In2<double>> right, down;
    infer::GridView view;

    Grid(In3<double> unary_, In2<double> table_, std::optional<In2<double>> right_, std::optional<In2<double>> down_)
        : unary(std::move(unary_)), table(std::move(table_)), right(std::move(right_)), down(std::move(down_)) {
        const std::size_t h = unary.shape(0), w = unary.shape(1), k = unary.shape(2);
        if (h < 1 || w < 1 || k < 1) throw std::invalid_argument("a grid has pixels and labels");
        if (table.shape(0) != k || table.shape(1) != k) throw std::invalid_argument("table does not fit the labels");
        if (right && (right->shape(0) != h || right->shape(1) != w - 1))
            throw std::invalid_argument("weights to the right do not fit the pixels");
        if (down && (down->shape(0) != h - 1 || down->shape(1) != w))
            throw std::invalid_argument("weights downwards do not fit the pixels");
        view = {static_cast<std::int64_t>(h),
                static_cast<std::int64_t>(w),
                static_cast<std::int64_t>(k),
                unary.data(),
                table.data(),
                right ? right->data() : nullptr,
                down ? down->data() : nullptr};
    }

    std::vector<std::int32_t> labels_of(const In1<std::int32_t>& given) const {
        if (given.size() != static_cast<std::size_t>(view.height * view.width))
            throw std::invalid_argument("labeling has the wrong length");
        std::vector<std::int32_t> out = to_vector(given);
        for (const std::int32_t k : out)
            if (k < 0 || k >= view.labels) throw std::invalid_argument("label out of range");
        return out;
    }
};

infer::TrwsResult run(const Grid& g, std::optional<double> time_left, int max_sweeps, double tolerance, int patience,
                      double least_progress, const nb::object& tell) {
    if (g.view.height < 2 || g.view.width < 2 || g.view.labels < 2)
        throw std::invalid_argument("a grid needs two rows, columns and labels");
    const infer::TrwsSettings settings = message_settings(max_sweeps, tolerance, patience, least_progress, "index");
    const infer::TrwsListener listener = listener_of(tell);
    return until(time_left, [&](const StopTest& stop) { return infer::grid_trws(g.view, settings, stop, listener); });
}

}  // namespace

void bind_grid(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Grid>(m, "Grid", "Unaries (H, W, K), the table that edges share, weights of edges; checks sizes.")
        .def(nb::init<In3<double>, In2<double>, std::optional<In2<double>>, std::optional<In2<double>>>(), "unary"_a,
             "table"_a, "right"_a.none(), "down"_a.none())
        .def(
            "terms",
            [](const Grid& g, const In1<std::int32_t>& labels) {
                return to_array(infer::grid_terms(g.view, g.labels_of(labels)));
            },
            "labels"_a, "(V + E,) nodes, edges to the right, edges downwards.")
        .def("independent_bound",
             [](const Grid& g) { return unlocked([&] { return infer::grid_independent_bound(g.view); }); })
        .def("unary_labels", [](const Grid& g) { return to_array(infer::grid_unary_labels(g.view)); });
    m.def("grid_trws", &run, "grid"_a, "time_left"_a.none(), "max_sweeps"_a, "tolerance"_a, "patience"_a,
          "least_progress"_a, "tell"_a = nb::none());
}

}  // namespace gapcut::bindings
