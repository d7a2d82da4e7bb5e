// Roof duality (quadratic pseudo-boolean optimisation, QPBO): minimises a function of binary variables
//   f(x) = sum of costs of single variables and of pairs, by arbitrary tables, +inf forbids
// as far as its half-integral relaxation goes: some variables get a label that a minimiser has, the others stay
// unlabelled, and the value of the relaxation is a lower bound. Exact where no cycle is frustrated, submodular
// functions among them. Papers: Hammer, Hansen, Simeone 1984; Boros, Hammer, Pseudo-boolean optimization, 2002;
// Kolmogorov, Rother, Minimizing nonsubmodular functions with graph cuts - a review, PAMI 2007.
//
// Every term is first lowered: its minimum is taken out, the rest rounded down to 64-bit integers at a power-of-two
// scale, and what costs more than any minimiser can afford (+inf in particular) is cut down to just that. Everything
// after is exact integer arithmetic. So the lowered function g is nowhere above f and bound() <= min g <= min f; labels
// are those of minimisers of g, which differ from f by less than one unit, 2^-57 of the sum of all ranges, a term.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/flow/max_flow.hpp"
#include "gapcut/parallel.hpp"
#include "gapcut/rounding.hpp"

namespace gapcut::infer {

inline constexpr std::int8_t kUnlabelled = -1;

class Qpbo {
  public:
    using Table = std::array<double, 4>;  // entry 2 x_i + x_j

    // Forgets the last function; memory is kept.
    void reset(std::int32_t n_variables);

    // Terms add up; the same variable or pair may come again, in either order. Entries are finite or +inf, i != j.
    void add_constant(double cost);
    void add_unary(std::int32_t i, double cost0, double cost1) { unaries_.push_back({i, {cost0, cost1}}); }
    void add_pair(std::int32_t i, std::int32_t j, const Table& table) { pairs_.push_back({i, j, table}); }

    // `start`: a labeling (empty: none); a good one sharpens the scale where there are entries of very different size.
    // Whether it was given or not, minimisers stay minimisers. stop() ends the flow early: fewer labels, weaker bound.
    void solve(std::span<const std::uint8_t> start = {}, const StopTest& stop = {});

    // After solve(): 0, 1 or kUnlabelled. Writing the labels over any labeling never raises g (autarky), so some
    // minimiser has them all; strong() marks those that every minimiser has.
    const std::vector<std::int8_t>& labels() const { return label_; }
    const std::vector<std::uint8_t>& strong() const { return strong_; }
    double bound() const { return bound_; }  // <= min f; +inf: every labeling is forbidden
    bool stopped() const { return stopped_; }

  private:
    struct Unary {
        std::int32_t i;
        std::array<double, 2> cost;
    };
    struct Pair {
        std::int32_t i, j;
        Table cost;
    };
    struct IntPair {
        std::int32_t i, j;  // i < j
        std::array<std::int64_t, 4> cost;
        // what x_i = 1 costs more than x_i = 0, for both values of x_j; and the same with i and j exchanged
        std::array<std::int64_t, 2> slope_of_i() const { return {cost[2] - cost[0], cost[3] - cost[1]}; }
        std::array<std::int64_t, 2> slope_of_j() const { return {cost[1] - cost[0], cost[3] - cost[2]}; }
    };

    template <class F>
    void for_terms(std::span<const std::uint8_t> start, F&& f);
    void lower(std::span<const std::uint8_t> start);
    double take_out_minima(std::span<const std::uint8_t> start);
    void choose_scale();
    void cap_expensive(std::span<const std::uint8_t> start);
    std::int64_t to_units(double range) const;
    void collect_unaries();
    void merge_pairs();
    void link();
    void fix_dominated();
    void fix(std::int32_t i, bool value);
    void substitute();
    void cut(const StopTest& stop);
    void connect(std::int32_t p, std::int32_t q, std::int64_t cost);
    void label_from_cut();
    void label_weakly();
    void finish();
    std::int32_t complement(std::int32_t node) const { return node < n_free_ ? node + n_free_ : node - n_free_; }

    std::int32_t n_ = 0;
    std::vector<Unary> unaries_;
    std::vector<Pair> pairs_;

    LowerSum constants_;        // taken out of the terms, as doubles
    bool infeasible_ = false;   // a term forbids everything
    double affordable_ = 0.0;   // no minimiser pays more than this over the minima
    double least_range_ = 0.0;  // that is not 0
    std::int64_t cap_ = 0;      // the same in units, and one more: what too expensive entries are cut down to
    int shift_ = 0;             // a unit is 2^-shift_

    std::int64_t constant_ = 0;  // in units
    std::vector<std::int64_t> linear_, least_slope_, most_slope_;
    std::vector<IntPair> merged_, scratch_;
    std::vector<std::int64_t> first_;
    std::vector<std::int32_t> incident_;
    std::vector<std::int32_t> queue_, place_, free_;
    std::int32_t n_free_ = 0;
    std::int64_t twice_value_ = 0;  // of the relaxation, in units
    MaxFlow flow_;

    std::vector<std::int8_t> label_;
    std::vector<std::uint8_t> strong_;
    double bound_ = 0.0;
    bool stopped_ = false;
};

}  // namespace gapcut::infer
