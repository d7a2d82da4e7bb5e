// Repair of relaxed labels: coordinate ascent on the dual value
//     D(z) = c sum_uk loss_u |z_uk - y_uk| - conjugate(W),   W = c (q - Psi(z, m = min)),   c = C / n,
// one label of one node at a time (mathematics.md, Repair). Each step maximises a quadratic lower model of D that is
// exact at step 0, so D never falls (up to rounding; the caller computes D of the result anew and certifies that).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

struct RepairArc {  // an edge at one of its nodes
    std::int32_t edge, other;
    bool tail;  // the node at hand is the tail
};

// Of z at the other ends of the arcs at one z_uk: the next above, the next below, and whether one is equal.
struct RepairLevels {
    double above = 1.0, below = 0.0;
    bool equal = false;
};

namespace repair {
struct Blocks;
struct Moving;
struct Weights;
}  // namespace repair

class Repair {
  public:
    using Group = std::span<const std::int64_t>;  // coordinates of one node

    // lower, upper: (dim(),) box of the compact weights. Keeps a reference to the problem.
    Repair(const Problem& problem, std::span<const double> lower, std::span<const double> upper, int threads);

    // Improves z (N, K), entries in [0,1], by at most `sweeps` sweeps. The first goes over every coordinate that can
    // gain, the others over those that gained more than `min_gain` (in units of D) the last time. Order is random by
    // seed. c = C / n with n that of all graphs. W: (dim(),) what c times the planes of all graphs add up to; if these
    // are not all that there are, but one of `parts`, each part steps as if all others did the same, so that together
    // they do not go too far.
    struct Start {
        std::span<const double> W;
        double c = 0.0;
        int parts = 1;
    };
    std::vector<float> run(std::span<const float> z, const Start& start, int sweeps, double min_gain,
                           std::uint64_t seed, const StopTest& stop = {});

    // Of the last run, in the unit of PrimalDual::operations(), for any number of threads; and what a run from z is
    // expected to take.
    double operations() const { return operations_; }
    double expected_operations(std::span<const float> z) const;

  private:
    struct Slope {
        double gradient = 0.0, curvature = 0.0;
    };
    struct Direction {  // the arcs that move along with z_uk
        std::vector<double> sums, counts;
        RepairLevels levels;
        repair::Moving moving();
    };
    struct Directions {
        Direction up, down;
        bool same = false;  // down is as up
    };

    struct Run {  // what one run needs; empty between runs, since other shards need the memory then
        std::vector<double> z, raw, w;             // labels, W, clamp(W)
        std::vector<Directions> directions;        // of a batch
        std::vector<std::size_t> shared;           // index of the directions that a coordinate of a batch uses
        std::vector<std::vector<double>> scratch;  // of a thread, for prepare()
        std::vector<std::int64_t> moved;           // the last batch in which a node moved
        std::int64_t batch = 0;
        double c = 0.0;
    };

    std::span<const RepairArc> arcs_of(std::int64_t node) const;
    template <bool Up>
    RepairLevels sum_sparse(std::span<const RepairArc> arcs, double here, const repair::Moving& moving) const;
    template <bool Up>
    void collect(std::int64_t node, double here, Direction& s, std::vector<double>& scratch) const;
    void prepare(std::int64_t node, double here, Directions& s, std::vector<double>& scratch) const;
    template <bool Up>
    Slope slope(std::int64_t node, int label, double score, Direction& s);
    bool can_gain(std::int64_t coordinate, Directions& s);
    // Both return the gain that the model predicts.
    double improve(std::int64_t coordinate, Directions& s);
    double move(std::int64_t coordinate, const Slope& slope, double limit, Direction& s);
    void improve_batch(std::span<const Group> nodes, double min_gain, Workers& workers,
                       std::vector<std::int64_t>& again);
    std::size_t batch_size() const;
    double collect_operations(std::int64_t node) const;
    double step_operations() const;
    repair::Blocks blocks() const;
    repair::Weights weights();
    double node_score(std::int64_t node, int label) const;
    std::vector<std::int64_t> candidates(Workers& workers, const StopTest& stop);

    const Problem& problem_;
    int threads_;
    std::vector<double> lower_, upper_, free_;  // full coordinates; free: 1 where there is room between the two
    std::vector<std::int64_t> first_;           // of the arcs of a node
    std::vector<RepairArc> arcs_;               // by node
    std::vector<double> node_square_;           // |phi_u|^2
    Run run_;
    double operations_ = 0.0;
};

}  // namespace gapcut
