#include "gapcut/infer/small_sweep.hpp"

#include "gapcut/infer/sweep.hpp"
#include "lanes.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

using infer::Packed;
using infer::SmallPacked;
using infer::Sweep;

constexpr std::int64_t kWritesAhead = 4;  // between prefetching what a group writes to and writing it

// sum += the entries of `count` slots, one every `step`. Quad beyond K hold what comes next in memory.
template <int K>
GAPCUT_INLINE void add_slots(const double* slot, std::int64_t step, std::int64_t count, Quad* sum) {
    for (std::int64_t s = 0; s < count; ++s, slot += step)
        GAPCUT_UNROLL for (int b = 0; b < kBlocks<K>; ++b) sum[b] = sum[b] + Quad::load(slot + b * kLanes);
}

// out[k] = entry k of four slots in a row.
template <int K>
GAPCUT_INLINE void read_slots(const double* slot, std::int64_t step, Quad* out) {
    GAPCUT_UNROLL for (int b = 0; b < kBlocks<K>; ++b) {
        Quad part[4];
        GAPCUT_UNROLL for (int i = 0; i < 4; ++i) part[i] = Quad::load(slot + i * step + b * kLanes);
        transpose(part[0], part[1], part[2], part[3]);
        GAPCUT_UNROLL for (int k = 0; k < 4; ++k) if (4 * b + k < K) out[4 * b + k] = part[k];
    }
}

// Writes N entries into each of four slots anywhere.
template <int N>
GAPCUT_INLINE void write_slots(const Quad* values, double* const* slots) {
    GAPCUT_UNROLL for (int b = 0; b < N / 4; ++b) {
        Quad part[4] = {values[4 * b], values[4 * b + 1], values[4 * b + 2], values[4 * b + 3]};
        transpose(part[0], part[1], part[2], part[3]);
        GAPCUT_UNROLL for (int i = 0; i < 4; ++i) store(slots[i] + 4 * b, part[i]);
    }
    GAPCUT_UNROLL for (int n = N / 4 * 4; n < N; ++n) {
        const Lanes lane(values[n]);
        GAPCUT_UNROLL for (int i = 0; i < 4; ++i) slots[i][n] = lane[i];
    }
}

// Sums of what a node has received, and b_i.
template <int K>
struct SmallNode {
    static constexpr int B = kBlocks<K>;
    Quad from_later[B], from_earlier[B], chosen[B], own[B];

    GAPCUT_INLINE SmallNode() {
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) from_later[b] = from_earlier[b] = chosen[b] = Quad::fill(0.0);
    }

    // b_i in own; returns d_i. Messages are not negative, so their sum is that of their magnitudes.
    GAPCUT_INLINE double finish(const double* unary, double terms, double chain_weight) {
        const Quad error = Quad::fill((2.0 * terms + 8.0) * kUnit), inf = Quad::fill(kInfinity);
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
            const Quad u = Quad::load(unary + b * kLanes), messages = from_later[b] + from_earlier[b], h = u + messages;
            own[b] = select_less(h, inf, h - error * (magnitude(u) + messages), inf);
        }
        const double least = Entries<K>(own).lowest();
        if (least == kInfinity) return least;
        const Quad d = Quad::fill(least), part = Quad::fill(chain_weight), tiny = Quad::fill(kTiny),
                   zero = Quad::fill(0.0);
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
            const Quad h = down(own[b] - d);
            own[b] = select_less(h, tiny, zero, down(part * h));
        }
        return least;
    }
};

// The messages of four edges from one node: message[l] from `got` (what the node received along them), `own` and the
// tables. Returns their constants, zero where a lane is padding.
template <int K>
GAPCUT_INLINE Quad messages_of(const Quad* own, const Quad* got, const double* tables, Quad* message) {
    const Quad inf = Quad::fill(kInfinity);
    Quad out[K];
    const Entries<K> given(own);
    GAPCUT_UNROLL for (int k = 0; k < K; ++k) {
        const Quad b = Quad::fill(given[k]), sent = select_less(b, inf, down(b - got[k]), inf);
        GAPCUT_UNROLL for (int l = 0; l < K; ++l) {
            const Quad x = sent + Quad::load(tables + (k * K + l) * kLanes);
            out[l] = k == 0 ? x : min(x, out[l]);
        }
    }
    Quad lowest = out[0];
    GAPCUT_UNROLL for (int l = 1; l < K; ++l) lowest = min(out[l], lowest);
    lowest = down(lowest);
    GAPCUT_UNROLL for (int l = 0; l < K; ++l) message[l] = down(down(out[l]) - lowest);
    return lowest;
}

// Adds the constants of a node's messages; false if one is +inf.
GAPCUT_INLINE bool add_constants(NodeValue& value, const Quad& sum, const Quad& absolute, std::int64_t count) {
    value.add(total_of(sum), total_of(absolute), static_cast<double>(count) + 4.0);
    return value.sum < kInfinity;
}

template <int K>
GAPCUT_INLINE std::int32_t choose_label(const double* unary, const SmallNode<K>& node, Sweep& s) {
    constexpr int B = kBlocks<K>;
    Quad decode[B];
    alignas(32) double costs[B * kLanes];
    GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
        store(costs + b * kLanes, node.chosen[b]);
        decode[b] = Quad::load(unary + b * kLanes) + node.from_later[b] + node.chosen[b];
    }
    const Entries<K> sums(decode);
    std::int32_t label = sums.place_of_least();
    if (sums.lowest() == kInfinity) label = Entries<K>(node.own).place_of_least();
    s.energy += unary[label] + costs[label];
    s.magnitude += size_of(unary[label]) + size_of(costs[label]);
    return label;
}

