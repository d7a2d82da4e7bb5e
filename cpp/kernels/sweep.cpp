#include "gapcut/infer/sweep.hpp"

#include "lanes.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

using infer::Packed;
using infer::Sweep;

// Added to a last block of lanes of which only 4 (index 0), 1, 2 or 3 are labels. Rows of tables are not padded, so
// what was read there belongs to the next row.
alignas(32) constexpr double kOutside[4][4] = {{0.0, 0.0, 0.0, 0.0},
                                               {0.0, kInfinity, kInfinity, kInfinity},
                                               {0.0, 0.0, kInfinity, kInfinity},
                                               {0.0, 0.0, 0.0, kInfinity}};

// out[l] = min_k sent[k] + table[k, l] for N blocks of columns; `outside` is added to the last block.
template <int N>
GAPCUT_INLINE void least_by_column(const double* sent, const double* table, std::int64_t rows, std::int64_t columns,
                                   const double* outside, double* out) {
    Quad best[N];
    for (int v = 0; v < N; ++v) best[v] = Quad::fill(kInfinity);
    for (std::int64_t k = 0; k < rows; ++k, table += columns) {
        const Quad a = Quad::fill(sent[k]);
        for (int v = 0; v < N; ++v) best[v] = min(a + Quad::load(table + v * kLanes), best[v]);
    }
    best[N - 1] = best[N - 1] + Quad::load(outside);
    for (int v = 0; v < N; ++v) store(out + v * kLanes, best[v]);
}

GAPCUT_INLINE void to_columns(const double* sent, const double* t, std::int64_t rows, std::int64_t columns,
                              double* out) {
    constexpr std::int64_t kChunk = 6;
    std::int64_t left = (columns + kLanes - 1) / kLanes;
    for (; left > 8; left -= kChunk, t += kChunk * kLanes, out += kChunk * kLanes)
        least_by_column<kChunk>(sent, t, rows, columns, kOutside[0], out);
    const double* end = kOutside[columns % kLanes];
    switch (left) {
        case 1:
            return least_by_column<1>(sent, t, rows, columns, end, out);
        case 2:
            return least_by_column<2>(sent, t, rows, columns, end, out);
        case 3:
            return least_by_column<3>(sent, t, rows, columns, end, out);
        case 4:
            return least_by_column<4>(sent, t, rows, columns, end, out);
        case 5:
            return least_by_column<5>(sent, t, rows, columns, end, out);
        case 6:
            return least_by_column<6>(sent, t, rows, columns, end, out);
        case 7:
            return least_by_column<7>(sent, t, rows, columns, end, out);
        default:
            return least_by_column<8>(sent, t, rows, columns, end, out);
    }
}

// out[k] = min_l sent[l] + table[k, l]; four rows at a time, the last row repeated where rows run out. `sent` is +inf
// in the lanes beyond the columns.
GAPCUT_INLINE void to_rows(const double* sent, const double* table, std::int64_t rows, std::int64_t columns,
                           double* out) {
    for (std::int64_t k = 0; k < rows; k += kLanes) {
        const double* t0 = table + k * columns;
        const double* t1 = k + 1 < rows ? t0 + columns : t0;
        const double* t2 = k + 2 < rows ? t1 + columns : t1;
        const double* t3 = k + 3 < rows ? t2 + columns : t2;
        Quad a = Quad::load(sent);
        Quad b0 = a + Quad::load(t0), b1 = a + Quad::load(t1);
        Quad b2 = a + Quad::load(t2), b3 = a + Quad::load(t3);
        for (std::int64_t l = kLanes; l < columns; l += kLanes) {
            a = Quad::load(sent + l);
            b0 = min(a + Quad::load(t0 + l), b0);
            b1 = min(a + Quad::load(t1 + l), b1);
            b2 = min(a + Quad::load(t2 + l), b2);
            b3 = min(a + Quad::load(t3 + l), b3);
        }
        store(out + k, min_across(b0, b1, b2, b3));
    }
}

