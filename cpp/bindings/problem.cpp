#include "gapcut/problem.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "arrays.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

RowMatrix dense(const In2<double>& a) {
    return RowMatrix::from_dense(static_cast<std::int64_t>(a.shape(0)), static_cast<std::int64_t>(a.shape(1)),
                                 a.data());
}

RowMatrix csr(std::int64_t cols, const In1<std::int64_t>& offsets, const In1<std::int32_t>& columns,
              const In1<double>& values) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    if (rows < 0 || offsets.data()[0] != 0 || !std::is_sorted(offsets.data(), offsets.data() + offsets.size()) ||
        offsets.data()[rows] != static_cast<std::int64_t>(values.size()) || columns.size() != values.size())
        throw std::invalid_argument("malformed compressed rows");
    for (std::int64_t r = 0; r < rows; ++r)
        for (auto p = offsets.data()[r]; p < offsets.data()[r + 1]; ++p) {
            if (columns.data()[p] < 0 || columns.data()[p] >= cols ||
                (p > offsets.data()[r] && columns.data()[p] <= columns.data()[p - 1]))
                throw std::invalid_argument("compressed rows need ascending columns inside the matrix");
        }
    return RowMatrix::from_csr(rows, cols, offsets.data(), columns.data(), values.data());
}

void add_dense(RowCollector& rows, const In2<double>& a) {
    if (static_cast<std::int64_t>(a.shape(1)) != rows.cols())
        throw std::invalid_argument("rows of another number of columns");
    rows.add(static_cast<std::int64_t>(a.shape(0)), a.data());
}

CliqueGroup make_group(const RowMatrix& features, const In1<std::int64_t>& offset, const In2<std::int32_t>& members,
                       const In2<std::int32_t>& tuples) {
    if (members.shape(1) < 2 || members.shape(1) != tuples.shape(1))
        throw std::invalid_argument("members and tuples need one column a node");
    CliqueGroup group;
    group.order = static_cast<std::int32_t>(members.shape(1));
    group.features = features;
    group.offset = to_vector(offset);
    group.members.assign(members.data(), members.data() + members.size());
    group.tuples.assign(tuples.data(), tuples.data() + tuples.size());
    return group;
}

Problem make(int n_labels, const RowMatrix& nodes, const RowMatrix& edges, const In1<std::int64_t>& node_offset,
             const In1<std::int64_t>& edge_offset, const In1<std::int32_t>& tail, const In1<std::int32_t>& head,
             const In1<std::int32_t>& labels, const In1<double>& loss, const In1<double>& costs,
             const std::vector<CliqueGroup>& cliques) {
    Problem p;
    p.n_labels = n_labels;
    p.nodes = nodes;
    p.edges = edges;
    p.node_offset = to_vector(node_offset);
    p.edge_offset = to_vector(edge_offset);
    p.tail = to_vector(tail);
    p.head = to_vector(head);
    p.labels = to_vector(labels);
    p.loss = to_vector(loss);
    p.costs = to_vector(costs);
    p.cliques = cliques;
    p.finish();
    return p;
}

// Read-only views of everything packed, in a fixed order.
nb::list contents(nb::handle self) {
    const auto& p = nb::cast<const Problem&>(self);
    nb::list views;
    const auto add_span = [&]<class T>(std::span<const T> v) {
        views.append(nb::ndarray<nb::numpy, const T>(v.data(), {v.size()}, self));
    };
    const auto add = [&]<class T>(const std::vector<T>& v) { add_span(std::span<const T>(v)); };
    const auto add_rows = [&](const RowMatrix& rows) {
        add_span(rows.offsets());
        add_span(rows.columns());
        add_span(rows.values());
    };
    add_rows(p.nodes);
    add_rows(p.edges);
    add(p.node_offset);
    add(p.edge_offset);
    for (const auto* ints : {&p.tail, &p.head, &p.labels, &p.coordinates}) add(*ints);
    add(p.loss);
    if (!p.costs.empty()) add(p.costs);
    for (const CliqueGroup& group : p.cliques) {
        add_rows(group.features);
        add(group.offset);
        add(group.members);
        add(group.tuples);
    }
    return views;
}

