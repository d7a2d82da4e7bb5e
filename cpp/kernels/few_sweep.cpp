// Rounding, with h_k, d and b_k as in sweep.hpp and u = 2^-53. What is stored of a message and of b is taken to be off
// by four units: the message M is 4 u below what is stored, b is 4 u above what is used. Then
//   sent_k = b_k - M_k, rounded, is not above the real difference, as its error is at most u max(b_k, M_k);
//   out_l = min_k sent_k + T_kl is at most u |out_l| above the real minimum;
//   the constant m = min_l out_l less 2 u |m|, summed apart, and the messages out_l - min out less 4 u of them keep
//   m + M_l <= real out_l, since |out_l| <= |m| + M_l up to rounding.
// Where products lose accuracy (below kTiny) b is zero, and sums there are exact.
#include "gapcut/infer/few_sweep.hpp"

#include "gapcut/infer/sweep.hpp"
#include "lanes.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

using infer::EdgeGroups;
using infer::FewPacked;
using infer::Packed;
using infer::Sweep;

constexpr std::int64_t kGroupsAhead = 12;  // between prefetching the slots and tables of a group and reading them

template <int K>
inline constexpr std::int64_t kPart = FewPacked::part(K);  // numbers a message takes
template <int K>
inline constexpr std::int64_t kSlot = 2 * kPart<K>;

// K entries >= 0, one of them zero, as kPart numbers.
template <int K>
GAPCUT_INLINE void compress(const Quad* x, Quad* part) {
    if constexpr (K == 2) {
        part[0] = x[1] - x[0];
    } else if constexpr (K == 4) {
        GAPCUT_UNROLL for (int k = 0; k < K; ++k) part[k] = x[k];
    } else {
        const Quad zero = Quad::fill(0.0);
        part[0] = select_less(zero, x[0], select_less(zero, x[1], x[0], zero - x[0]), x[1]);
        part[1] = select_less(zero, x[0], select_less(zero, x[1], zero - x[1], x[2]), x[2]);
    }
}

template <int K>
GAPCUT_INLINE void expand(const Quad* part, Quad* x) {
    const Quad zero = Quad::fill(0.0);
    if constexpr (K == 2) {
        x[0] = max(zero - part[0], zero), x[1] = max(part[0], zero);
    } else if constexpr (K == 4) {
        GAPCUT_UNROLL for (int k = 0; k < K; ++k) x[k] = part[k];
    } else {
        x[0] = select_less(part[1], zero, part[0], max(zero - part[0], zero));
        x[1] = max(select_less(part[1], zero, zero - part[1], part[0]), zero);
        x[2] = max(part[1], zero);
    }
}

// Messages and, unless they are in a block of their own and not wanted, costs of four slots.
template <int K, bool kCosts>
inline constexpr int kSlotBlocks = kCosts && K == 4 ? 2 : 1;

template <int K, bool kCosts>
GAPCUT_INLINE void read(double* const* slots, Quad* parts) {
    if constexpr (K == 2) {
        const Quad a = load_two(slots[0], slots[2]), b = load_two(slots[1], slots[3]);
        parts[0] = evens(a, b), parts[1] = odds(a, b);
    } else {
        GAPCUT_UNROLL for (int n = 0; n < kSlotBlocks<K, kCosts>; ++n, parts += kLanes) {
            GAPCUT_UNROLL for (int i = 0; i < 4; ++i) parts[i] = Quad::load(slots[i] + n * kLanes);
            transpose(parts[0], parts[1], parts[2], parts[3]);
        }
    }
}

template <int K, bool kCosts>
GAPCUT_INLINE void write(Quad* parts, double* const* slots) {
    if constexpr (K == 2) {
        store_two(evens(parts[0], parts[1]), slots[0], slots[2]);
        store_two(odds(parts[0], parts[1]), slots[1], slots[3]);
    } else {
        GAPCUT_UNROLL for (int n = 0; n < kSlotBlocks<K, kCosts>; ++n, parts += kLanes) {
            transpose(parts[0], parts[1], parts[2], parts[3]);
            GAPCUT_UNROLL for (int i = 0; i < 4; ++i) store(slots[i] + n * kLanes, parts[i]);
        }
    }
}

