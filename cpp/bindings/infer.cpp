#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "gapcut/infer/min_marginals.hpp"
#include "gapcut/infer/normal.hpp"
#include "gapcut/infer/tables.hpp"
#include "infer_calls.hpp"
#include "pairwise_energy.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

// What is left in `messages` is where the next call may go on from.
struct Messages {
    std::vector<double> kept;
};

infer::TrwsResult run_trws(const PairwiseEnergy& e, std::optional<double> time_left, int max_sweeps, double tolerance,
                           int patience, double least_progress, const std::string& order, bool escape,
                           Messages* messages, const nb::object& tell) {
    infer::TrwsSettings settings = message_settings(max_sweeps, tolerance, patience, least_progress, order);
    settings.escape = escape;
    const infer::TrwsListener listener = listener_of(tell);
    std::vector<double>* kept = messages == nullptr ? nullptr : &messages->kept;
    return until(time_left, [&](const StopTest& stop) { return infer::trws(e.view, settings, stop, kept, listener); });
}

nb::tuple run_min_marginals(const PairwiseEnergy& e, std::optional<double> time_left, int max_sweeps,
                            double tolerance) {
    infer::TrwsSettings settings = message_settings(max_sweeps, tolerance, 10, 5e-3, "breadth-first");
    settings.escape = true;
    infer::MinMarginals r =
        until(time_left, [&](const StopTest& stop) { return infer::min_marginals(e.view, settings, stop); });
    return nb::make_tuple(to_array(std::move(r.excess)), r.exact, to_array(std::move(r.found.labels)), r.found.bound,
                          r.found.stopped);
}

// The reduced energy, and the way back from its labelings.
struct Reduction {
    infer::Reduction reduced;

    Reduction(const PairwiseEnergy& e, const In1<std::uint8_t>& keep)
        : reduced(e.view, std::vector<char>(keep.data(), keep.data() + keep.size())) {
        if (keep.size() != e.labels.size()) throw std::invalid_argument("keep has the wrong length");
    }

    // Entries of the core's nodes, one after the other.
    std::vector<double> unary() const {
        std::vector<double> out;
        for (const std::int32_t u : reduced.core())
            out.insert(out.end(), reduced.unary_of(u), reduced.unary_of(u) + reduced.n_labels(u));
        return out;
    }

    // Both ends of every pair left, and all their row-major tables (lower node's labels as rows).
    nb::tuple pairs() const {
        std::vector<std::int32_t> low, high;
        std::vector<double> tables;
        for (std::size_t i = 0; i < reduced.pairs().size(); ++i) {
            if (!reduced.alive(static_cast<std::int64_t>(i))) continue;
            const infer::Pair& p = reduced.pairs()[i];
            low.push_back(p.low), high.push_back(p.high);
            for (std::int32_t k = 0; k < reduced.n_labels(p.low); ++k)
                for (std::int32_t l = 0; l < reduced.n_labels(p.high); ++l) tables.push_back(p.at(true, k, l));
        }
        return nb::make_tuple(to_array(std::move(low)), to_array(std::move(high)), to_array(std::move(tables)));
    }

    std::int64_t n_pairs() const {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < reduced.pairs().size(); ++i) count += reduced.alive(static_cast<std::int64_t>(i));
        return count;
    }

    double constant() {
        LowerSum sum;
        for (const LowerSum& c : reduced.constants()) sum.add(c.value());
        return sum.value();
    }

    std::vector<std::int32_t> complete(const In1<std::int32_t>& labels) const {
        std::vector<std::int32_t> all = to_vector(labels);
        if (all.size() != reduced.component().size()) throw std::invalid_argument("labeling has the wrong length");
        reduced.complete(all);
        return all;
    }
};

// Requires starts that rise from 0 to the number of entries.
void check_segments(const In1<double>& entries, const In1<std::int64_t>& starts) {
    const auto at = span(starts);
    if (at.empty() || at.front() != 0 || at.back() != static_cast<std::int64_t>(entries.size()) ||
        !std::is_sorted(at.begin(), at.end()))
        throw std::invalid_argument("segments do not fit the entries");
}

nb::tuple ranges(const In1<double>& entries, const In1<std::int64_t>& starts) {
    check_segments(entries, starts);
    infer::TermRanges r = unlocked([&] { return infer::term_ranges(span(entries), span(starts)); });
    return nb::make_tuple(to_array(std::move(r.least)), r.widest);
}

Out<double> normal(const In1<double>& entries, const In1<std::int64_t>& starts, const In1<double>& least, int exponent,
                   double upper) {
    check_segments(entries, starts);
    if (least.size() + 1 != starts.size()) throw std::invalid_argument("least has the wrong length");
    return to_array(
        unlocked([&] { return infer::normal_entries(span(entries), span(starts), span(least), exponent, upper); }));
}

Out<double> pairwise(const RowMatrix& edges, const In3<double>& weights) {
    const std::size_t k = weights.shape(0);
    if (weights.shape(1) != k || static_cast<std::int64_t>(weights.shape(2)) != edges.cols())
        throw std::invalid_argument("pairwise weights must be (K, K, edge features)");
    return to_array(
        unlocked([&] { return infer::pairwise_tables(edges, static_cast<std::int64_t>(k), weights.data()); }),
        {static_cast<std::size_t>(edges.rows()), k, k});
}

Out<double> unary(const RowMatrix& nodes, const In2<double>& weights) {
    const std::size_t k = weights.shape(0);
    if (static_cast<std::int64_t>(weights.shape(1)) != nodes.cols())
        throw std::invalid_argument("unary weights must be (K, node features)");
    return to_array(unlocked([&] { return infer::unary_tables(nodes, static_cast<std::int64_t>(k), weights.data()); }),
                    {static_cast<std::size_t>(nodes.rows()), k});
}

