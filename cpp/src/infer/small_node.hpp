// A node and four of its edges in TRW-S over K labels, K few: what the sweeps over few labels share.
#pragma once

#include <cstdint>

#include "gapcut/infer/lanes.hpp"
#include "gapcut/infer/sweep.hpp"
#include "rounded_lanes.hpp"

#if defined(__GNUC__)
#define GAPCUT_UNROLL _Pragma("GCC unroll 16")
#else
#define GAPCUT_UNROLL
#endif

namespace gapcut::infer {

template <int K>
inline constexpr int kBlocks = (K + 3) / 4;

template <int K>
GAPCUT_INLINE double entry(const Lanes* x, int k) {
    return x[k / 4][k % 4];
}

template <int K>
GAPCUT_INLINE double lowest_of(const Lanes* x) {
    double low = entry<K>(x, 0);
    GAPCUT_UNROLL for (int k = 1; k < K; ++k) low = entry<K>(x, k) < low ? entry<K>(x, k) : low;
    return low;
}

// What a node has got, and b_i.
template <int K>
struct SmallNode {
    static constexpr int B = kBlocks<K>;
    Lanes from_later[B], from_earlier[B], chosen[B], own[B];

    GAPCUT_INLINE SmallNode() {
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) from_later[b] = from_earlier[b] = chosen[b] = fill(0.0);
    }

    // b_i in own; returns d_i. Messages are not negative, so their sum is that of their magnitudes.
    GAPCUT_INLINE double finish(const double* unary, double terms, double share) {
        const Lanes error = fill((2.0 * terms + 8.0) * kUnit), inf = fill(kInfinity);
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
            const Lanes u = load(unary + b * kLanes), messages = from_later[b] + from_earlier[b], h = u + messages;
            own[b] = select_less(h, inf, h - error * (magnitude(u) + messages), inf);
        }
        const double least = lowest_of<K>(own);
        if (least == kInfinity) return least;
        const Lanes d = fill(least), part = fill(share), tiny = fill(kTiny), zero = fill(0.0);
        GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
            const Lanes h = down(own[b] - d);
            own[b] = select_less(h, tiny, zero, down(part * h));
        }
        return least;
    }
};

// The messages of four edges from one node: message[l] from `got` (what the node got through them), `own` and the
// tables. Returns their constants, zero where a lane is padding.
template <int K>
GAPCUT_INLINE Lanes messages_of(const Lanes* own, const Lanes* got, const double* tables, Lanes* message) {
    const Lanes inf = fill(kInfinity);
    Lanes out[K];
    GAPCUT_UNROLL for (int k = 0; k < K; ++k) {
        const Lanes b = fill(entry<K>(own, k)), sent = select_less(b, inf, down(b - got[k]), inf);
        GAPCUT_UNROLL for (int l = 0; l < K; ++l) {
            const Lanes x = sent + load(tables + (k * K + l) * kLanes);
            out[l] = k == 0 ? x : least(x, out[l]);
        }
    }
    Lanes lowest = out[0];
    GAPCUT_UNROLL for (int l = 1; l < K; ++l) lowest = least(out[l], lowest);
    lowest = down(lowest);
    GAPCUT_UNROLL for (int l = 0; l < K; ++l) message[l] = down(down(out[l]) - lowest);
    return lowest;
}

GAPCUT_INLINE double sum_of(const Lanes& x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// Adds the constants of a node's messages; false if one is +inf.
GAPCUT_INLINE bool add_constants(NodeValue& value, const Lanes& sum, const Lanes& absolute, std::int64_t count) {
    value.add(sum_of(sum), sum_of(absolute), static_cast<double>(count) + 4.0);
    return value.sum < kInfinity;
}

template <int K>
GAPCUT_INLINE std::int32_t place_of_least(const Lanes* x) {
    const double least = lowest_of<K>(x);
    std::int32_t place = K - 1;
    GAPCUT_UNROLL for (int k = K - 2; k >= 0; --k) place = entry<K>(x, k) == least ? k : place;
    return place;
}

template <int K>
GAPCUT_INLINE std::int32_t choose_label(const double* unary, const SmallNode<K>& node, Sweep& s) {
    constexpr int B = kBlocks<K>;
    Lanes decode[B];
    alignas(32) double costs[B * kLanes];
    GAPCUT_UNROLL for (int b = 0; b < B; ++b) {
        store(costs + b * kLanes, node.chosen[b]);
        decode[b] = load(unary + b * kLanes) + node.from_later[b] + node.chosen[b];
    }
    std::int32_t label = place_of_least<K>(decode);
    if (lowest_of<K>(decode) == kInfinity) label = place_of_least<K>(node.own);
    s.energy += unary[label] + costs[label];
    s.magnitude += size_of(unary[label]) + size_of(costs[label]);
    return label;
}

}  // namespace gapcut::infer
