// Makes an energy smaller without changing its minimum: edges between the same two nodes become one, nodes with one
// label are folded into their neighbours, and nodes with one neighbour are eliminated by dynamic programming, again and
// again. What is left (the core) has degree two or more everywhere; a forest leaves nothing and is solved exactly.
//
// All sums are rounded down, so the reduced energy is nowhere above the given one, and its lower bounds hold for both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/infer/energy.hpp"

namespace gapcut::infer {

// Edges between two nodes, as one. Entry (k, l), k a label of `low`, l of `high`, low < high, is
// table[k * row_step + l * column_step].
struct Pair {
    std::int32_t low, high;
    const double* table;
    std::int64_t row_step, column_step;

    double at(bool from_low, std::int32_t own, std::int32_t other) const {
        return from_low ? table[own * row_step + other * column_step] : table[other * row_step + own * column_step];
    }
};

class Reduction {
  public:
    // Requires check(energy) passed; the view's memory must outlive this object. Nodes with keep[u] != 0 (empty: none)
    // stay in the core whatever their degree, because other terms than this energy's hold them.
    explicit Reduction(const EnergyView& energy, const std::vector<char>& keep = {});

    Reduction(const Reduction&) = delete;  // pairs point into it
    Reduction& operator=(const Reduction&) = delete;

    const std::vector<std::int32_t>& core() const { return core_; }  // nodes left, ascending
    const std::vector<Pair>& pairs() const { return pairs_; }        // all pairs; those with alive(p) join core nodes
    bool alive(std::int64_t pair) const { return pair_alive_[pair] != 0; }

    // Connected components of the given energy, isolated nodes included; numbered by their first node.
    std::int32_t n_components() const { return n_components_; }
    const std::vector<std::int32_t>& component() const { return component_; }

    // Entries of node u, with everything folded into it.
    const double* unary_of(std::int64_t u) const { return unary_.data() + energy_.unary_at[u]; }
    std::int32_t n_labels(std::int64_t u) const { return energy_.labels[u]; }

    // (components,) what elimination added to the component's minimum; +inf if nothing is allowed.
    const std::vector<LowerSum>& constants() const { return constants_; }

    // Given the core nodes' labels in a full labeling, sets the other nodes' labels to their best.
    void complete(std::vector<std::int32_t>& labels) const;

    // Given, for every label of the core's nodes, how far its min-marginal lies above the component's minimum (or a
    // lower bound of that), sets the same of all other nodes, at the places of the unary entries. Rounded down.
    void spread(std::span<double> excess) const;

  private:
    struct Step {
        std::int32_t node;
        std::int64_t pair;  // the pair to the neighbour it was eliminated into, -1 if there was none
    };

    void join_parallel_edges();
    void find_components();
    void link();
    void eliminate(std::int32_t u);
    void fold(std::int32_t u, std::int64_t pair);

    EnergyView energy_;
    std::vector<double> unary_;
    std::vector<Pair> pairs_;
    std::vector<std::vector<double>> merged_;
    std::vector<std::int64_t> pair_at_, node_pairs_;  // pairs at every node
    std::vector<std::int32_t> degree_;
    std::vector<char> node_alive_, pair_alive_;
    std::vector<Step> steps_;
    std::vector<std::int32_t> core_, component_;
    std::vector<LowerSum> constants_;
    std::int32_t n_components_ = 0;
};

}  // namespace gapcut::infer
