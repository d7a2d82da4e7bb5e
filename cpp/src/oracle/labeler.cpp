#include "gapcut/oracle/labeler.hpp"

#include <algorithm>

namespace gapcut {

// The value of z = y is the sum of the same gains and tables as that of the labels found.
GraphAnswer OneHotMaximiser::solve(const Weights& w, std::int64_t graph, Scratch& s, double* plane) const {
    const Problem& p = problem();
    const auto begin = p.node_offset[graph], end = p.node_offset[graph + 1];
    one_hot_.gains(w, graph, s.gains);
    s.labels.resize(static_cast<std::size_t>(end - begin));
    const double found = s.solver->solve(one_hot_, w, graph, s.gains, s.labels.data());
    double truth = 0.0;
    for (auto u = begin; u < end; ++u) truth += s.gains[(u - begin) * w.width + p.labels[u]];
    for (auto e = p.edge_offset[graph]; e < p.edge_offset[graph + 1]; ++e) {
        const std::int64_t k = p.labels[p.tail[e]], l = p.labels[p.head[e]];
        p.edges.for_row(e,
                        [&](std::int32_t d, double x) { truth += x * w.pairwise[(d * p.n_labels + k) * w.width + l]; });
    }
    const double bound = checked_bound(std::max(0.0, found - truth) + one_hot_.rounding(w, graph));
    // with one label there is no other labeling, and the slack is 0 without rounding
    return {one_hot_.add_plane(graph, s.labels.data(), plane), p.n_labels == 1 ? 0.0 : bound};
}

}  // namespace gapcut