void bind_reduction(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Reduction>(m, "Reduction", "Parallel edges joined, one-label nodes folded, leaves eliminated.")
        .def(nb::init<const PairwiseEnergy&, const In1<std::uint8_t>&>(), "energy"_a, "keep"_a, nb::keep_alive<1, 2>())
        .def_prop_ro(
            "core", [](const Reduction& r) { return to_array(std::vector(r.reduced.core())); }, nb::rv_policy::move)
        .def("unary", [](const Reduction& r) { return to_array(r.unary()); })
        .def("pairs", &Reduction::pairs)
        .def_prop_ro("n_pairs", &Reduction::n_pairs)
        .def_prop_ro("constant", &Reduction::constant, "What elimination adds to the minimum, rounded down.")
        .def(
            "complete",
            [](const Reduction& r, const In1<std::int32_t>& labels) { return to_array(r.complete(labels)); },
            "labels"_a, "(V,) the best labels of eliminated nodes, given those of the core.");
}

// The labels as the core takes them, and the first node whose label is out of range, or -1.
nb::tuple narrow_labels(const In1<std::int64_t>& labels, const In1<std::int32_t>& counts) {
    if (labels.size() != counts.size()) throw std::invalid_argument("labeling has the wrong length");
    std::vector<std::int32_t> out(labels.size());
    std::int64_t wrong = -1;
    for (std::size_t u = out.size(); u-- > 0;) {
        const std::int64_t k = labels.data()[u];
        if (k < 0 || k >= counts.data()[u]) wrong = static_cast<std::int64_t>(u);
        out[u] = static_cast<std::int32_t>(k);
    }
    return nb::make_tuple(to_array(std::move(out)), wrong);
}

}  // namespace

void bind_infer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PairwiseEnergy>(m, "PairwiseEnergy", "Labels, unary entries and tables of one energy; checks sizes.")
        .def(nb::init<In1<std::int32_t>, In1<std::int64_t>, In1<double>, In1<std::int32_t>, In1<std::int32_t>,
                      In1<std::int64_t>, In1<double>>(),
             "labels"_a, "unary_at"_a, "unary"_a, "tail"_a, "head"_a, "table_at"_a, "tables"_a)
        .def(
            "terms",
            [](const PairwiseEnergy& e, const In1<std::int32_t>& labels) {
                return to_array(infer::terms(e.view, span(labels)));
            },
            "labels"_a)
        .def("independent_bound",
             [](const PairwiseEnergy& e) { return unlocked([&] { return infer::independent_bound(e.view); }); })
        .def("unary_labels", [](const PairwiseEnergy& e) { return to_array(infer::unary_labels(e.view)); });

    using Trws = infer::TrwsResult;
    nb::class_<Trws>(m, "TrwsResult", "What message passing found and proved.")
        .def_prop_ro("labels", copy_of(&Trws::labels), nb::rv_policy::move)
        .def_ro("bound", &Trws::bound)
        .def_prop_ro("component", copy_of(&Trws::component), nb::rv_policy::move)
        .def_ro("sweeps", &Trws::sweeps)
        .def_ro("soft_sweeps", &Trws::soft_sweeps)
        .def_ro("half_sweep_entries", &Trws::half_sweep_entries)
        .def_ro("stopped", &Trws::stopped);

    nb::class_<Messages>(m, "Messages", "Where message passing may go on from; empty at first.")
        .def(nb::init<>())
        .def("clear", [](Messages& m) { m.kept.clear(); });

    bind_reduction(m);

    m.def("trws", &run_trws, "energy"_a, "time_left"_a.none(), "max_sweeps"_a, "tolerance"_a, "patience"_a,
          "least_progress"_a, "order"_a, "escape"_a = false, "messages"_a.none() = nb::none(), "tell"_a = nb::none(),
          "`tell`: a function of (V,) int32 labels and a bound, called now and then.");
    m.def("min_marginals", &run_min_marginals, "energy"_a, "time_left"_a.none(), "max_sweeps"_a, "tolerance"_a,
          "(unary entries,) lower bounds above the bound, whether exact, labels, bound, stopped.");
    m.def(
        "icm",
        [](const PairwiseEnergy& e, const In1<std::int32_t>& start, std::optional<double> time_left) {
            return local_search(e.view, start, time_left);
        },
        "energy"_a, "start"_a, "time_left"_a.none());
    m.def("term_ranges", &ranges, "entries"_a, "starts"_a,
          "(S,) least entry of every segment, and the widest finite range.");
    m.def("normal_entries", &normal, "entries"_a, "starts"_a, "least"_a, "exponent"_a, "upper"_a,
          "(entries - least of their segment) / 2^exponent, rounded down; above `upper` +inf.");
    m.def(
        "excess",
        [](const In1<double>& terms, const In1<double>& least) {
            if (terms.size() != least.size()) throw std::invalid_argument("least has the wrong length");
            return infer::excess(span(terms), span(least));
        },
        "terms"_a, "least"_a, "The sum of terms - least, rounded up.");
    m.def("narrow_labels", &narrow_labels, "labels"_a, "counts"_a,
          "(V,) int32, and the first node whose label is not in [0, count), or -1.");
    m.def("pairwise_tables", &pairwise, "edges"_a, "weights"_a, "(E, K, K): -sum_d phi_d(e) W[:, :, d].");
    m.def("unary_tables", &unary, "nodes"_a, "weights"_a, "(V, K): -X W'.");
}

}  // namespace gapcut::bindings
