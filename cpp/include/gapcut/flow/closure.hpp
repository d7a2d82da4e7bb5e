// Exact maximisation of  sum_i a_i z_i + sum_(i,j) b_ij z_i z_j  over z in {0,1}^n, with all b >= 0
// (mathematics.md, Exact oracle): a maximum closure, one minimum cut. Terms over more variables,
// g z_i z_j ... z_m with g >= 0, get a variable s of their own: g s (z_i + ... + z_m - (d - 1)), maximised over s.
//
// Coefficients come as doubles and are rounded once to 64-bit integers at a power-of-two scale; everything after
// that, the persistency rules as well as the cut, is exact integer arithmetic. So the labeling is a maximiser of the
// rounded objective, and its true value falls short of the true maximum by at most rounding().
//
// Variables are decided in three steps, each leaving less to the next:
//   1. persistency: Lower = the smallest set closed under "i is in if a_i + sum of b_ij over Lower > 0", Upper = the
//      largest set whose members all have a_i + sum of b_ij over Upper > 0; some maximiser lies between the two;
//   2. what is left falls apart into connected components;
//   3. each component is one minimum cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/flow/max_flow.hpp"

namespace gapcut {

struct ClosureStats {
    std::int64_t variables = 0, arcs = 0;            // given
    std::int64_t core_variables = 0, core_arcs = 0;  // left after persistency
    std::int64_t components = 0;
};

// The minimum cuts of one instance as one network (its components side by side), as MaxFlow takes it: for comparing
// solvers.
struct CoreNetwork {
    std::vector<std::int64_t> excess;             // one a node
    std::vector<std::int32_t> arcs;               // tail and head in turn
    std::vector<std::int64_t> forward, backward;  // one an arc
};

class Closure {
  public:
    bool use_persistency = true;    // off only to measure what it saves
    CoreNetwork* record = nullptr;  // solve() adds the cuts it makes
    bool keep_split = false;        // solve() keeps what split() needs; only without cliques

    // Forgets the last instance; memory is kept.
    void reset(std::int32_t n_variables);
    void set_gain(std::int32_t i, double a) { gain_[i] = a; }
    // b >= 0. `fraction` in [0, 1] is the part of b that the network starts with at i, the rest at j: a split near the
    // best one (oracle/slack_bound.hpp) leaves little to flow; the maximum is the same for any.
    void add_pair(std::int32_t i, std::int32_t j, double b, float fraction = 0.5F) {
        pairs_.push_back({i, j, b});
        fraction_.push_back(fraction);
    }

    // g >= 0 times the product of these variables, which are distinct.
    void add_clique(std::span<const std::int32_t> members, double g);

    // Throws std::overflow_error if the coefficients do not sum to a finite number.
    void solve();

    const std::vector<std::uint8_t>& labels() const { return state_; }  // 0 or 1 after solve()
    double rounding() const { return rounding_; }

    // The part of each pair's b, in the order in which pairs were added, that goes to its i in a best split: with the
    // rest given to j, the positive parts of all a_i + what is given to i add up to the maximum (of the rounded
    // problem). It proves the maximum without the cut. After a solve() with keep_split.
    std::vector<double> split() const;
    const ClosureStats& stats() const { return stats_; }

  private:
    struct Pair {
        std::int32_t i, j;
        double b;
    };
    struct Neighbour {
        std::int32_t node;
        float fraction;  // of b, at the node whose neighbour this is
        std::int64_t b;
    };
    struct Item {
        std::int32_t variable, others;  // the s of a clique, and d - 1
        double g;
    };
    enum State : std::uint8_t { kOut = 0, kIn = 1, kOpen = 2 };

    void round_coefficients();
    void build_adjacency();
    void grow_lower();
    void shrink_upper();
    void solve_components();
    void cut_component();
    void record_component() const;
    void keep_flow();
    double decided_split(std::int32_t i, std::int32_t j) const;
    template <class F>
    void for_core_pairs(std::int32_t i, F&& f) const;

    std::int32_t n_ = 0, n_given_ = 0;  // with and without the variables of cliques
    std::vector<double> gain_;
    std::vector<Pair> pairs_;
    std::vector<float> fraction_;  // of pairs_
    std::vector<Item> items_;
    std::vector<std::int64_t> low_, high_;  // a_i plus the b of neighbours in Lower, in Upper
    std::vector<std::int64_t> first_;
    std::vector<Neighbour> neighbours_;
    std::vector<std::uint8_t> state_;
    std::vector<std::int32_t> queue_, place_, member_;
    std::int32_t clock_ = 0;
    std::vector<std::int32_t> joined_, passed_on_;  // keep_split: when persistency decided a variable, told neighbours
    std::vector<std::int64_t> kept_, residual_;     // keep_split: what the flow leaves of a pair at the earlier member
    double scale_ = 1.0, rounding_ = 0.0;
    ClosureStats stats_;
    MaxFlow flow_;
};

}  // namespace gapcut
