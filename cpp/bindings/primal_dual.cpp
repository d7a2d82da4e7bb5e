#include "gapcut/learn/primal_dual.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
    out["active"] = to_array(std::move(s.active));
    out["step_sizes"] = to_array(std::vector<double>{s.damping, s.primal_weight});
    out["counters"] =
        to_array(std::vector<std::int64_t>{s.iteration, s.metric_changed, s.safe_since, s.since_trade_off});
    return out;
}

nb::dict snapshot_of_shard(const StepShard& self) {
    StepShard::Snapshot s = unlocked([&] { return self.snapshot(); });
    const Problem& p = self.problem();
    const auto K = static_cast<std::size_t>(p.n_labels), N = static_cast<std::size_t>(p.nodes.rows());
    const auto M = static_cast<std::size_t>(p.edges.rows());
    const std::size_t rows = M == 0 ? 0 : s.arcs.size() / M;
    nb::dict out;
    out["z"] = to_array(std::move(s.z), {K, N});
    out["z_step"] = to_array(std::move(s.z_step), {K, N});
    out["active"] = to_array(std::move(s.active));
    out["arcs"] = to_array(std::move(s.arcs), {rows, M});
    return out;
}

template <class Array>
Array entry_as(const nb::dict& d, const char* name) {
    Array array;
    if (!d.contains(name) || !nb::try_cast(d[name], array))
        throw std::invalid_argument(std::string("the snapshot lacks ") + name);
    return array;
}

template <class T>
std::vector<T> entry(const nb::dict& d, const char* name) {
    return to_vector(entry_as<In1<T>>(d, name));
}

template <class T>
std::vector<T> rows_of(const nb::dict& d, const char* name) {
    const auto array = entry_as<In2<T>>(d, name);
    return {array.data(), array.data() + array.size()};
}

