#include "arrays.hpp"
#include "gapcut/flow/closure.hpp"
#include "gapcut/flow/max_flow.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

void check_ends(const In2<std::int32_t>& arcs, std::size_t n) {
    if (arcs.shape(1) != 2) throw std::invalid_argument("arcs must be (m, 2)");
    for (std::size_t q = 0; q < arcs.shape(0); ++q) {
        const auto i = arcs(q, 0), j = arcs(q, 1);
        if (i < 0 || j < 0 || i == j || static_cast<std::size_t>(std::max(i, j)) >= n)
            throw std::invalid_argument("arc " + std::to_string(q) + " leaves the graph or is a loop");
    }
}

nb::tuple max_flow(const In1<std::int64_t>& excess, const In2<std::int32_t>& arcs, const In1<std::int64_t>& forward,
                   const In1<std::int64_t>& backward) {
    check_ends(arcs, excess.size());
    if (forward.size() != arcs.shape(0) || backward.size() != arcs.shape(0))
        throw std::invalid_argument("one capacity per arc and direction");
    MaxFlow flow;
    flow.reset(static_cast<std::int32_t>(excess.size()));
    for (std::size_t v = 0; v < excess.size(); ++v) flow.add_excess(static_cast<std::int32_t>(v), excess(v));
    for (std::size_t q = 0; q < arcs.shape(0); ++q) {
        if (forward(q) < 0 || backward(q) < 0) throw std::invalid_argument("capacities must not be negative");
        flow.add_arc(arcs(q, 0), arcs(q, 1), forward(q), backward(q));
    }
    const std::int64_t value = unlocked([&] { return flow.solve(); });
    std::vector<std::uint8_t> side(excess.size());
    for (std::size_t v = 0; v < side.size(); ++v) side[v] = flow.source_side(static_cast<std::int32_t>(v));
    return nb::make_tuple(value, to_array(std::move(side)));
}

nb::tuple closure(const In1<double>& gains, const In2<std::int32_t>& pairs, const In1<double>& b, bool persistency) {
    check_ends(pairs, gains.size());
    if (b.size() != pairs.shape(0)) throw std::invalid_argument("one coefficient per pair");
    Closure c;
    c.use_persistency = persistency;
    c.reset(static_cast<std::int32_t>(gains.size()));
    for (std::size_t i = 0; i < gains.size(); ++i) c.set_gain(static_cast<std::int32_t>(i), gains(i));
    for (std::size_t q = 0; q < b.size(); ++q) {
        if (!(b(q) >= 0)) throw std::invalid_argument("pair coefficients must be >= 0");
        c.add_pair(pairs(q, 0), pairs(q, 1), b(q));
    }
    unlocked([&] { c.solve(); });
    return nb::make_tuple(to_array(std::vector(c.labels())), c.rounding(), c.stats().core_variables);
}

}  // namespace

void bind_flow(nb::module_& m) {
    using namespace nb::literals;
    m.def("max_flow", &max_flow, "excess"_a, "arcs"_a, "forward"_a, "backward"_a,
          "Value of a maximum flow and (n,) uint8 source side of a minimum cut; integer capacities.");
    m.def("closure", &closure, "gains"_a, "pairs"_a, "coefficients"_a, "persistency"_a = true,
          "Maximiser z of a'z + sum b_ij z_i z_j, the rounding bound, and how many variables needed a cut.");
}

}  // namespace gapcut::bindings