template <int K>
GAPCUT_INLINE void forward_nodes(SmallPacked& small, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last,
                                 std::int32_t* labels) {
    const std::int64_t end = small.edges.later_at.back();
    double* const far = small.from_earlier.data();
    for (std::int64_t i = first; i < last; ++i) {
        const double* unary = p.unary.data() + p.unary_at[i];
        const double* later = small.from_later.data() + small.edges.later_at[i] * kLanes * K;
        const double* earlier = far + small.edges.earlier_at[i] * kLanes * 2 * K;
        const std::int64_t n_later = p.forward_at[i + 1] - p.forward_at[i];
        const std::int64_t n_earlier = p.backward_at[i + 1] - p.backward_at[i];
        SmallNode<K> node;
        add_slots<K>(later, K, n_later, node.from_later);
        add_slots<K>(earlier, 2 * K, n_earlier, node.from_earlier);
        add_slots<K>(earlier + K, 2 * K, n_earlier, node.chosen);
        NodeValue value;
        value.add(node.finish(unary, static_cast<double>(n_later + n_earlier + 1), p.chain_weight[i]));
        if (value.sum == kInfinity) return void(s.infeasible = true);
        const std::int32_t label = labels[i] = choose_label<K>(unary, node, s);

        Quad sum = Quad::fill(0.0), absolute = Quad::fill(0.0);
        for (std::int64_t g = small.edges.later_at[i]; g < small.edges.later_at[i + 1]; ++g, later += kLanes * K) {
            if (g + kWritesAhead < end)
                GAPCUT_UNROLL for (int e = 0; e < 4; ++e)
                    prefetch(far + std::int64_t{small.edges.later_to[(g + kWritesAhead) * kLanes + e]} * 2 * K, 2 * K);
            const double* tables = small.edges.later_tables.data() + g * kLanes * K * K;
            Quad got[K], sent[2 * K];
            read_slots<K>(later, K, got);
            const Quad least = messages_of<K>(node.own, got, tables, sent);
            sum = sum + least, absolute = absolute + magnitude(least);
            GAPCUT_UNROLL for (int l = 0; l < K; ++l) sent[K + l] = Quad::load(tables + (label * K + l) * kLanes);
            double* slots[4];
            GAPCUT_UNROLL for (int e = 0; e < 4; ++e) slots[e] =
                far + std::int64_t{small.edges.later_to[g * kLanes + e]} * 2 * K;
            write_slots<2 * K>(sent, slots);
        }
        if (!add_constants(value, sum, absolute, n_later)) return void(s.infeasible = true);
        s.bound.add(value.value());
    }
}

template <int K>
GAPCUT_INLINE void backward_nodes(SmallPacked& small, const Packed& p, Sweep& s, std::int64_t first,
                                  std::int64_t last) {
    double* const far = small.from_later.data();
    for (std::int64_t i = last - 1; i >= first; --i) {
        const double* earlier = small.from_earlier.data() + small.edges.earlier_at[i] * kLanes * 2 * K;
        const std::int64_t n_later = p.forward_at[i + 1] - p.forward_at[i];
        const std::int64_t n_earlier = p.backward_at[i + 1] - p.backward_at[i];
        SmallNode<K> node;
        add_slots<K>(far + small.edges.later_at[i] * kLanes * K, K, n_later, node.from_later);
        add_slots<K>(earlier, 2 * K, n_earlier, node.from_earlier);
        NodeValue value;
        value.add(node.finish(p.unary.data() + p.unary_at[i], static_cast<double>(n_later + n_earlier + 1),
                              p.chain_weight[i]));
        if (value.sum == kInfinity) return void(s.infeasible = true);

        Quad sum = Quad::fill(0.0), absolute = Quad::fill(0.0);
        for (std::int64_t g = small.edges.earlier_at[i]; g < small.edges.earlier_at[i + 1];
             ++g, earlier += kLanes * 2 * K) {
            const double* tables = small.edges.earlier_tables.data() + g * kLanes * K * K;
            if (g >= kWritesAhead) {
                GAPCUT_UNROLL for (int e = 0; e < 4; ++e)
                    prefetch(far + std::int64_t{small.edges.earlier_to[(g - kWritesAhead) * kLanes + e]} * K, K);
                prefetch(tables - kWritesAhead * kLanes * K * K, kLanes * K * K);
            }
            Quad got[K], sent[K];
            read_slots<K>(earlier, 2 * K, got);
            const Quad least = messages_of<K>(node.own, got, tables, sent);
            sum = sum + least, absolute = absolute + magnitude(least);
            double* slots[4];
            GAPCUT_UNROLL for (int e = 0; e < 4; ++e) slots[e] =
                far + std::int64_t{small.edges.earlier_to[g * kLanes + e]} * K;
            write_slots<K>(sent, slots);
        }
        if (!add_constants(value, sum, absolute, n_earlier)) return void(s.infeasible = true);
        s.bound.add(value.value());
    }
}

}  // namespace

void small_forward_sweep(SmallPacked& small, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last,
                         std::int32_t* labels) {
    switch (small.edges.labels) {
        case 5:
            return forward_nodes<5>(small, p, s, first, last, labels);
        case 6:
            return forward_nodes<6>(small, p, s, first, last, labels);
        default:
            return forward_nodes<7>(small, p, s, first, last, labels);
    }
}

void small_backward_sweep(SmallPacked& small, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last) {
    switch (small.edges.labels) {
        case 5:
            return backward_nodes<5>(small, p, s, first, last);
        case 6:
            return backward_nodes<6>(small, p, s, first, last);
        default:
            return backward_nodes<7>(small, p, s, first, last);
    }
}

}  // namespace gapcut::GAPCUT_TARGET