template <class T>
Out<T> array_of(std::span<const T> values) {
    return to_array(std::vector<T>(values.begin(), values.end()));
}

// As it is stored: offsets from 0 on, and without the entries before a part.
nb::tuple saved_rows(const RowMatrix& rows) {
    const auto first = rows.sparse() ? static_cast<std::size_t>(rows.offsets().front()) : 0;
    std::vector<std::int64_t> offsets(rows.offsets().begin(), rows.offsets().end());
    for (auto& offset : offsets) offset -= static_cast<std::int64_t>(first);
    return nb::make_tuple(rows.rows(), rows.cols(), to_array(std::move(offsets)),
                          array_of(rows.sparse() ? rows.columns().subspan(first) : rows.columns()),
                          array_of(rows.values().subspan(first)));
}

RowMatrix loaded_rows(const nb::tuple& t) {
    return RowMatrix::from_stored(nb::cast<std::int64_t>(t[0]), nb::cast<std::int64_t>(t[1]),
                                  to_vector(nb::cast<In1<std::int64_t>>(t[2])),
                                  to_vector(nb::cast<In1<std::int32_t>>(t[3])), to_vector(nb::cast<In1<double>>(t[4])));
}

nb::tuple saved_group(const CliqueGroup& g) {
    const auto order = static_cast<std::size_t>(g.order);
    return nb::make_tuple(saved_rows(g.features), to_array(std::vector(g.offset)),
                          to_array(std::vector(g.members), {static_cast<std::size_t>(g.n_cliques()), order}),
                          to_array(std::vector(g.tuples), {static_cast<std::size_t>(g.n_tuples()), order}));
}

CliqueGroup loaded_group(const nb::tuple& t) {
    return make_group(loaded_rows(nb::cast<nb::tuple>(t[0])), nb::cast<In1<std::int64_t>>(t[1]),
                      nb::cast<In2<std::int32_t>>(t[2]), nb::cast<In2<std::int32_t>>(t[3]));
}

// For processes of one run, which trust each other.
nb::tuple saved(const Problem& p) {
    nb::list groups;
    for (const CliqueGroup& group : p.cliques) groups.append(saved_group(group));
    return nb::make_tuple(p.n_labels, saved_rows(p.nodes), saved_rows(p.edges), to_array(std::vector(p.node_offset)),
                          to_array(std::vector(p.edge_offset)), to_array(std::vector(p.tail)),
                          to_array(std::vector(p.head)), to_array(std::vector(p.labels)), to_array(std::vector(p.loss)),
                          to_array(std::vector(p.costs)), to_array(std::vector(p.coordinates)), groups);
}

void load(Problem& self, const nb::tuple& t) {
    std::vector<CliqueGroup> groups;
    for (const auto group : nb::cast<nb::list>(t[11])) groups.push_back(loaded_group(nb::cast<nb::tuple>(group)));
    new (&self) Problem(make(nb::cast<int>(t[0]), loaded_rows(nb::cast<nb::tuple>(t[1])),
                             loaded_rows(nb::cast<nb::tuple>(t[2])), nb::cast<In1<std::int64_t>>(t[3]),
                             nb::cast<In1<std::int64_t>>(t[4]), nb::cast<In1<std::int32_t>>(t[5]),
                             nb::cast<In1<std::int32_t>>(t[6]), nb::cast<In1<std::int32_t>>(t[7]),
                             nb::cast<In1<double>>(t[8]), nb::cast<In1<double>>(t[9]), groups));
    self.restrict_to(to_vector(nb::cast<In1<std::int32_t>>(t[10])));
}