// Slots in a row from `first`, and those that four indices name.
template <int K>
struct FourSlots {
    double* at[4];
    GAPCUT_INLINE explicit FourSlots(double* first) {
        GAPCUT_UNROLL for (int i = 0; i < 4; ++i) at[i] = first + i * kSlot<K>;
    }
    GAPCUT_INLINE FourSlots(double* slots, const std::int32_t* index) {
        GAPCUT_UNROLL for (int i = 0; i < 4; ++i) at[i] = slots + index[i] * kSlot<K>;
    }
};

// Constants of messages, summed without loss (Knuth's two-sum) in four sums side by side.
struct Constants {
    Quad sum = Quad::fill(0.0), errors = Quad::fill(0.0), size = Quad::fill(0.0);

    GAPCUT_INLINE void add(const Quad& x) {
        const Quad s = sum + x, part = s - sum;
        errors = errors + ((sum - (s - part)) + (x - part));
        sum = s;
        size = size + magnitude(x);
    }

    // The constants are too high by 2 u of their magnitudes, the sums of errors by (count u)^2 (LowerSum).
    GAPCUT_INLINE void add_to(LowerSum& bound, std::int64_t count) const {
        const Lanes sums(sum), parts(errors);
        for (int i = 0; i < kLanes; ++i) bound.add(sums[i]), bound.add(parts[i]);
        const double n = (static_cast<double>(count) + 8.0) * 2.0 * kUnit;
        bound.add(-(4.0 * kUnit + n * n) * total_of(size));
    }

    GAPCUT_INLINE bool infinite() const { return !(total_of(size) < kInfinity); }
};

// Adds the messages (and costs) of four slots.
template <int K, bool kCosts>
GAPCUT_INLINE void add(double* const* slots, Quad* sum, Quad* costs) {
    Quad parts[kSlot<K>], x[K];
    read<K, kCosts>(slots, parts);
    expand<K>(parts, x);
    GAPCUT_UNROLL for (int k = 0; k < K; ++k) sum[k] = sum[k] + x[k];
    if constexpr (kCosts) {
        expand<K>(parts + kPart<K>, x);
        GAPCUT_UNROLL for (int k = 0; k < K; ++k) costs[k] = costs[k] + x[k];
    }
}

// Sums of what a node has received, by label, and h, b of sweep.hpp. Four labels at most are one block of lanes (and of
// Packed::unary).
template <int K, bool kForbids>
struct FewNode {
    Quad later, earlier, chosen;  // sums of messages, of costs given the labels chosen at earlier neighbours
    Quad h, b;
    double least;

    GAPCUT_INLINE void read_later(double* slots, std::int64_t groups) {
        Quad sum[4] = {Quad::fill(0.0), Quad::fill(0.0), Quad::fill(0.0), Quad::fill(0.0)};
        for (std::int64_t g = 0; g < groups; ++g, slots += kLanes * kSlot<K>)
            add<K, false>(FourSlots<K>(slots).at, sum, sum);
        later = sums_across(sum[0], sum[1], sum[2], sum[3]);
    }

    template <bool kForward>
    GAPCUT_INLINE void read_earlier(double* slots, const std::int32_t* index, std::int64_t groups) {
        Quad sum[4] = {Quad::fill(0.0), Quad::fill(0.0), Quad::fill(0.0), Quad::fill(0.0)},
             costs[4] = {sum[0], sum[0], sum[0], sum[0]};
        for (std::int64_t g = 0; g < groups; ++g, index += kLanes)
            add<K, kForward>(FourSlots<K>(slots, index).at, sum, K == 2 ? sum + 2 : costs);
        earlier = sums_across(sum[0], sum[1], sum[2], sum[3]);
        if constexpr (kForward)
            chosen = K == 2 ? lasts(earlier, Quad::fill(0.0)) : sums_across(costs[0], costs[1], costs[2], costs[3]);
    }

    // h, d and b from `groups` groups of edges; false if every label is forbidden.
    GAPCUT_INLINE bool finish(const double* unary, std::int64_t groups, double chain_weight) {
        const Quad error = Quad::fill((2.0 * kLanes * static_cast<double>(groups) + 16.0) * kUnit),
                   inf = Quad::fill(kInfinity);
        const Quad u = Quad::load(unary), messages = later + earlier, sum = u + messages;
        h = sum - error * (magnitude(u) + messages);
        if constexpr (kForbids) h = select_less(sum, inf, h, inf);
        least = Entries<K>(&h).lowest();
        if (kForbids && least == kInfinity) return false;
        const Quad over = h - Quad::fill(least);
        b = select_less(over, Quad::fill(kTiny), Quad::fill(0.0),
                        Quad::fill(chain_weight * (1.0 - 16.0 * kUnit)) * over);
        return true;
    }

