#include <span>
#include <stdexcept>

#include "arrays.hpp"
#include "gapcut/scene/forest.hpp"
#include "gapcut/scene/radius_grid.hpp"
#include "gapcut/scene/regions.hpp"
#include "gapcut/scene/shape.hpp"
#include "gapcut/scene/shot.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

using scene::RadiusGrid;

template <class A>
auto span(const A& a) {
    return std::span(a.data(), a.size());
}

nb::tuple shot(const RadiusGrid& grid, const In2<float>& normals, const In1<std::int64_t>& at, bool wrap_cosine,
               int n_threads) {
    std::vector<float> descriptors(at.size() * scene::kShotSize), frames(at.size() * scene::kFrameSize);
    until(std::nullopt, [&](const StopTest& stop) {
        scene::shot(grid, span(normals), span(at), {wrap_cosine, n_threads}, descriptors, frames, stop);
    });
    return nb::make_tuple(to_array(std::move(descriptors), {at.size(), scene::kShotSize}),
                          to_array(std::move(frames), {at.size(), 3, 3}));
}

template <class F>
nb::tuple shape(std::size_t n, F&& compute) {
    std::vector<float> normals(3 * n), axes(3 * n), variances(3 * n);
    until(std::nullopt, [&](const StopTest& stop) { compute(scene::ShapeOut{normals, axes, variances}, stop); });
    return nb::make_tuple(to_array(std::move(normals), {n, 3}), to_array(std::move(axes), {n, 3}),
                          to_array(std::move(variances), {n, 3}));
}

nb::tuple shape_within_radius(const RadiusGrid& grid, int n_threads) {
    return shape(static_cast<std::size_t>(grid.n_points()), [&](const scene::ShapeOut& out, const StopTest& stop) {
        scene::shape_within_radius(grid, n_threads, out, stop);
    });
}

nb::tuple shape_of_nearest(const In2<double>& xyz, const In2<std::int32_t>& ids, int n_threads) {
    return shape(xyz.shape(0), [&](const scene::ShapeOut& out, const StopTest& stop) {
        scene::shape_of_nearest(span(xyz), span(ids), static_cast<std::int64_t>(ids.shape(1)), n_threads, out, stop);
    });
}

Out<float> shapes_around(const In2<double>& kept, const In2<std::int64_t>& ids, const In2<double>& centres, double size,
                         int n_threads) {
    std::vector<float> out(centres.shape(0) * static_cast<std::size_t>(scene::kAround));
    until(std::nullopt, [&](const StopTest& stop) {
        scene::shapes_around(span(kept), span(ids), span(centres), size, n_threads, out, stop);
    });
    return to_array(std::move(out), {centres.shape(0), static_cast<std::size_t>(scene::kAround)});
}

nb::tuple grow_regions(const In2<double>& xyz, const In2<float>& normals, const In2<float>& axes,
                       const In2<float>& variances, const In2<std::int32_t>& neighbours, double angle, double offset,
                       double curvature, double linearity, double reach, double extent, std::int64_t least) {
    scene::Regions found = unlocked([&] {
        return scene::grow_regions({span(xyz), span(normals), span(axes), span(variances), span(neighbours),
                                    static_cast<std::int64_t>(neighbours.shape(1))},
                                   {angle, offset, curvature, linearity, reach, extent, least});
    });
    return nb::make_tuple(to_array(std::move(found.segment)), to_array(std::move(found.step)));
}

Out<float> forest_means(const In1<std::int32_t>& root, const In1<std::int32_t>& feature, const In1<std::int32_t>& left,
                        const In1<std::int32_t>& right, const In1<double>& threshold, const In2<float>& value,
                        const In2<float>& rows, int n_threads) {
    const scene::ForestArrays forest{span(root),
                                     span(feature),
                                     span(left),
                                     span(right),
                                     span(threshold),
                                     span(value),
                                     static_cast<std::int64_t>(rows.shape(1)),
                                     static_cast<std::int64_t>(value.shape(1))};
    std::vector<float> out(rows.shape(0) * value.shape(1));
    until(std::nullopt, [&](const StopTest& stop) {
        scene::check(forest);
        scene::forest_means(forest, span(rows), n_threads, out, stop);
    });
    return to_array(std::move(out), {rows.shape(0), value.shape(1)});
}

}  // namespace

void bind_scene(nb::module_& m) {
    m.def("forest_means", &forest_means, nb::arg("root"), nb::arg("feature"), nb::arg("left"), nb::arg("right"),
          nb::arg("threshold"), nb::arg("value"), nb::arg("rows"), nb::arg("n_threads"));
    nb::class_<RadiusGrid>(m, "RadiusGrid")
        .def(
            "__init__",
            [](RadiusGrid* self, const In2<double>& xyz, double radius) { new (self) RadiusGrid(span(xyz), radius); },
            nb::arg("xyz"), nb::arg("radius"))
        .def_prop_ro("radius", &RadiusGrid::radius)
        .def(
            "neighbours",
            [](const RadiusGrid& grid, std::int64_t point) {
                if (point < 0 || point >= grid.n_points()) throw nb::index_error("no such point");
                scene::RadiusSearch search(grid);
                std::vector<std::int32_t> found;
                for (const scene::Neighbour& n : search.around(static_cast<std::int32_t>(point)))
                    found.push_back(n.index);
                return to_array(std::move(found));
            },
            nb::arg("point"))
        .def("shot", &shot, nb::arg("normals"), nb::arg("at"), nb::arg("wrap_cosine"), nb::arg("n_threads"))
        .def("shape", &shape_within_radius, nb::arg("n_threads"));
    m.def("shape_of_nearest", &shape_of_nearest, nb::arg("xyz"), nb::arg("neighbours"), nb::arg("n_threads"));
    m.def("shapes_around", &shapes_around, nb::arg("kept"), nb::arg("ids"), nb::arg("centres"), nb::arg("size"),
          nb::arg("n_threads"));
    m.def("grow_regions", &grow_regions, nb::arg("xyz"), nb::arg("normals"), nb::arg("axes"), nb::arg("variances"),
          nb::arg("neighbours"), nb::arg("angle"), nb::arg("offset"), nb::arg("curvature"), nb::arg("linearity"),
          nb::arg("reach"), nb::arg("extent"), nb::arg("least"));
}

}  // namespace gapcut::bindings
