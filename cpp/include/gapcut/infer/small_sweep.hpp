// TRW-S where all nodes have the same five to seven labels: four edges of a node at a time, one a lane, and every read
// in a row.
//
// The general layout (packed.hpp) reads half of its messages and tables from where the neighbours are, and pads rows of
// five entries to eight. Here each end of an edge has its own copy of the table, in the order of the nodes, and its own
// place for the message it gets, so that a half-sweep streams through all it reads and only writes to far away. The
// sums and their rounding are those of sweep.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/edge_groups.hpp"
#include "gapcut/infer/packed.hpp"
#include "gapcut/infer/sweep.hpp"

namespace gapcut::infer {

struct SmallPacked {
    EdgeGroups edges;
    Buffer from_later;    // (slots + 1, K) messages; the last is for padding
    Buffer from_earlier;  // (slots + 1, 2 K) messages, costs of the label chosen there

    // Whether the layout takes these label counts, and there is memory for it.
    static bool fits(const Packed& arranged) { return EdgeGroups::fits(arranged, 5, 7); }
    // Requires fits(arranged).
    static SmallPacked build(const Reduction& reduced, const Packed& arranged);

    // Copies the messages as a forward sweep left them. Requires loaded tables.
    void copy_messages(Packed& packed) const;
};

// Kernels::small_forward_sweep and so on do as forward_sweep and backward_sweep; `packed` needs no tables.

}  // namespace gapcut::infer