    GAPCUT_INLINE std::int32_t choose_label(const double* unary) const {
        const Quad decode = Quad::load(unary) + later + chosen;
        const Entries<K> costs(&decode);
        if (kForbids && costs.lowest() == kInfinity) return Entries<K>(&h).place_of_least();
        return costs.place_of_least();
    }

    // Messages of four edges.
    GAPCUT_INLINE void send(const Quad* got, const double* tables, Quad* message, Constants& constants) const {
        Quad out[K], low;
        const Entries<K> given(&b);
        GAPCUT_UNROLL for (int k = 0; k < K; ++k) {
            const Quad own = Quad::fill(given[k]);
            Quad sent = own - got[k];
            if constexpr (kForbids) sent = select_less(own, Quad::fill(kInfinity), sent, own);
            GAPCUT_UNROLL for (int l = 0; l < K; ++l) {
                const Quad x = sent + Quad::load(tables + (k * K + l) * kLanes);
                out[l] = k == 0 ? x : min(x, out[l]);
            }
        }
        low = out[0];
        GAPCUT_UNROLL for (int l = 1; l < K; ++l) low = min(out[l], low);
        constants.add(low);
        GAPCUT_UNROLL for (int l = 0; l < K; ++l) message[l] = out[l] - low;
    }
};

// Costs of the other end's labels in `row`, less the least of them, which it returns. All forbidden: zeros.
template <int K, bool kForbids>
GAPCUT_INLINE Quad costs_of(const double* row, Quad* parts) {
    Quad x[K], low = Quad::load(row);
    GAPCUT_UNROLL for (int l = 1; l < K; ++l) low = min(Quad::load(row + l * kLanes), low);
    GAPCUT_UNROLL for (int l = 0; l < K; ++l) {
        x[l] = Quad::load(row + l * kLanes) - low;
        if constexpr (kForbids) x[l] = select_less(low, Quad::fill(kInfinity), x[l], Quad::fill(0.0));
    }
    compress<K>(x, parts);
    return low;
}

template <int K, bool kForbids>
GAPCUT_INLINE void forward_nodes(FewPacked& few, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last,
                                 std::int32_t* labels) {
    const EdgeGroups& edges = few.edges;
    const std::int64_t later_end = edges.later_at.back(), earlier_end = edges.earlier_at.back();
    double* const slots = few.slots.data();
    Constants constants;
    LowerSum bound = s.bound;
    Quad energy = Quad::fill(0.0), size = Quad::fill(0.0);
    double node_energy = 0.0, node_size = 0.0;
    for (std::int64_t i = first; i < last; ++i) {
        const double* unary = p.unary.data() + i * kLanes;
        const std::int64_t later = edges.later_at[i], n_later = edges.later_at[i + 1] - later;
        const std::int64_t earlier = edges.earlier_at[i], n_earlier = edges.earlier_at[i + 1] - earlier;
        double* own = slots + later * kLanes * kSlot<K>;
        for (std::int64_t g = later + kGroupsAhead; g < later + n_later + kGroupsAhead && g < later_end; ++g)
            prefetch(edges.later_tables.data() + g * kLanes * K * K, kLanes * K * K);
        for (std::int64_t g = earlier + kGroupsAhead; g < earlier + n_earlier + kGroupsAhead && g < earlier_end; ++g)
            GAPCUT_UNROLL for (int e = 0; e < 4; ++e) prefetch(slots + edges.earlier_to[g * kLanes + e] * kSlot<K>, 1);
        FewNode<K, kForbids> node;
        node.read_later(own, n_later);
        node.template read_earlier<true>(slots, edges.earlier_to.data() + earlier * kLanes, n_earlier);
        if (!node.finish(unary, n_later + n_earlier, p.chain_weight[i])) return void(s.infeasible = true);
        bound.add(node.least);
        const std::int32_t label = labels[i] = node.choose_label(unary);
        const Lanes chosen(node.chosen);
        node_energy += unary[label] + chosen[label];
        node_size += size_of(unary[label]) + chosen[label];

        const double* tables = edges.later_tables.data() + later * kLanes * K * K;
        for (std::int64_t g = 0; g < n_later; ++g, own += kLanes * kSlot<K>, tables += kLanes * K * K) {
            const FourSlots<K> four(own);
            Quad parts[kSlot<K>], got[K], sent[K];
            read<K, false>(four.at, parts);
            expand<K>(parts, got);
            node.send(got, tables, sent, constants);
            compress<K>(sent, parts);
            const Quad low = costs_of<K, kForbids>(tables + label * K * kLanes, parts + kPart<K>);
            energy = energy + low, size = size + magnitude(low);
            write<K, true>(parts, four.at);
        }
        if (kForbids && constants.infinite()) return void(s.infeasible = true);
    }
    constants.add_to(bound, edges.later_at[last] - edges.later_at[first]);
    s.bound = bound;
    s.energy += node_energy + total_of(energy);
    s.magnitude += node_size + total_of(size);
}

