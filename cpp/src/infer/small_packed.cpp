#include <algorithm>

#include "gapcut/infer/small_sweep.hpp"

namespace gapcut::infer {
namespace {

constexpr std::int64_t kSpare = 16;  // entries that may be read beyond the last slot

}  // namespace

SmallPacked SmallPacked::build(const Reduction& reduced, const Packed& arranged) {
    SmallPacked out{EdgeGroups(reduced, arranged), {}, {}};
    out.from_later = zeros((out.edges.later_slots() + 1) * out.edges.labels + kSpare);
    out.from_earlier = zeros((out.edges.earlier_slots() + 1) * 2 * out.edges.labels + kSpare);
    return out;
}

void SmallPacked::copy_messages(Packed& packed) const {
    edges.each_edge(packed, [&](std::int64_t e, std::int64_t, std::int64_t slot) {
        std::copy_n(from_earlier.data() + slot * 2 * edges.labels, edges.labels,
                    packed.messages.data() + packed.message_at[e]);
    });
}

}  // namespace gapcut::infer
