#include <span>
#include <stdexcept>

#include "arrays.hpp"
#include "gapcut/scene/forest.hpp"
#include "gapcut/scene/morton.hpp"
#include "gapcut/scene/near_grid.hpp"
#include "gapcut/scene/radius_grid.hpp"
#include "gapcut/scene/regions.hpp"
#include "gapcut/scene/shape.hpp"
#include "gapcut/scene/shot.hpp"
#include "gapcut/scene/thin.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

using scene::Forest;
using scene::NearGrid;
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

scene::Places places_of(const std::optional<In2<double>>& places) {
    return places ? scene::Places(span(*places)) : std::nullopt;
}

nb::tuple nearest_points(const NearGrid& grid, const std::optional<In2<double>>& places, std::int64_t k,
                         int n_threads) {
    const std::size_t n = places ? places->shape(0) : static_cast<std::size_t>(grid.n_points());
    if (k < 1 || k > grid.n_points()) throw nb::value_error("k must be from 1 to the number of points");
    const std::size_t width = static_cast<std::size_t>(k);
    std::vector<std::int32_t> ids(n * width);
    std::vector<double> squared(n * width);
    until(std::nullopt,
          [&](const StopTest& stop) { scene::nearest(grid, places_of(places), k, n_threads, ids, squared, stop); });
    return nb::make_tuple(to_array(std::move(ids), {n, width}), to_array(std::move(squared), {n, width}));
}

Out<float> shapes_near(const NearGrid& grid, const In2<double>& places, std::int64_t k, double size, int n_threads) {
    std::vector<float> out(places.shape(0) * static_cast<std::size_t>(scene::kAround));
    until(std::nullopt,
          [&](const StopTest& stop) { scene::shapes_near(grid, span(places), k, size, n_threads, out, stop); });
    return to_array(std::move(out), {places.shape(0), static_cast<std::size_t>(scene::kAround)});
}

Out<std::int32_t> sort_keys(const In1<std::uint64_t>& keys) {
    std::vector<std::uint64_t> sorted = to_vector(keys);
    return to_array(unlocked([&] { return scene::sort_keys(sorted); }));
}

Out<std::int64_t> voxel_sample(const In2<double>& xyz, double size, std::uint64_t seed,
                               const std::optional<In1<std::int64_t>>& numbers) {
    const auto number = numbers ? span(*numbers) : std::span<const std::int64_t>{};
    return to_array(unlocked([&] { return scene::voxel_sample(span(xyz), size, seed, number); }));
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

void new_forest(Forest* self, const In1<std::int32_t>& root, const In1<std::int32_t>& feature,
                const In1<std::int32_t>& left, const In1<std::int32_t>& right, const In1<double>& threshold,
                const In2<float>& value, std::int64_t n_features) {
    const scene::ForestArrays arrays{
        span(root),      span(feature), span(left), span(right),
        span(threshold), span(value),   n_features, static_cast<std::int64_t>(value.shape(1))};
    unlocked([&] { new (self) Forest(arrays); });
}

Out<float> forest_means(const Forest& forest, const In2<float>& rows, int n_threads) {
    const std::size_t width = static_cast<std::size_t>(forest.n_classes());
    std::vector<float> out(rows.shape(0) * width);
    until(std::nullopt, [&](const StopTest& stop) { forest.means(span(rows), n_threads, out, stop); });
    return to_array(std::move(out), {rows.shape(0), width});
}

}  // namespace

void bind_scene(nb::module_& m) {
    nb::class_<Forest>(m, "Forest")
        .def("__init__", &new_forest, nb::arg("root"), nb::arg("feature"), nb::arg("left"), nb::arg("right"),
             nb::arg("threshold"), nb::arg("value"), nb::arg("n_features"))
        .def("means", &forest_means, nb::arg("rows"), nb::arg("n_threads"));
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
    nb::class_<NearGrid>(m, "NearGrid")
        .def(
            "__init__",
            [](NearGrid* self, const In2<double>& xyz, double size, double crowd) {
                unlocked([&] { new (self) NearGrid(span(xyz), size, crowd); });
            },
            nb::arg("xyz"), nb::arg("size"), nb::arg("crowd"))
        .def_prop_ro("size", &NearGrid::size)
        .def("nearest", &nearest_points, nb::arg("places").none(), nb::arg("k"), nb::arg("n_threads"))
        .def("shapes", &shapes_near, nb::arg("places"), nb::arg("k"), nb::arg("size"), nb::arg("n_threads"));
    m.def("sort_keys", &sort_keys, nb::arg("keys"));
    m.def("voxel_sample", &voxel_sample, nb::arg("xyz"), nb::arg("size"), nb::arg("seed"), nb::arg("numbers").none());
    m.def("grow_regions", &grow_regions, nb::arg("xyz"), nb::arg("normals"), nb::arg("axes"), nb::arg("variances"),
          nb::arg("neighbours"), nb::arg("angle"), nb::arg("offset"), nb::arg("curvature"), nb::arg("linearity"),
          nb::arg("reach"), nb::arg("extent"), nb::arg("least"));
}

}  // namespace gapcut::bindings