template <int K, bool kForbids>
GAPCUT_INLINE void backward_nodes(FewPacked& few, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last) {
    const EdgeGroups& edges = few.edges;
    double* const slots = few.slots.data();
    Constants constants;
    LowerSum bound = s.bound;
    for (std::int64_t i = last - 1; i >= first; --i) {
        const std::int64_t later = edges.later_at[i], n_later = edges.later_at[i + 1] - later;
        const std::int64_t earlier = edges.earlier_at[i], n_earlier = edges.earlier_at[i + 1] - earlier;
        const std::int32_t* index = edges.earlier_to.data() + earlier * kLanes;
        for (std::int64_t g = earlier - kGroupsAhead + n_earlier - 1; g >= earlier - kGroupsAhead && g >= 0; --g) {
            GAPCUT_UNROLL for (int e = 0; e < 4; ++e) prefetch(slots + edges.earlier_to[g * kLanes + e] * kSlot<K>, 1);
            prefetch(edges.earlier_tables.data() + g * kLanes * K * K, kLanes * K * K);
        }
        FewNode<K, kForbids> node;
        node.read_later(slots + later * kLanes * kSlot<K>, n_later);
        node.template read_earlier<false>(slots, index, n_earlier);
        if (!node.finish(p.unary.data() + i * kLanes, n_later + n_earlier, p.chain_weight[i]))
            return void(s.infeasible = true);
        bound.add(node.least);

        const double* tables = edges.earlier_tables.data() + earlier * kLanes * K * K;
        for (std::int64_t g = 0; g < n_earlier; ++g, index += kLanes, tables += kLanes * K * K) {
            const FourSlots<K> four(slots, index);
            Quad parts[kSlot<K>], got[K], sent[K];
            read<K, false>(four.at, parts);
            expand<K>(parts, got);
            node.send(got, tables, sent, constants);
            compress<K>(sent, parts);
            GAPCUT_UNROLL for (std::int64_t k = kPart<K>; k < kSlot<K>; ++k) parts[k] = Quad::fill(0.0);
            write<K, false>(parts, four.at);
        }
        if (kForbids && constants.infinite()) return void(s.infeasible = true);
    }
    constants.add_to(bound, edges.earlier_at[last] - edges.earlier_at[first]);
    s.bound = bound;
}

}  // namespace

void few_forward_sweep(infer::FewPacked& few, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last,
                       std::int32_t* labels) {
    std::int32_t* const out = labels;
    switch (2 * few.edges.labels + few.forbids) {
        case 4:
            return forward_nodes<2, false>(few, p, s, first, last, out);
        case 5:
            return forward_nodes<2, true>(few, p, s, first, last, out);
        case 6:
            return forward_nodes<3, false>(few, p, s, first, last, out);
        case 7:
            return forward_nodes<3, true>(few, p, s, first, last, out);
        case 8:
            return forward_nodes<4, false>(few, p, s, first, last, out);
        default:
            return forward_nodes<4, true>(few, p, s, first, last, out);
    }
}

void few_backward_sweep(infer::FewPacked& few, const Packed& p, Sweep& s, std::int64_t first, std::int64_t last) {
    switch (2 * few.edges.labels + few.forbids) {
        case 4:
            return backward_nodes<2, false>(few, p, s, first, last);
        case 5:
            return backward_nodes<2, true>(few, p, s, first, last);
        case 6:
            return backward_nodes<3, false>(few, p, s, first, last);
        case 7:
            return backward_nodes<3, true>(few, p, s, first, last);
        case 8:
            return backward_nodes<4, false>(few, p, s, first, last);
        default:
            return backward_nodes<4, true>(few, p, s, first, last);
    }
}

}  // namespace gapcut::GAPCUT_TARGET