GAPCUT_INLINE void add_message(const double* message, std::int64_t width, double* sum, double* absolute) {
    for (std::int64_t l = 0; l < width; l += kLanes) {
        const Quad m = Quad::load(message + l);
        store(sum + l, Quad::load(sum + l) + m);
        store(absolute + l, Quad::load(absolute + l) + magnitude(m));
    }
}

// Turns the sum of `terms` numbers into b_i and returns d_i (+inf if every label is forbidden).
GAPCUT_INLINE double normalise(double* own, const double* absolute, std::int64_t width, double terms,
                               double chain_weight) {
    const Quad error = Quad::fill((2.0 * terms + 8.0) * kUnit), inf = Quad::fill(kInfinity);
    for (std::int64_t l = 0; l < width; l += kLanes) {
        const Quad h = Quad::load(own + l);
        store(own + l, select_less(h, inf, h - error * Quad::load(absolute + l), inf));
    }
    const double least = min_of(own, width);
    if (least == kInfinity) return least;
    const Quad d = Quad::fill(least), part = Quad::fill(chain_weight), tiny = Quad::fill(kTiny), zero = Quad::fill(0.0);
    for (std::int64_t l = 0; l < width; l += kLanes) {
        const Quad h = down(Quad::load(own + l) - d);
        store(own + l, select_less(h, tiny, zero, down(part * h)));
    }
    return least;
}

// sent = b - message, +inf where b is.
GAPCUT_INLINE void take_out(const double* own, const double* message, std::int64_t width, double* sent) {
    const Quad inf = Quad::fill(kInfinity);
    for (std::int64_t l = 0; l < width; l += kLanes) {
        const Quad b = Quad::load(own + l);
        store(sent + l, select_less(b, inf, down(b - Quad::load(message + l)), inf));
    }
}

// message = out - min out; returns the minimum.
GAPCUT_INLINE double put_back(const double* out, std::int64_t width, double* message) {
    const double least = down(min_of(out, width));
    if (least == kInfinity) return least;
    const Quad m = Quad::fill(least);
    for (std::int64_t l = 0; l < width; l += kLanes) store(message + l, down(down(Quad::load(out + l)) - m));
    return least;
}

// Edges to earlier nodes lie scattered; their memory is prefetched this many edges ahead.
constexpr std::int64_t kTablesAhead = 4, kMessagesAhead = 8;

// own = unary + messages from later neighbours; absolute likewise of magnitudes.
template <bool kForward>
GAPCUT_INLINE void gather_later(const Packed& p, const Sweep& s, std::int64_t i) {
    const std::int64_t width = p.width[i];
    const double* unary = p.unary.data() + p.unary_at[i];
    for (std::int64_t l = 0; l < width; l += kLanes) {
        const Quad u = Quad::load(unary + l);
        store(s.own + l, u);
        store(s.absolute + l, magnitude(u));
    }
    for (std::int64_t e = p.forward_at[i]; e < p.forward_at[i + 1]; ++e) {
        add_message(p.messages.data() + p.message_at[e], width, s.own, s.absolute);
        if (kForward && e + kMessagesAhead < p.n_edges()) {
            const std::int64_t j = p.target[e + kMessagesAhead];
            prefetch(p.chosen.data() + p.unary_at[j], p.width[j]);
        }
    }
}

// Adds the messages from earlier neighbours.
template <bool kForward>
GAPCUT_INLINE void gather_earlier(const Packed& p, const Sweep& s, std::int64_t i) {
    for (std::int64_t q = p.backward_at[i]; q < p.backward_at[i + 1]; ++q) {
        add_message(p.messages.data() + p.message_at[p.backward[q]], p.width[i], s.own, s.absolute);
        if (kForward && q + kMessagesAhead < p.n_edges()) {
            const std::int64_t f = p.backward[q + kMessagesAhead];
            prefetch(p.messages.data() + p.message_at[f], p.width[p.target[f]]);
        }
    }
}

// b_i in s.own; returns d_i.
GAPCUT_INLINE double finish_node(const Packed& p, const Sweep& s, std::int64_t i) {
    const std::int64_t degree = p.forward_at[i + 1] - p.forward_at[i] + p.backward_at[i + 1] - p.backward_at[i];
    return normalise(s.own, s.absolute, p.width[i], static_cast<double>(degree + 1), p.chain_weight[i]);
}

