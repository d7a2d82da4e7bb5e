// Edges in a fixed number of runs (shards), so that passes over all edges add to nodes in parallel with the same bits
// for any number of threads: each shard has sums of its own at the nodes that its edges touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gapcut/problem.hpp"

namespace gapcut {

inline constexpr std::int64_t kEdgeShards = 16;

struct EdgeRange {
    std::int64_t begin = 0, end = 0;            // edges
    std::int64_t node_begin = 0, node_end = 0;  // nodes they touch

    std::int64_t nodes() const { return node_end - node_begin; }

    // f(begin, n) for runs of at most `size` edges.
    template <class F>
    void for_chunks(std::int64_t size, F&& f) const {
        for (auto at = begin; at < end; at += size) f(at, std::min(size, end - at));
    }
};

// kEdgeShards ranges of about equal size. at_graphs: they end where a graph does if that is near, so that most share no
// node.
std::vector<EdgeRange> edge_shards(const Problem& problem, bool at_graphs);

}  // namespace gapcut
