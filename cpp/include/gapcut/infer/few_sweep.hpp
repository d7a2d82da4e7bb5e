// TRW-S where all nodes have the same two to four labels: messages are stored compressed.
//
// A sweep over few labels is bound by memory, so the layout saves bytes. Messages are not negative and one entry is
// zero, so K - 1 numbers hold a message without loss: of two labels M(1) - M(0); of three the entries that are not the
// (first) zero, and their signs say where it is. Costs of the label chosen at the earlier end are
// stored less their minimum, likewise. Four labels fill a cache line as they are.
//
// An edge has one slot for both, at its earlier node: a node reads and writes its own slots in a row, and those of
// edges to earlier nodes it reads from scattered places, which are prefetched. (Scattered writes instead, as in
// small_sweep.hpp, move each cache line twice.)
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/edge_groups.hpp"
#include "gapcut/infer/packed.hpp"
#include "gapcut/infer/sweep.hpp"

namespace gapcut::infer {

struct FewPacked {
    EdgeGroups edges;
    Buffer slots;  // (later slots + 1, 2, part) messages, costs of the label chosen at the earlier node; last: zero
    bool forbids = false;  // some entry is +inf

    // Numbers that K entries take.
    static constexpr std::int64_t part(std::int32_t labels) { return labels < 4 ? labels - 1 : labels; }

    // Whether the layout takes these label counts, and there is memory for it.
    static bool fits(const Packed& arranged) { return EdgeGroups::fits(arranged, 2, 4); }
    // Requires fits(arranged).
    static FewPacked build(const Reduction& reduced, const Packed& arranged);

    // Copies the messages as a forward sweep left them. Requires loaded tables.
    void copy_messages(Packed& packed) const;
};

// Kernels::few_forward_sweep and so on do as forward_sweep and backward_sweep; `packed` needs no tables.

}  // namespace gapcut::infer