void bind_rows(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<RowMatrix>(m, "RowMatrix", "Feature rows; stored dense or compressed by content.")
        .def_static("from_dense", &dense, "values"_a)
        .def_static("from_csr", &csr, "cols"_a, "offsets"_a, "columns"_a, "values"_a)
        .def_prop_ro("rows", &RowMatrix::rows)
        .def_prop_ro("cols", &RowMatrix::cols)
        .def_prop_ro("sparse", &RowMatrix::sparse);

    nb::class_<RowCollector>(m, "RowCollector", "Dense rows that come a few at a time and are in memory once.")
        .def(nb::init<std::int64_t, std::int64_t>(), "rows"_a, "cols"_a, "Room for so many rows is set aside.")
        .def("add", &add_dense, "values"_a)
        .def("finish", &RowCollector::finish, "As RowMatrix.from_dense of all of them; none is left here.");

    nb::class_<CliqueGroup>(m, "CliqueGroup", "Cliques of one order, all graphs stacked.")
        .def_static("make", &make_group, "features"_a, "offset"_a, "members"_a, "tuples"_a)
        .def_ro("order", &CliqueGroup::order)
        .def_prop_ro("n_cliques", &CliqueGroup::n_cliques)
        .def_prop_ro("n_tuples", &CliqueGroup::n_tuples)
        .def_prop_ro("dim", &CliqueGroup::dim)
        .def_prop_ro("offset", copy_of(&CliqueGroup::offset), nb::rv_policy::move)
        .def_prop_ro(
            "tuples",
            [](const CliqueGroup& g) {
                return to_array(std::vector(g.tuples),
                                {static_cast<std::size_t>(g.n_tuples()), static_cast<std::size_t>(g.order)});
            },
            nb::rv_policy::move);
}

}  // namespace

void bind_problem(nb::module_& m) {
    using namespace nb::literals;
    bind_rows(m);
    nb::class_<Problem>(m, "Problem", "All training graphs, packed.")
        .def_static("make", &make, "n_labels"_a, "nodes"_a, "edges"_a, "node_offset"_a, "edge_offset"_a, "tail"_a,
                    "head"_a, "labels"_a, "loss"_a, "costs"_a, "cliques"_a = std::vector<CliqueGroup>())
        .def("__getstate__", &saved)
        .def("__setstate__", &load)
        .def("part", &part_of, "begin"_a, "end"_a, "Graphs [begin, end) alone; features are shared.")
        .def(
            "restrict_to", [](Problem& p, const In1<std::int32_t>& c) { p.restrict_to(to_vector(c)); }, "coordinates"_a)
        .def_prop_ro("n_graphs", &Problem::n_graphs)
        .def_ro("n_labels", &Problem::n_labels)
        .def_prop_ro("node_dim", &Problem::node_dim)
        .def_prop_ro("edge_dim", &Problem::edge_dim)
        .def_prop_ro("cliques",
                     [](nb::handle self) {
                         nb::typed<nb::list, CliqueGroup> groups;
                         for (const CliqueGroup& group : nb::cast<const Problem&>(self).cliques)
                             groups.append(nb::cast(group, nb::rv_policy::reference_internal, self));
                         return groups;
                     })
        .def_prop_ro("pairwise_end", &Problem::pairwise_end)
        .def_prop_ro("full_dim", &Problem::full_dim)
        .def_prop_ro("dim", &Problem::dim)
        .def_prop_ro("coordinates", copy_of(&Problem::coordinates), nb::rv_policy::move)
        .def_prop_ro("node_offset", copy_of(&Problem::node_offset), nb::rv_policy::move)
        .def_prop_ro("edge_offset", copy_of(&Problem::edge_offset), nb::rv_policy::move)
        .def_prop_ro("labels", copy_of(&Problem::labels), nb::rv_policy::move)
        .def_prop_ro("costs", copy_of(&Problem::costs), nb::rv_policy::move)
        .def_prop_ro("tail", copy_of(&Problem::tail), nb::rv_policy::move)
        .def_prop_ro("head", copy_of(&Problem::head), nb::rv_policy::move)
        .def("contents", &contents, "All packed arrays as read-only views.",
             nb::sig("def contents(self) -> list[NDArray[numpy.generic]]"))
        .def("true_feature_sum", [](const Problem& p) { return to_array(true_feature_sum(p)); })
        .def("nonnegative_columns", [](const Problem& p) { return to_array(nonnegative_columns(p)); })
        .def("feature_columns", [](const Problem& p) { return to_array(feature_columns(p)); })
        .def("absolute_feature_sums",
             [](const Problem& p) {
                 return to_array(absolute_feature_sums(p),
                                 {static_cast<std::size_t>(p.n_graphs()), static_cast<std::size_t>(p.feature_width())});
             })
        .def("feature_radius", &feature_radius, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace gapcut::bindings
