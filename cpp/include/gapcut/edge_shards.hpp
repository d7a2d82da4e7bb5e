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

// Labels in rows of nodes, padded for kernels.
inline std::int64_t row_width(std::int64_t labels) { return (labels + 3) / 4 * 4; }

// What the edges of one shard add to their ends, by label: for one chunk of edges in lists by label, for the whole
// shard in rows of nodes.
template <class Real>
class EndSums {
  public:
    static constexpr std::int64_t kChunk = 512;           // edges at most
    static constexpr std::int64_t kStride = kChunk + 16;  // of lists: a power of two would crowd the cache

    void clear(const Problem& problem, const EdgeRange& range);

    // Zero lists for a chunk; the lists of one label; and the lists added to the nodes of edges [begin, begin + n).
    void start_chunk();
    Real* tail(std::int64_t label) { return tail_.data() + label * kStride; }
    Real* head(std::int64_t label) { return head_.data() + label * kStride; }
    void scatter(std::int64_t begin, std::int64_t n);
    // Gives the lists back; the rows stay.
    void end_chunks() { tail_ = head_ = std::vector<Real>(); }

    // Row of a node of the shard, row_width(K) long.
    const Real* row(std::int64_t node) const { return rows_.data() + (node - range_.node_begin) * width_; }
    bool empty() const { return rows_.empty(); }

  private:
    const Problem* problem_ = nullptr;
    EdgeRange range_;
    std::int64_t width_ = 0;
    std::vector<Real> tail_, head_;  // (width, kStride)
    std::vector<Real> rows_;         // (range.nodes(), width)
};

}  // namespace gapcut
