// Maximum flow and minimum cut in exact integer arithmetic.
//
// Incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan, Werneck, "Maximum flows by incremental
// breadth-first search", ESA 2011): a breadth-first tree grows from the source and another one from the sink, one
// level at a time; where they meet, flow is pushed along the path, and nodes that lose their parent look for another
// at the same distance. Those that find none are settled anew, nearest first, so that labels stay true distances and
// no two nodes take each other for the way home. Distances never fall, so the number of augmentations is polynomial
// whatever the capacities are.
//
// Requires: the sum of all capacities and of the absolute excesses is at most 2^62.
// Ensures: solve() returns the value of a maximum flow and source_side() is a minimum cut of exactly that value; the
// two are compared before solve() returns.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/parallel.hpp"

namespace gapcut {

class MaxFlow {
  public:
    // Forgets the last instance; memory is kept.
    void reset(std::int32_t n_nodes);

    // Net terminal capacity: positive is an arc from the source, negative an arc to the sink. Adds up.
    void add_excess(std::int32_t node, std::int64_t amount) { excess_[node] += amount; }

    // Arc i -> j of capacity `forward` together with j -> i of capacity `backward`, both >= 0. i != j.
    void add_arc(std::int32_t i, std::int32_t j, std::int64_t forward, std::int64_t backward) {
        input_.push_back({i, j, forward, backward});
    }

    // Flow value over the net capacities given: min(source side, sink side) that cancels inside one node is not
    // counted. stop() is asked now and then: when it turns true, the value of the flow so far is returned, a lower
    // bound of the minimum cut, and complete() is false: there is no cut.
    std::int64_t solve(const StopTest& stop = {});
    bool complete() const { return complete_; }

    // After a complete solve(): calls f(i, j) for every arc i -> j, between nodes, that could carry more.
    template <class F>
    void for_residual_arcs(F&& f) const {
        for (std::int32_t v = 0; v < n_; ++v)
            for (std::int32_t a = first_[v]; a < first_[v + 1]; ++a)
                if (arcs_[a].residual > 0) f(v, arcs_[a].head);
    }

    // After a complete solve(): what is left of each arc's forward capacity, in the order in which arcs were added.
    void residuals(std::vector<std::int64_t>& left) const;

    // After a complete solve(): whether the node is on the source side of the minimum cut found.
    bool source_side(std::int32_t node) const { return on_source_side_[node] != 0; }

  private:
    struct InputArc {
        std::int32_t from, to;
        std::int64_t forward, backward;
    };
    struct Arc {
        std::int32_t head;     // node it leads to
        std::int32_t reverse;  // index of its opposite
        std::int64_t residual;
    };
    enum class Tree : std::int8_t { source = 1, sink = -1 };

    static constexpr std::int32_t kAugmentationsPerAsk = 64;

    bool should_stop();
    void build_adjacency();
    void plant_roots();
    template <Tree T>
    bool grow_one_level();
    void augment(std::int32_t middle);
    template <Tree T>
    void push_to_root(std::int32_t node, std::int64_t amount);
    std::int64_t bottleneck(std::int32_t middle) const;
    template <Tree T>
    void adopt_orphans();
    template <Tree T>
    bool adopt_in_place(std::int32_t node);
    template <Tree T>
    void resettle_homeless();
    template <Tree T>
    void file_at_frontier(std::int32_t node);
    void queue(std::int32_t label, std::int32_t node, std::int32_t arc);
    std::int64_t cut_value() const;

    template <Tree T>
    std::int64_t toward_child(std::int32_t arc) const {  // residual of the tree arc, `arc` being child -> parent
        return T == Tree::source ? arcs_[arcs_[arc].reverse].residual : arcs_[arc].residual;
    }
    template <Tree T>
    bool in_tree(std::int32_t node) const {
        return T == Tree::source ? distance_[node] > 0 : distance_[node] < 0;
    }

    static constexpr std::int32_t kNone = -1, kTerminal = -2;

    std::int32_t n_ = 0;
    std::vector<InputArc> input_;
    std::vector<std::int64_t> excess_, original_excess_;
    std::vector<std::int32_t> first_;  // n + 1, arcs of a node are [first_[v], first_[v + 1])
    std::vector<Arc> arcs_;
    std::vector<std::int32_t> distance_;  // > 0 in the source tree, < 0 in the sink tree, 0 in neither
    std::vector<std::int32_t> parent_;    // arc to the parent, kTerminal for a root, kNone
    std::vector<std::int32_t> current_;   // arcs before it lead to no parent at the present distance
    std::vector<std::uint8_t> homeless_flag_, on_source_side_;
    struct Visit {
        std::int32_t label, node, arc;
        bool operator<(const Visit& other) const { return label > other.label; }  // std heaps pop the largest
    };
    std::vector<Visit> heap_;
    std::vector<std::int32_t> homeless_;
    std::vector<std::int32_t> frontier_[2], next_frontier_[2];  // [0] source tree, [1] sink tree
    std::int32_t level_[2] = {1, 1};                            // deepest complete level of each tree
    bool growing_source_ = true;
    std::int64_t flow_ = 0;
    const StopTest* stop_ = nullptr;
    std::int32_t until_ask_ = 0;
    bool complete_ = true;
};

}  // namespace gapcut