// Labels node i and counts its terms; `chosen` is reset. Where the earlier labels forbid all, the messages decide.
GAPCUT_INLINE std::int32_t choose(Packed& p, Sweep& s, std::int64_t i) {
    double* chosen = p.chosen.data() + p.unary_at[i];
    const double* unary = p.unary.data() + p.unary_at[i];
    std::int32_t label = first_least(s.decode, p.width[i], p.labels[i]);
    if (s.decode[label] == kInfinity) label = first_least(s.own, p.width[i], p.labels[i]);
    s.energy += unary[label] + chosen[label];
    s.magnitude += size_of(unary[label]) + size_of(chosen[label]);
    for (std::int64_t l = 0; l < p.width[i]; l += kLanes) store(chosen + l, Quad::fill(0.0));
    return label;
}

// Prefetches what the edges before q in the list of edges to earlier nodes will need.
GAPCUT_INLINE void prefetch_earlier(const Packed& p, std::int64_t q) {
    if (q >= kTablesAhead) {
        const std::int64_t f = p.backward[q - kTablesAhead];
        prefetch(p.tables.data() + p.table_at[f], std::int64_t{p.labels[p.source[f]]} * p.labels[p.target[f]]);
    }
    if (q >= kMessagesAhead) {
        const std::int64_t f = p.backward[q - kMessagesAhead];
        prefetch(p.messages.data() + p.message_at[f], p.width[p.target[f]]);
    }
}

}  // namespace

void forward_sweep(Packed& p, Sweep& s, std::int64_t first, std::int64_t last, std::int32_t* labels) {
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t width = p.width[i];
        const double* chosen = p.chosen.data() + p.unary_at[i];
        gather_later<true>(p, s, i);
        for (std::int64_t l = 0; l < width; l += kLanes)
            store(s.decode + l, Quad::load(s.own + l) + Quad::load(chosen + l));
        gather_earlier<true>(p, s, i);
        NodeValue value;
        value.add(finish_node(p, s, i));
        if (value.sum == kInfinity) return void(s.infeasible = true);
        const std::int32_t label = labels[i] = choose(p, s, i);

        for (std::int64_t e = p.forward_at[i]; e < p.forward_at[i + 1]; ++e) {
            const std::int64_t j = p.target[e], columns = p.labels[j];
            double* message = p.messages.data() + p.message_at[e];
            const double* table = p.tables.data() + p.table_at[e];
            take_out(s.own, message, width, s.sent);
            to_columns(s.sent, table, p.labels[i], columns, s.out);
            const double least = put_back(s.out, p.width[j], message);
            if (least == kInfinity) return void(s.infeasible = true);
            value.add(least);
            double* ahead = p.chosen.data() + p.unary_at[j];
            const double* row = table + label * columns;
            for (std::int64_t l = 0; l < columns; l += kLanes)
                store(ahead + l, Quad::load(ahead + l) + Quad::load(row + l));
        }
        s.bound.add(value.value());
    }
}

void backward_sweep(Packed& p, Sweep& s, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = last - 1; i >= first; --i) {
        gather_later<false>(p, s, i);
        gather_earlier<false>(p, s, i);
        NodeValue value;
        value.add(finish_node(p, s, i));
        if (value.sum == kInfinity) return void(s.infeasible = true);

        for (std::int64_t q = p.backward_at[i + 1] - 1; q >= p.backward_at[i]; --q) {
            const std::int64_t e = p.backward[q], rows = p.labels[p.source[e]];
            prefetch_earlier(p, q);
            double* message = p.messages.data() + p.message_at[e];
            take_out(s.own, message, p.width[i], s.sent);
            to_rows(s.sent, p.tables.data() + p.table_at[e], rows, p.labels[i], s.out);
            const double least = put_back(s.out, p.width[p.source[e]], message);
            if (least == kInfinity) return void(s.infeasible = true);
            value.add(least);
        }
        s.bound.add(value.value());
    }
}

}  // namespace gapcut::GAPCUT_TARGET
