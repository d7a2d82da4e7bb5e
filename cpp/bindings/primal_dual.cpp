#include "gapcut/learn/primal_dual.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "gapcut/learn/relaxed_dual.hpp"
#include "gapcut/learn/repair.hpp"
#include "relaxed_labels.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

nb::dict snapshot(const PrimalDual& self) {
    PrimalDualSnapshot s = unlocked([&] { return self.snapshot(); });
    nb::dict out;
    out["w"] = to_array(std::move(s.w));
    out["w_step"] = to_array(std::move(s.w_step));
    out["pair_gradient"] = to_array(std::move(s.pair_gradient));
    out["kappa"] = to_array(std::move(s.kappa));
    out["history"] = to_array(std::move(s.history));
    out["z"] = to_array(std::move(s.z));
    out["z_step"] = to_array(std::move(s.z_step));
    out["active"] = to_array(std::move(s.active));
    out["arcs"] = to_array(std::move(s.arcs));
    out["step_sizes"] = to_array(std::vector<double>{s.damping, s.primal_weight});
    out["counters"] =
        to_array(std::vector<std::int64_t>{s.iteration, s.metric_changed, s.safe_since, s.since_trade_off});
    return out;
}

template <class T>
std::vector<T> entry(const nb::dict& d, const char* name) {
    In1<T> array;
    if (!d.contains(name) || !nb::try_cast(d[name], array))
        throw std::invalid_argument(std::string("the snapshot lacks ") + name);
    return to_vector(array);
}

void restore(PrimalDual& self, const nb::dict& d) {
    PrimalDualSnapshot s{entry<double>(d, "w"),     entry<double>(d, "w_step"),       entry<double>(d, "pair_gradient"),
                         entry<double>(d, "kappa"), entry<double>(d, "history"),      entry<float>(d, "z"),
                         entry<float>(d, "z_step"), entry<std::int32_t>(d, "active"), entry<float>(d, "arcs")};
    const auto step_sizes = entry<double>(d, "step_sizes");
    const auto counters = entry<std::int64_t>(d, "counters");
    if (step_sizes.size() != 2 || counters.size() != 4)
        throw std::invalid_argument("the snapshot is of another problem");
    s.damping = step_sizes[0];
    s.primal_weight = step_sizes[1];
    s.iteration = counters[0];
    s.metric_changed = counters[1];
    s.safe_since = counters[2];
    s.since_trade_off = counters[3];
    const nb::gil_scoped_release release;
    self.restore(s);
}

Out<float> labels_of_state(const PrimalDual& self, const Problem& p) {
    return to_array(self.labels(), {static_cast<std::size_t>(p.nodes.rows()), static_cast<std::size_t>(p.n_labels)});
}

nb::tuple slack_bound_of(const PrimalDual& self, const Problem& p, const In1<double>& weights, int threads,
                         std::optional<double> seconds) {
    const SlackBound found = until(seconds, [&](const StopTest& stop) {
        return slack_bound(p, span(weights), self.multipliers(), threads, stop);
    });
    return nb::make_tuple(found.bound, found.rounding);
}

Out<float> tables(const PrimalDual& self, const Problem& p) {
    const auto M = static_cast<std::size_t>(p.edges.rows());
    const auto tables = self.tables();
    std::vector<float> all(tables.size() * M, 0.0F);
    for (std::size_t pair = 0; pair < tables.size(); ++pair)
        std::ranges::copy(tables[pair], all.begin() + static_cast<std::ptrdiff_t>(pair * M));
    return to_array(std::move(all), {tables.size(), M});
}

Out<float> messages(const PrimalDual& self, const Problem& p) {
    const auto found = self.multipliers();
    std::vector<float> all;
    for (const auto* ends : {&found.tail, &found.head})
        for (const auto& row : *ends) all.insert(all.end(), row.begin(), row.end());
    return to_array(std::move(all), {found.tail.size() + found.head.size(), static_cast<std::size_t>(p.edges.rows())});
}

nb::tuple plane_of(const Problem& p, const In2<float>& z, int threads, std::optional<double> seconds) {
    const auto labels = labels_of(p, z);
    RelaxedPlane result = until(seconds, [&](const StopTest& stop) { return relaxed_plane(p, labels, threads, stop); });
    return nb::make_tuple(to_array(std::move(result.plane)), result.loss);
}

