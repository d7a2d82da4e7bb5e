#include "gapcut/edge_shards.hpp"

#include <type_traits>

#include "gapcut/kernels.hpp"

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

template <class Real>
void EndSums<Real>::clear(const Problem& problem, const EdgeRange& range) {
    problem_ = &problem;
    range_ = range;
    width_ = row_width(problem.n_labels);
    rows_.assign(static_cast<std::size_t>(width_ * range.nodes()), Real{0});
}

template <class Real>
void EndSums<Real>::start_chunk() {
    tail_.assign(static_cast<std::size_t>(width_ * kStride), Real{0});
    head_.assign(static_cast<std::size_t>(width_ * kStride), Real{0});
}

template <class Real>
void EndSums<Real>::scatter(std::int64_t begin, std::int64_t n) {
    const auto add = [&](const std::vector<std::int32_t>& ends, const std::vector<Real>& list) {
        const auto* at = ends.data() + begin;
        if constexpr (std::is_same_v<Real, float>)
            kernels().scatter_rows(n, width_, at, range_.node_begin, list.data(), kStride, rows_.data());
        else
            kernels().scatter_double_rows(n, width_, at, range_.node_begin, list.data(), kStride, rows_.data());
    };
    add(problem_->tail, tail_);
    add(problem_->head, head_);
}

template class EndSums<float>;
template class EndSums<double>;

}  // namespace gapcut