void restore(PrimalDual& self, const nb::dict& d) {
    PrimalDualSnapshot s{entry<double>(d, "w"),     entry<double>(d, "w_step"),  entry<double>(d, "pair_gradient"),
                         entry<double>(d, "kappa"), entry<double>(d, "history"), entry<std::int32_t>(d, "active")};
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

StepShard::ForAll on_threads(int threads) {
    return [threads](std::int64_t count, const std::function<void(std::int64_t)>& f) {
        parallel_for(count, threads, [&](std::int64_t item, int) { f(item); });
    };
}

void restore_shard(StepShard& self, const nb::dict& d, int threads) {
    const StepShard::Snapshot s{rows_of<float>(d, "z"), rows_of<float>(d, "z_step"), entry<std::int32_t>(d, "active"),
                                rows_of<float>(d, "arcs")};
    const nb::gil_scoped_release release;
    self.restore(s, on_threads(threads));
}

Out<float> labels_of_state(const StepShard& self) {
    const Problem& p = self.problem();
    return to_array(self.labels(), {static_cast<std::size_t>(p.nodes.rows()), static_cast<std::size_t>(p.n_labels)});
}

nb::tuple slack_sum_of(const StepShard& self, const In1<double>& weights, int threads, std::optional<double> seconds) {
    const SlackBound found = until(seconds, [&](const StopTest& stop) {
        return slack_sum(self.problem(), span(weights), self.multipliers(), threads, stop);
    });
    return nb::make_tuple(found.bound, found.rounding);
}

Out<float> tables(const StepShard& self) {
    const auto M = static_cast<std::size_t>(self.problem().edges.rows());
    const auto tables = self.tables();
    std::vector<float> all(tables.size() * M, 0.0F);
    for (std::size_t pair = 0; pair < tables.size(); ++pair)
        std::ranges::copy(tables[pair], all.begin() + static_cast<std::ptrdiff_t>(pair * M));
    return to_array(std::move(all), {tables.size(), M});
}

Out<float> messages(const StepShard& self) {
    const auto found = self.multipliers();
    std::vector<float> all;
    for (const auto* ends : {&found.tail, &found.head})
        for (const auto& row : *ends) all.insert(all.end(), row.begin(), row.end());
    return to_array(std::move(all),
                    {found.tail.size() + found.head.size(), static_cast<std::size_t>(self.problem().edges.rows())});
}

nb::tuple sums_of(const Problem& p, const In2<float>& z, int threads, std::optional<double> seconds) {
    const auto labels = labels_of(p, z);
    RelaxedPlane result = until(seconds, [&](const StopTest& stop) { return relaxed_sums(p, labels, threads, stop); });
    return nb::make_tuple(to_array(std::move(result.plane)), result.loss);
}

// `ask` is called with the interpreter lock; what it raises ends the iteration.
PrimalDual::Ask asked_of(nb::callable ask) {
    return [ask = std::move(ask)](StepQuestion question, const std::vector<double>& order) {
        const nb::gil_scoped_acquire gil;
        const nb::object answer = ask(static_cast<int>(question), to_array(std::vector(order)));
        return to_vector(nb::cast<In1<double>>(answer));
    };
}

void bind_shard(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<StepSetup>(m, "StepSetup", "What the shards of a problem have in common.")
        .def(
            "__init__",
            [](StepSetup* self, const Problem& p, const In1<double>& lower, const PrimalDualSettings& settings) {
                new (self) StepSetup(step_setup(p, span(lower), settings));
            },
            "problem"_a, "lower"_a, "settings"_a)
        .def_ro("unit", &StepSetup::unit, "Weights over those by which multipliers are measured.")
        .def("__getstate__",
             [](const StepSetup& s) {
                 return nb::make_tuple(s.unit, s.over_relaxation, s.one_label, s.at_most,
                                       to_array(std::vector(s.pairs)));
             })
        .def("__setstate__", [](StepSetup& self, const nb::tuple& state) {
            new (&self) StepSetup{nb::cast<double>(state[0]), nb::cast<double>(state[1]), nb::cast<bool>(state[2]),
                                  nb::cast<bool>(state[3]), to_vector(nb::cast<In1<std::int32_t>>(state[4]))};
        });
    nb::class_<StepShard>(m, "StepShard", "The graphs' side of the primal-dual iteration, or a part of it.")
        .def(nb::init<const Problem&, const StepSetup&>(), "problem"_a, "setup"_a, nb::keep_alive<1, 2>())
        .def(
            "ask",
            [](StepShard& self, int question, const In1<double>& order, int threads) {
                return to_array(unlocked(
                    [&] { return self.ask(static_cast<StepQuestion>(question), span(order), on_threads(threads)); }));
            },
            "question"_a, "order"_a, "threads"_a = 1)
        .def(
            "move_to", [](StepShard& self, const std::string& folder) { self.move_to(folder); }, "folder"_a,
            "Puts what is largest into a file in this folder; to be used between wake() and rest() only.")
        .def("wake", &StepShard::wake)
        .def("rest", &StepShard::rest)
        .def("labels", &labels_of_state)
        .def("slack_sum", &slack_sum_of, "weights"_a, "threads"_a = 1, "seconds"_a.none() = nb::none(),
             "Proven upper bound of the sum of slacks at these weights from the arc multipliers reached, and its part "
             "that is rounding.")
        .def("tables", &tables, "m (K K, M) of each label pair; zeros where a pair is not active.")
        .def("messages", &messages, "Multipliers (2 R, M): R rows of the tails of all edges, then R of the heads.")
        .def("snapshot", &snapshot_of_shard)
        .def("restore", &restore_shard, "snapshot"_a, "threads"_a = 1);
    m.def(
        "tree_sum",
        [](const In2<double>& rows) {
            std::vector<std::vector<double>> all;
            for (std::size_t i = 0; i < rows.shape(0); ++i)
                all.emplace_back(rows.data() + i * rows.shape(1), rows.data() + (i + 1) * rows.shape(1));
            return to_array(tree_sum(std::move(all)));
        },
        "rows"_a, "(n, d) rows added up in a fixed binary tree.");
}

void bind_state(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PrimalDual>(m, "PrimalDual", "The weights' side of the primal-dual iteration.")
        .def(
            "__init__",
            [](PrimalDual* self, const Problem& p, const In1<double>& lower, const In1<double>& upper, double C,
               const PrimalDualSettings& settings, int threads, std::vector<StepShard*> shards,
               std::optional<nb::callable> ask, std::optional<In1<std::int32_t>> tied) {
                if (!p.cliques.empty())
                    throw std::invalid_argument(
                        "learner='primal-dual' takes unary and pairwise terms only, but the problem has "
                        "cliques: use learner='block' (or 'auto')");
                new (self) PrimalDual(p, span(lower), span(upper), C, settings, threads, std::move(shards),
                                      ask ? asked_of(*std::move(ask)) : PrimalDual::Ask(),
                                      tied ? to_vector(*tied) : std::vector<std::int32_t>());
            },
            "problem"_a, "lower"_a, "upper"_a, "C"_a, "settings"_a, "threads"_a, "shards"_a,
            "ask"_a.none() = nb::none(), "tied"_a.none() = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 8>())
        .def("set_trade_off", &PrimalDual::set_trade_off, "C"_a)
        .def(
            "advance",
            [](PrimalDual& self, int iterations, std::optional<double> seconds) {
                until(seconds, [&](const StopTest& stop) { self.advance(iterations, stop); });
            },
            "iterations"_a, "seconds"_a.none() = nb::none())
        .def("weights", [](const PrimalDual& self) { return to_array(self.weights()); })
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
    bind_shard(m);
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
            [](Repair& self, const Problem& p, const In2<float>& z, const In1<double>& W, double c, int parts,
               int sweeps, double min_gain, std::uint64_t seed, std::optional<double> seconds) {
                const auto labels = labels_of(p, z);
                const Repair::Start start{span(W), c, parts};
                return to_array(
                    until(seconds,
                          [&](const StopTest& stop) { return self.run(labels, start, sweeps, min_gain, seed, stop); }),
                    {z.shape(0), z.shape(1)});
            },
            "problem"_a, "labels"_a, "W"_a, "c"_a, "parts"_a, "sweeps"_a, "min_gain"_a, "seed"_a,
            "seconds"_a.none() = nb::none(),
            "W (dim,): c times the planes of all graphs added up, c being C / n; `labels` are one of so many parts.")
        .def_prop_ro("operations", &Repair::operations, "Of the last run, counted: equal for any number of threads.")
        .def(
            "expected_operations",
            [](const Repair& self, const Problem& p, const In2<float>& z) {
                return self.expected_operations(labels_of(p, z));
            },
            "problem"_a, "labels"_a, "Of a run from these labels.");

    m.def("relaxed_sums", &sums_of, "problem"_a, "labels"_a, "threads"_a, "seconds"_a.none() = nb::none(),
          "Plane (dim,) and loss of relaxed labels (N, K) with m = min(z_u, z_v), summed over graphs.");
}

}  // namespace gapcut::bindings
