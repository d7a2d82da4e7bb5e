#include "gapcut/edge_shards.hpp"

namespace gapcut {
namespace {

// The graph boundary next to `target` if it is near.
std::int64_t snapped(const Problem& p, std::int64_t target) {
    const auto near = std::lower_bound(p.edge_offset.begin(), p.edge_offset.end(), target);
    if (near == p.edge_offset.end()) return target;
    return *near - target <= p.edges.rows() / (4 * kEdgeShards) ? *near : target;
}

}  // namespace

std::vector<EdgeRange> edge_shards(const Problem& p, bool at_graphs) {
    const auto M = p.edges.rows();
    std::vector<EdgeRange> shards(kEdgeShards);
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < kEdgeShards; ++i) {
        EdgeRange& s = shards[i];
        const auto target = (i + 1) * M / kEdgeShards;
        s.begin = begin;
        s.end = i + 1 == kEdgeShards || !at_graphs ? target : std::max(begin, snapped(p, target));
        begin = s.end;
        if (s.begin == s.end) continue;
        const auto [t0, t1] = std::minmax_element(p.tail.begin() + s.begin, p.tail.begin() + s.end);
        const auto [h0, h1] = std::minmax_element(p.head.begin() + s.begin, p.head.begin() + s.end);
        s.node_begin = std::min(*t0, *h0);
        s.node_end = std::max(*t1, *h1) + 1;
    }
    return shards;
}

}  // namespace gapcut
