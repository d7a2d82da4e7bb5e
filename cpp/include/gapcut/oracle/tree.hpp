// Exact loss-augmented inference on forests: max-sum dynamic programming from the leaves to a root of every component.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gapcut/oracle/labeler.hpp"

namespace gapcut {

// The order of the dynamic program for all graphs of a problem; several edges between two nodes count as one.
struct Forests {
    struct Link {
        std::int32_t edge;
        bool child_is_tail;
    };
    std::vector<std::int32_t> order;    // (N,) nodes of each graph (numbered in the stacked set), parents first
    std::vector<std::int32_t> parent;   // (N,) by node: the parent, -1 for a root
    std::vector<std::int64_t> link_at;  // (N + 1,) by node: its edges to the parent
    std::vector<Link> links;

    // Throws std::invalid_argument naming the first graph that has a cycle, and a node on it or beyond.
    static Forests of(const Problem& problem);
};

std::unique_ptr<GraphSolver> make_tree_solver(std::shared_ptr<const Forests> forests);

}  // namespace gapcut
