// TRW-S where all nodes have the same few labels: four edges of a node at a time, one a lane, and every read in a row.
//
// The general layout (packed.hpp) reads half of its messages and tables from where the neighbours are, and pads rows of
// two or five entries to four or eight. Here each end of an edge has its own copy of the table, in the order of the
// nodes, and its own place for the message it gets, so that a half-sweep streams through all it reads and only writes
// to far away. The sums and their rounding are those of sweep.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/packed.hpp"
#include "gapcut/infer/sweep.hpp"

namespace gapcut::infer {

// Edges of a node to later (earlier) nodes come in groups of four; what a group lacks is padded with zero tables and
// with messages that stay zero.
struct SmallPacked {
    static constexpr std::int32_t kFewest = 2, kMost = 7;  // labels

    std::int32_t labels = 0;                           // K
    std::vector<std::int64_t> later_at, earlier_at;    // (n + 1,) groups
    std::vector<std::int32_t> later_to, earlier_to;    // (4 groups,) the edge's slot at the other end; a spare one
    Buffer later_tables, earlier_tables;               // (groups, own label, other label, 4)
    Buffer from_later;                                 // (slots, K) messages
    Buffer from_earlier;                               // (slots, 2 K) messages, costs of the label chosen there

    // Whether all labels are equal, few, and there is memory for it.
    static bool fits(const Packed& arranged);
    // Requires fits(arranged).
    static SmallPacked build(const Reduction& reduced, const Packed& arranged);

    // Copies the messages as a forward sweep left them. Requires loaded tables.
    void hand_over(Packed& packed) const;
};

// As forward_sweep and backward_sweep; `packed` needs no tables.
void small_forward_sweep(SmallPacked& small, const Packed& packed, Sweep& sweep, std::int64_t first, std::int64_t last,
                         std::vector<std::int32_t>& labels);
void small_backward_sweep(SmallPacked& small, const Packed& packed, Sweep& sweep, std::int64_t first,
                          std::int64_t last);

}  // namespace gapcut::infer
