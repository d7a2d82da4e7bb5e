#include "gapcut/infer/edge_groups.hpp"

#include <algorithm>
#include <limits>

namespace gapcut::infer {
namespace {

constexpr std::int64_t kMostTableBytes = std::int64_t{1} << 32;

std::vector<std::int64_t> group_starts(const std::vector<std::int64_t>& edge_at) {
    std::vector<std::int64_t> out(1, 0);
    for (std::size_t i = 0; i + 1 < edge_at.size(); ++i)
        out.push_back(out.back() + (edge_at[i + 1] - edge_at[i] + kLanes - 1) / kLanes);
    return out;
}

}  // namespace

bool EdgeGroups::fits(const Packed& arranged, std::int32_t fewest, std::int32_t most) {
    if (arranged.n_edges() == 0) return false;
    const std::int32_t k = arranged.labels.front();
    if (k < fewest || k > most) return false;
    for (const std::int32_t other : arranged.labels)
        if (other != k) return false;
    const std::int64_t slots =
        kLanes * (group_starts(arranged.forward_at).back() + group_starts(arranged.backward_at).back());
    return slots < std::numeric_limits<std::int32_t>::max() &&
           slots * k * k * static_cast<std::int64_t>(sizeof(double)) <= kMostTableBytes;
}

EdgeGroups::EdgeGroups(const Reduction& reduced, const Packed& arranged)
    : labels(arranged.labels.front()), later_at(group_starts(arranged.forward_at)),
      earlier_at(group_starts(arranged.backward_at)) {
    const std::int64_t later = kLanes * later_at.back(), earlier = kLanes * earlier_at.back();
    later_to.assign(static_cast<std::size_t>(later), static_cast<std::int32_t>(earlier));
    earlier_to.assign(static_cast<std::size_t>(earlier), static_cast<std::int32_t>(later));
    later_tables = zeros(later * labels * labels);
    earlier_tables = zeros(earlier * labels * labels);

    for (std::int64_t j = 0; j < arranged.n_nodes(); ++j)
        for (std::int64_t q = arranged.backward_at[j]; q < arranged.backward_at[j + 1]; ++q) {
            const std::int64_t e = arranged.backward[q], i = arranged.source[e];
            const std::int64_t here = kLanes * earlier_at[j] + q - arranged.backward_at[j];
            const std::int64_t there = kLanes * later_at[i] + e - arranged.forward_at[i];
            earlier_to[here] = static_cast<std::int32_t>(there);
            later_to[there] = static_cast<std::int32_t>(here);
        }
    each_edge(arranged, [&](std::int64_t e, std::int64_t there, std::int64_t here) {
        double* at_i = later_tables.data() + there / kLanes * kLanes * labels * labels + there % kLanes;
        double* at_j = earlier_tables.data() + here / kLanes * kLanes * labels * labels + here % kLanes;
        for (std::int32_t a = 0; a < labels; ++a)
            for (std::int32_t b = 0; b < labels; ++b)
                at_i[(a * labels + b) * kLanes] = at_j[(b * labels + a) * kLanes] = arranged.entry(reduced, e, a, b);
    });
}

Buffer zeros(std::int64_t size) {
    Buffer out(size);
    std::fill_n(out.data(), size, 0.0);
    return out;
}

}  // namespace gapcut::infer
