// Primal-dual learning on the tight relaxation (mathematics.md, Saddle problem): first-order steps on
//
//   min_{w in box, d1,d2 >= 0} max_{z,m in [0,1]}  |w|^2/(2c) - w'q + sum z_uk (loss_uk + phi_u.w^k)
//        + sum m_ekl phi_e.w^kl + sum d1_ekl (z_uk - m_ekl) + d2_ekl (z_vl - m_ekl)
//
// State in float32, sums of gradients in double. Nothing here certifies anything: weights() go to the exact oracle for
// the upper bound, labels() to relaxed_sums() for the lower one, and both are valid whatever the iteration did.
// The graphs' side is in shards (step_shard.hpp), here or elsewhere; this is the weights' side. Shards, and the runs
// that work inside one is cut into, are those of the data, so results do not depend on the number of threads or
// machines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gapcut/learn/step_shard.hpp"
#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

struct PrimalDualSettings {
    double theta = 0.5;            // part of the primal step that w gets, d1 and d2 the rest
    double over_relaxation = 1.8;  // rho in (0, 2)
    double damping = 0.25;        // label steps are divided by damping * number of active pairs of the label; 1 is safe
    double primal_weight = 0.06;  // s0: dual over primal step sizes to begin with
    double rebalance = 0.9;       // then s0 follows the ratio of the distances covered, times this; 0: never
    double kappa0 = 2.0;          // divisor of the label steps in the first iterations
    int screening_interval = 5;   // iterations between gradients of the inactive pairs
    int sweeps = 10;              // coordinate sweeps of the pairwise weight step
    bool diagonal = false;        // weights move in a diagonal metric, for comparison
    bool one_label = false;       // labels on the simplex, tables on edges: the relaxed one-hot problem
    bool spare = true;            // its tables leave out pairs that cannot have weight, where signs allow it
};

// All that an iteration depends on besides the snapshots of the shards: with them, a run goes on as if it had never
// stopped, bit for bit.
struct PrimalDualSnapshot {
    std::vector<double> w, w_step, pair_gradient, kappa, history;  // full weights; last residuals
    std::vector<std::int32_t> active;                              // label pairs, ascending
    double damping = 0.0, primal_weight = 0.0;
    std::int64_t iteration = 0, metric_changed = 0, safe_since = -1, since_trade_off = 0;
};

// What the shards of a problem have in common, with these lower bounds of the compact weights.
StepSetup step_setup(const Problem& problem, std::span<const double> lower, const PrimalDualSettings& settings);

class PrimalDual {
  public:
    // The sum, by tree_sum(), of what all shards answer.
    using Ask = std::function<std::vector<double>(StepQuestion question, const std::vector<double>& order)>;

    // lower, upper: (dim(),) box of the compact weights. Keeps a reference to the problem, which is that of all graphs,
    // and to the shards: consecutive parts of it, made with step_setup(). No shards: they are elsewhere and asked.
    // tied (K K,): label pairs with one number, that of the first of them, share their weights and bounds, and the norm
    // counts these once; empty: none do.
    PrimalDual(const Problem& problem, std::span<const double> lower, std::span<const double> upper, double C,
               const PrimalDualSettings& settings, int threads, std::vector<StepShard*> shards, Ask ask = {},
               std::vector<std::int32_t> tied = {});
    ~PrimalDual();
    PrimalDual(const PrimalDual&) = delete;
    PrimalDual& operator=(const PrimalDual&) = delete;

    // Another C, warm-started: the whole state is kept, the monitor starts anew.
    void set_trade_off(double C);

    // Throws Interrupted between iterations if stop() says so; the state stays usable.
    void advance(int iterations, const StopTest& stop = {});

    PrimalDualSnapshot snapshot() const;
    // The shards are to be restored beside. Throws std::invalid_argument if the snapshot is not of this problem's sizes
    // or holds numbers out of range.
    void restore(const PrimalDualSnapshot& snapshot);

    std::int64_t iterations() const;
    std::vector<double> weights() const;  // compact, inside the box, zeros exact
    double unit() const;                  // weights over those by which multipliers are measured
    std::int64_t active_pairs() const;
    std::int64_t safe_since() const;  // iteration at which the monitor set damping = 1; -1 if never
    double primal_weight() const;     // current s0
    double residual() const;          // of the last iteration, in the metric
    double operations() const;        // of an iteration with the pairs active now: instructions of AVX2, roughly

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gapcut
