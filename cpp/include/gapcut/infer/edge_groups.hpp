// Edges of every node to later and to earlier nodes in groups of four, one a lane, with their tables: what the layouts
// for few labels share.
//
// Each end of an edge has a slot of its own, in the order of the nodes, and its own copy of the table, so that a
// half-sweep streams through the tables in both directions. What a group lacks is padded with zero tables.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/packed.hpp"

namespace gapcut::infer {

struct EdgeGroups {
    std::int32_t labels = 0;                         // K, of every node
    std::vector<std::int64_t> later_at, earlier_at;  // (n + 1,) groups
    std::vector<std::int32_t> later_to,
        earlier_to;                       // (4 groups,) the edge's slot at the other end; padding: one beyond
    Buffer later_tables, earlier_tables;  // (groups, own label, other label, 4)

    EdgeGroups() = default;
    // Requires fits(arranged, K, K).
    EdgeGroups(const Reduction& reduced, const Packed& arranged);

    // Whether all nodes have the same number of labels, in this range, and there is memory for it.
    static bool fits(const Packed& arranged, std::int32_t fewest, std::int32_t most);

    std::int64_t later_slots() const { return static_cast<std::int64_t>(later_to.size()); }
    std::int64_t earlier_slots() const { return static_cast<std::int64_t>(earlier_to.size()); }

    // f(edge, its slot at the earlier node, its slot at the later one) for all edges.
    template <class F>
    void each_edge(const Packed& arranged, F&& f) const {
        for (std::int64_t i = 0; i < arranged.n_nodes(); ++i)
            for (std::int64_t e = arranged.forward_at[i]; e < arranged.forward_at[i + 1]; ++e) {
                const std::int64_t slot = kLanes * later_at[i] + e - arranged.forward_at[i];
                f(e, slot, std::int64_t{later_to[slot]});
            }
    }
};

// A buffer of zeros.
Buffer zeros(std::int64_t size);

}  // namespace gapcut::infer
