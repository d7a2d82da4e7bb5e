#include <algorithm>

#include "gapcut/infer/few_sweep.hpp"

namespace gapcut::infer {
namespace {

bool has_infinity(const Buffer& tables) {
    return std::find(tables.data(), tables.data() + tables.size(), kInfinity) != tables.data() + tables.size();
}

void two_labels(const double* part, double* message) {
    message[0] = std::max(0.0, -part[0]), message[1] = std::max(0.0, part[0]);
}

void three_labels(const double* part, double* message) {
    const bool last_is_zero = part[1] < 0.0;
    message[0] = last_is_zero ? part[0] : std::max(0.0, -part[0]);
    message[1] = std::max(0.0, last_is_zero ? -part[1] : part[0]);
    message[2] = std::max(0.0, part[1]);
}

}  // namespace

FewPacked FewPacked::build(const Reduction& reduced, const Packed& arranged) {
    FewPacked out{EdgeGroups(reduced, arranged), {}, false};
    out.forbids = has_infinity(out.edges.later_tables);
    for (std::int64_t i = 0; i < arranged.n_nodes(); ++i) {
        const double* u = arranged.unary.data() + arranged.unary_at[i];
        out.forbids |= std::find(u, u + out.edges.labels, kInfinity) != u + out.edges.labels;
    }
    out.slots = zeros((out.edges.later_slots() + 1) * 2 * part(out.edges.labels));
    return out;
}

void FewPacked::copy_messages(Packed& packed) const {
    const std::int64_t n = part(edges.labels);
    edges.each_edge(packed, [&](std::int64_t e, std::int64_t slot, std::int64_t) {
        const double* numbers = slots.data() + slot * 2 * n;
        double* message = packed.messages.data() + packed.message_at[e];
        switch (edges.labels) {  // as in expand of few_sweep.cpp
            case 2:
                return two_labels(numbers, message);
            case 3:
                return three_labels(numbers, message);
            default:
                std::copy_n(numbers, n, message);
        }
    });
}

}  // namespace gapcut::infer
