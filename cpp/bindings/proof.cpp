// What proofs are made of: numbers by which others can add up the bounds of a certificate.
#include <memory>

#include "arrays.hpp"
#include "gapcut/learn/step_shard.hpp"
#include "gapcut/oracle/cut.hpp"
#include "gapcut/oracle/labeler.hpp"
#include "gapcut/oracle/messages.hpp"
#include "gapcut/oracle/shares.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

nb::tuple to_tuple(const Problem& p, ArcShares&& shares) {
    const auto pairs = shares.pairs.size();
    return nb::make_tuple(to_array(std::move(shares.pairs)),
                          to_array(std::move(shares.of_arc), {pairs, static_cast<std::size_t>(p.edges.rows())}));
}

nb::tuple bound_of_shares(const Problem& p, const In1<double>& weights, const In1<std::int32_t>& pairs,
                          const In2<std::uint16_t>& shares, int threads, std::optional<double> seconds) {
    if (shares.shape(0) != pairs.size()) throw std::invalid_argument("shares must be (label pairs, edges)");
    const std::span given(shares.data(), shares.size());
    const SlackBound found = until(seconds, [&](const StopTest& stop) {
        return slack_bound(p, span(weights), span(pairs), given, threads, stop);
    });
    return nb::make_tuple(found.bound, found.rounding);
}

// Messages (2, K, M): to the tails, to the heads.
double bound_of_messages(const Problem& p, const In1<double>& weights, const In3<float>& messages, int threads,
                         std::optional<double> seconds) {
    const auto K = static_cast<std::size_t>(p.n_labels), M = static_cast<std::size_t>(p.edges.rows());
    if (messages.shape(0) != 2 || messages.shape(1) != K || messages.shape(2) != M)
        throw std::invalid_argument("messages must be (2, labels, edges)");
    auto start = std::make_shared<StartMessages>();
    for (std::size_t k = 0; k < K; ++k) {
        start->of_label.tail.emplace_back(messages.data() + k * M, M);
        start->of_label.head.emplace_back(messages.data() + (K + k) * M, M);
    }
    infer::TrwsSettings none;
    none.max_sweeps = 0;
    Labeler labeler(OneHotMaximiser(p, [=] { return make_reparametrised_solver(none, start, false); }), threads);
    return until(seconds, [&](const StopTest& stop) { return labeler.total(span(weights), stop); }).bound;
}

}  // namespace

void bind_proof(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "cut_shares",
        [](CutOracle& oracle, const In1<double>& weights, const StepShard& start, std::optional<double> seconds) {
            const ArcMultipliers multipliers = start.multipliers();
            return to_tuple(oracle.problem(), until(seconds, [&](const StopTest& stop) {
                                return oracle.shares(span(weights), &multipliers, stop);
                            }));
        },
        "oracle"_a, "weights"_a, "start"_a, "seconds"_a.none() = nb::none(),
        "Label pairs with weight (P,), and the shares (P, M) of their arcs' tails, in units of 1/32768, that the cuts "
        "prove best.");
    m.def(
        "multiplier_shares",
        [](const Problem& p, const In1<double>& weights, const StepShard& state) {
            return to_tuple(p, unlocked([&] { return shares_of(p, span(weights), state.multipliers()); }));
        },
        "problem"_a, "weights"_a, "state"_a, "The same from the multipliers of the iteration.");
    m.def(
        "arcs_with_gain",
        [](const Problem& p, const In1<double>& weights) {
            auto gain = unlocked([&] { return arcs_with_gain(p, span(weights)); });
            const auto M = static_cast<std::size_t>(p.edges.rows());
            const std::size_t pairs = M == 0 ? 0 : gain.size() / M;
            return to_array(std::move(gain), {pairs, M});
        },
        "problem"_a, "weights"_a, "(P, M) 1 where an arc of a label pair with weight has a coefficient above 0.");
    m.def("bound_of_shares", &bound_of_shares, "problem"_a, "weights"_a, "pairs"_a, "shares"_a, "threads"_a = 1,
          "seconds"_a.none() = nb::none(), "Proven upper bound of the mean slack, and its part that is rounding.");
    m.def(
        "edge_messages",
        [](const Problem& p, const In1<double>& weights, const StepShard& state, double unit, int sweeps, int threads,
           std::optional<double> seconds) {
            const StartMessages start{state.multipliers(), unit};
            auto found = until(seconds, [&](const StopTest& stop) {
                return edge_messages(p, span(weights), start, sweeps, threads, stop);
            });
            return to_array(std::move(found),
                            {2, static_cast<std::size_t>(p.n_labels), static_cast<std::size_t>(p.edges.rows())});
        },
        "problem"_a, "weights"_a, "state"_a, "unit"_a, "sweeps"_a, "threads"_a = 1, "seconds"_a.none() = nb::none(),
        "Messages (2, K, M) of every edge to its tail and head, started from the multipliers of the iteration.");
    m.def("bound_of_messages", &bound_of_messages, "problem"_a, "weights"_a, "messages"_a, "threads"_a = 1,
          "seconds"_a.none() = nb::none(), "Proven upper bound of the mean one-hot slack from messages (2, K, M).");
}

}  // namespace gapcut::bindings
