// The graphs' side of the primal-dual iteration (primal_dual.hpp), or a part of it: labels, label pairs and multipliers
// of some graphs. The weights' side asks; answers are plain numbers that are added up over the shards.
//
// What a shard answers depends on its graphs and on what it was asked since it was made or restored, on nothing else:
// so it can be built again, anywhere, by asking the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gapcut/learn/unary_system.hpp"
#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// What all shards of a problem have in common.
struct StepSetup {
    double unit = 1.0, over_relaxation = 1.8;
    bool one_label = false, at_most = false;  // see TablePhase
    std::vector<std::int32_t> pairs;          // with tables
};

// `gradient`: of the state as it is. `step`: an iteration with the order's weights, and the gradient after it.
// `distance`: of the state from where it began.
enum class StepQuestion : std::int32_t { gradient, step, distance };

// One for all questions, and all shards.
struct StepOrder {
    std::vector<double> weights;       // full, extrapolated
    std::vector<std::int32_t> active;  // label pairs, ascending
    std::vector<double> kappa;
    double label_sigma = 0.0, damping = 0.0, arc_tau = 0.0, arc_sigma = 0.0;
    bool inactive = false;  // the gradient of the pairs not active is wanted too

    std::vector<double> packed(std::int64_t labels) const;
    static StepOrder unpacked(const Problem& problem, std::span<const double> numbers);
};

// To `gradient` and `step`.
struct StepAnswer {
    std::vector<double> unary;  // gradient (K, Dn)
    std::vector<double> pairs;  // (pairs, De): of those active, or of all
    double residual = 0.0;
    std::vector<double> needed;  // of the pairs active: above 0 where one must stay, also without weights

    std::vector<double> packed() const;
    static StepAnswer unpacked(const Problem& problem, const StepOrder& order, std::span<const double> numbers);
};

// Rows of equal length added up in a fixed binary tree: neighbours first, then neighbouring sums.
std::vector<double> tree_sum(std::vector<std::vector<double>> rows);

class StepShard {
  public:
    using ForAll = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& f)>;

    // Keeps a reference to the problem.
    StepShard(const Problem& problem, const StepSetup& setup);
    ~StepShard();
    StepShard(const StepShard&) = delete;
    StepShard& operator=(const StepShard&) = delete;

    // order: StepOrder::packed(). Answers: StepAnswer::packed(); for `distance` that of the labels, and those of the
    // multipliers of each of the 16 runs of edges. Throws std::invalid_argument for an order of another problem.
    std::vector<double> ask(StepQuestion question, std::span<const double> order, const ForAll& for_all);

    // Throws std::invalid_argument if the state is not of this problem's sizes or holds numbers out of range.
    struct Snapshot {
        std::vector<float> z, z_step;      // (K, N)
        std::vector<std::int32_t> active;  // label pairs, ascending
        std::vector<float> arcs;           // (active pairs, 3, M): m, d1, d2
    };
    Snapshot snapshot() const;
    void restore(const Snapshot& snapshot, const ForAll& for_all);

    // Label pairs and multipliers, which are most of its memory, go to a file in this folder. They are back between
    // wake() and rest(), and nothing but problem(), rows() and labels() is to be asked of it otherwise. Throws
    // std::runtime_error where the disk has no room.
    void move_to(const std::string& folder);
    void wake();
    void rest();

    const Problem& problem() const { return problem_; }
    FloatRows rows() const;
    std::vector<float> labels() const;  // (N, K) z~ in [0,1]
    // Valid until the next question: d1, d2 of the active pairs (one_label: of each label, by which weights over
    // the unit are reparametrised) and m.
    ArcMultipliers multipliers() const;
    std::vector<std::span<const float>> tables() const;

  private:
    struct State;
    StepAnswer answer(const StepOrder& order) const;
    void step(const StepOrder& order, const ForAll& for_all);
    void follow(const StepOrder& order);
    std::vector<double> distance(const StepOrder& order, const ForAll& for_all) const;

    const Problem& problem_;
    std::unique_ptr<State> state_;
};

}  // namespace gapcut
