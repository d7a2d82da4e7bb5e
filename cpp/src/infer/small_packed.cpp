#include <algorithm>
#include <limits>

#include "gapcut/infer/lanes.hpp"
#include "gapcut/infer/small_sweep.hpp"

namespace gapcut::infer {
namespace {

constexpr std::int64_t kMostTableBytes = std::int64_t{1} << 32;
constexpr std::int64_t kSpare = 16;  // entries that may be read beyond the last slot

Buffer zeros(std::int64_t size) {
    Buffer out(size);
    std::fill_n(out.data(), size, 0.0);
    return out;
}

std::vector<std::int64_t> group_starts(const std::vector<std::int64_t>& edge_at) {
    std::vector<std::int64_t> out(1, 0);
    for (std::size_t i = 0; i + 1 < edge_at.size(); ++i)
        out.push_back(out.back() + (edge_at[i + 1] - edge_at[i] + kLanes - 1) / kLanes);
    return out;
}

}  // namespace

bool SmallPacked::fits(const Packed& arranged) {
    if (arranged.n_edges() == 0) return false;
    const std::int32_t k = arranged.labels.front();
    if (k < kFewest || k > kMost) return false;
    for (const std::int32_t other : arranged.labels)
        if (other != k) return false;
    const std::int64_t slots =
        kLanes * (group_starts(arranged.forward_at).back() + group_starts(arranged.backward_at).back());
    return slots < std::numeric_limits<std::int32_t>::max() &&
           slots * k * k * static_cast<std::int64_t>(sizeof(double)) <= kMostTableBytes;
}

SmallPacked SmallPacked::build(const Reduction& reduced, const Packed& arranged) {
    SmallPacked out;
    const std::int32_t k = out.labels = arranged.labels.front();
    out.later_at = group_starts(arranged.forward_at);
    out.earlier_at = group_starts(arranged.backward_at);
    const std::int64_t later = kLanes * out.later_at.back(), earlier = kLanes * out.earlier_at.back();
    out.later_to.assign(static_cast<std::size_t>(later), static_cast<std::int32_t>(earlier));
    out.earlier_to.assign(static_cast<std::size_t>(earlier), static_cast<std::int32_t>(later));
    out.later_tables = zeros(later * k * k);
    out.earlier_tables = zeros(earlier * k * k);
    out.from_later = zeros((later + 1) * k + kSpare);
    out.from_earlier = zeros((earlier + 1) * 2 * k + kSpare);

    for (std::int64_t j = 0; j < arranged.n_nodes(); ++j)
        for (std::int64_t q = arranged.backward_at[j]; q < arranged.backward_at[j + 1]; ++q) {
            const std::int64_t e = arranged.backward[q], i = arranged.source[e];
            const std::int64_t here = kLanes * out.earlier_at[j] + q - arranged.backward_at[j];
            const std::int64_t there = kLanes * out.later_at[i] + e - arranged.forward_at[i];
            out.earlier_to[here] = static_cast<std::int32_t>(there);
            out.later_to[there] = static_cast<std::int32_t>(here);
            double* at_i = out.later_tables.data() + there / kLanes * kLanes * k * k + there % kLanes;
            double* at_j = out.earlier_tables.data() + here / kLanes * kLanes * k * k + here % kLanes;
            for (std::int32_t a = 0; a < k; ++a)
                for (std::int32_t b = 0; b < k; ++b)
                    at_i[(a * k + b) * kLanes] = at_j[(b * k + a) * kLanes] = arranged.entry(reduced, e, a, b);
        }
    return out;
}

void SmallPacked::hand_over(Packed& packed) const {
    for (std::int64_t i = 0; i < packed.n_nodes(); ++i)
        for (std::int64_t e = packed.forward_at[i]; e < packed.forward_at[i + 1]; ++e) {
            const std::int64_t slot = later_to[kLanes * later_at[i] + e - packed.forward_at[i]];
            std::copy_n(from_earlier.data() + slot * 2 * labels, labels, packed.messages.data() + packed.message_at[e]);
        }
}

}  // namespace gapcut::infer