void bind_state(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PrimalDual>(m, "PrimalDual", "State of the primal-dual iteration.")
        .def(
            "__init__",
            [](PrimalDual* self, const Problem& p, const In1<double>& lower, const In1<double>& upper, double C,
               const PrimalDualSettings& settings, int threads) {
                if (!p.cliques.empty())
                    throw std::invalid_argument(
                        "learner='primal-dual' takes unary and pairwise terms only, but the problem has "
                        "cliques: use learner='block' (or 'auto')");
                new (self) PrimalDual(p, span(lower), span(upper), C, settings, threads);
            },
            "problem"_a, "lower"_a, "upper"_a, "C"_a, "settings"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def("set_trade_off", &PrimalDual::set_trade_off, "C"_a)
        .def(
            "advance",
            [](PrimalDual& self, int iterations, std::optional<double> seconds) {
                until(seconds, [&](const StopTest& stop) { self.advance(iterations, stop); });
            },
            "iterations"_a, "seconds"_a.none() = nb::none())
        .def("weights", [](const PrimalDual& self) { return to_array(self.weights()); })
        .def("labels", &labels_of_state, "problem"_a)
        .def(
            "slack_bound", &slack_bound_of, "problem"_a, "weights"_a, "threads"_a = 1, "seconds"_a.none() = nb::none(),
            "Proven upper bound of the mean slack at these weights from the arc multipliers reached, and its part that "
            "is rounding.")
        .def("tables", &tables, "problem"_a, "m (K K, M) of each label pair; zeros where a pair is not active.")
        .def("messages", &messages, "problem"_a,
             "Multipliers (2 R, M): R rows of the tails of all edges, then R of the heads.")
        .def_prop_ro("unit", &PrimalDual::unit, "Weights over those by which the multipliers are measured.")
        .def("snapshot", &snapshot)
        .def("restore", &restore, "snapshot"_a)
        .def_prop_ro("iterations", &PrimalDual::iterations)
        .def_prop_ro("active_pairs", &PrimalDual::active_pairs)
        .def_prop_ro("primal_weight", &PrimalDual::primal_weight)
        .def_prop_ro("operations", &PrimalDual::operations, "Of one iteration, in the unit of Repair.operations.");
}

}  // namespace

void bind_primal_dual(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PrimalDualSettings>(m, "PrimalDualSettings")
        .def(nb::init<>())
        .def_rw("theta", &PrimalDualSettings::theta)
        .def_rw("over_relaxation", &PrimalDualSettings::over_relaxation)
        .def_rw("damping", &PrimalDualSettings::damping)
        .def_rw("primal_weight", &PrimalDualSettings::primal_weight)
        .def_rw("rebalance", &PrimalDualSettings::rebalance)
        .def_rw("kappa0", &PrimalDualSettings::kappa0)
        .def_rw("screening_interval", &PrimalDualSettings::screening_interval)
        .def_rw("sweeps", &PrimalDualSettings::sweeps)
        .def_rw("diagonal", &PrimalDualSettings::diagonal)
        .def_rw("one_label", &PrimalDualSettings::one_label)
        .def_rw("spare", &PrimalDualSettings::spare);
    bind_state(m);

    nb::class_<Repair>(m, "Repair", "Coordinate ascent on the dual value of relaxed labels.")
        .def(
            "__init__",
            [](Repair* self, const Problem& p, const In1<double>& lower, const In1<double>& upper, int threads) {
                new (self) Repair(p, span(lower), span(upper), threads);
            },
            "problem"_a, "lower"_a, "upper"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def(
            "run",
            [](Repair& self, const Problem& p, const In2<float>& z, double C, int sweeps, double min_gain,
               std::uint64_t seed, std::optional<double> seconds) {
                const auto labels = labels_of(p, z);
                return to_array(
                    until(seconds,
                          [&](const StopTest& stop) { return self.run(labels, C, sweeps, min_gain, seed, stop); }),
                    {z.shape(0), z.shape(1)});
            },
            "problem"_a, "labels"_a, "C"_a, "sweeps"_a, "min_gain"_a, "seed"_a, "seconds"_a.none() = nb::none())
        .def_prop_ro("operations", &Repair::operations, "Of the last run, counted: equal for any number of threads.")
        .def(
            "expected_operations",
            [](const Repair& self, const Problem& p, const In2<float>& z) {
                return self.expected_operations(labels_of(p, z));
            },
            "problem"_a, "labels"_a, "Of a run from these labels.");

    m.def("relaxed_plane", &plane_of, "problem"_a, "labels"_a, "threads"_a, "seconds"_a.none() = nb::none(),
          "Mean plane (dim,) and mean loss of relaxed labels (N, K) with m = min(z_u, z_v).");
}

}  // namespace gapcut::bindings
