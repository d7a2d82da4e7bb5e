#include "gapcut/infer/packed.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace gapcut::infer {
namespace {

std::int32_t padded(std::int32_t n) { return static_cast<std::int32_t>((n + kLanes - 1) / kLanes * kLanes); }

// The largest float of which n times is at most 1, rounding included.
double chain_weight_of(std::int64_t n) { return n <= 1 ? 1.0 : std::nextafter(1.0 / static_cast<double>(n), 0.0); }

// Live pairs at the core's nodes.
struct CoreGraph {
    std::vector<std::int64_t> at;
    std::vector<std::int32_t> other;

    explicit CoreGraph(const Reduction& r) : at(r.component().size() + 1, 0) {
        const auto each = [&](auto&& f) {
            for (std::size_t p = 0; p < r.pairs().size(); ++p)
                if (r.alive(static_cast<std::int64_t>(p))) f(r.pairs()[p].low, r.pairs()[p].high);
        };
        each([&](std::int32_t u, std::int32_t v) { ++at[u + 1], ++at[v + 1]; });
        std::partial_sum(at.begin(), at.end(), at.begin());
        other.resize(static_cast<std::size_t>(at.back()));
        std::vector<std::int64_t> next(at.begin(), at.end() - 1);
        each([&](std::int32_t u, std::int32_t v) { other[next[u]++] = v, other[next[v]++] = u; });
    }
    std::int64_t degree(std::int32_t u) const { return at[u + 1] - at[u]; }
};

// Everything reached from `start`, breadth first, neighbours of a node by rising degree; marks what it takes.
void breadth_first(const CoreGraph& g, std::int32_t start, std::vector<char>& seen, std::vector<std::int32_t>& out) {
    std::size_t next = out.size();
    out.push_back(start);
    seen[start] = 1;
    for (; next < out.size(); ++next) {
        const std::int32_t u = out[next];
        const auto first = static_cast<std::ptrdiff_t>(out.size());
        for (std::int64_t i = g.at[u]; i < g.at[u + 1]; ++i)
            if (!seen[g.other[i]]) seen[g.other[i]] = 1, out.push_back(g.other[i]);
        std::stable_sort(out.begin() + first, out.end(),
                         [&](std::int32_t a, std::int32_t b) { return g.degree(a) < g.degree(b); });
    }
}

// Copies one pair's table with the earlier node's labels as rows.
void copy_table(const Pair& p, bool from_low, std::int32_t rows, std::int32_t columns, double* out) {
    const std::int64_t row_step = from_low ? p.row_step : p.column_step;
    const std::int64_t column_step = from_low ? p.column_step : p.row_step;
    for (std::int32_t k = 0; k < rows; ++k, out += columns) {
        const double* row = p.table + k * row_step;
        if (column_step == 1)
            std::copy_n(row, columns, out);
        else
            for (std::int32_t l = 0; l < columns; ++l) out[l] = row[l * column_step];
    }
}

// Where the table of each edge starts: one that several edges share, read from the same end, is stored once. Small
// energies are not worth the looking up.
class TablePlaces {
  public:
    explicit TablePlaces(std::size_t n_edges) : looks_up_(n_edges >= kWorthSharing) {}

    std::int64_t of(const Pair& p, bool from_low, std::int64_t entries) {
        const bool row_major = (from_low ? p.column_step : p.row_step) == 1;
        const auto key = reinterpret_cast<std::uintptr_t>(p.table) | static_cast<std::uintptr_t>(row_major);
        if (looks_up_) {
            const auto [it, fresh] = known_.try_emplace(key, end_, entries);
            if (!fresh && it->second.second == entries) return it->second.first;
        }
        end_ += entries;
        return end_ - entries;
    }

    std::int64_t end() const { return end_; }

  private:
    static constexpr std::size_t kWorthSharing = 1 << 12;

    bool looks_up_;
    std::int64_t end_ = 0;
    std::unordered_map<std::uintptr_t, std::pair<std::int64_t, std::int64_t>> known_;
};

// A live pair between two places in the order.
struct Item {
    std::int32_t source, target;
    std::int64_t pair;
};

// All of them, by source, then target.
std::vector<Item> items_of(const Reduction& reduced, const std::vector<std::int32_t>& place) {
    std::vector<Item> items;
    for (std::size_t p = 0; p < reduced.pairs().size(); ++p) {
        if (!reduced.alive(static_cast<std::int64_t>(p))) continue;
        const std::int32_t a = place[reduced.pairs()[p].low], b = place[reduced.pairs()[p].high];
        items.push_back({std::min(a, b), std::max(a, b), static_cast<std::int64_t>(p)});
    }
    if (items.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("too many edges: message passing takes fewer than 2^31");
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
    });
    return items;
}

}  // namespace

Buffer::Buffer(std::int64_t size) : size_(size) {
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(double);
    const std::align_val_t align{bytes >= 4 * kHugePage ? kHugePage : 64};
    data_ = std::unique_ptr<double, Free>(static_cast<double*>(::operator new(bytes, align)), Free{align});
#ifdef __linux__
    if (bytes >= 4 * kHugePage) madvise(data_.get(), bytes, MADV_HUGEPAGE);  // a hint: failure does not matter
#endif
}

std::vector<std::int32_t> node_order(const Reduction& reduced, NodeOrder how, std::vector<std::int64_t>& starts) {
    const CoreGraph graph(reduced);
    std::vector<char> seen(reduced.component().size(), 0);
    std::vector<std::int32_t> order;
    starts.assign(1, 0);
    for (const std::int32_t s : reduced.core()) {
        if (seen[s]) continue;
        const auto first = static_cast<std::ptrdiff_t>(order.size());
        breadth_first(graph, s, seen, order);
        if (how == NodeOrder::index) {
            std::sort(order.begin() + first, order.end());
        } else {
            const auto best = std::min_element(order.begin() + first, order.end(), [&](std::int32_t a, std::int32_t b) {
                return graph.degree(a) < graph.degree(b);
            });
            const std::int32_t start = *best;
            for (auto u = order.begin() + first; u != order.end(); ++u) seen[*u] = 0;
            order.resize(static_cast<std::size_t>(first));
            breadth_first(graph, start, seen, order);
        }
        starts.push_back(static_cast<std::int64_t>(order.size()));
    }
    return order;
}

Packed Packed::arrange(const Reduction& reduced, const std::vector<std::int32_t>& order) {
    Packed out;
    out.node = order;
    const auto n = order.size();
    std::vector<std::int32_t> place(reduced.component().size(), -1);
    for (std::size_t i = 0; i < n; ++i) place[order[i]] = static_cast<std::int32_t>(i);

    std::int64_t size = 0;
    for (const std::int32_t u : order) {
        out.labels.push_back(reduced.n_labels(u));
        out.width.push_back(padded(reduced.n_labels(u)));
        out.widest = std::max(out.widest, out.width.back());
        out.unary_at.push_back(size);
        size += out.width.back();
    }
    out.unary = Buffer(size);
    out.chosen = Buffer(size);
    for (std::size_t i = 0; i < n; ++i) {
        double* u = out.unary.data() + out.unary_at[i];
        std::copy_n(reduced.unary_of(order[i]), out.labels[i], u);
        std::fill(u + out.labels[i], u + out.width[i], kInfinity);
    }

    const std::vector<Item> items = items_of(reduced, place);

    out.forward_at.assign(n + 1, 0);
    out.backward_at.assign(n + 1, 0);
    TablePlaces tables(items.size());
    std::int64_t message_size = 0;
    for (const Item& x : items) {
        ++out.forward_at[x.source + 1];
        ++out.backward_at[x.target + 1];
        out.source.push_back(x.source);
        out.target.push_back(x.target);
        out.pair.push_back(x.pair);
        const Pair& p = reduced.pairs()[static_cast<std::size_t>(x.pair)];
        out.table_at.push_back(
            tables.of(p, p.low == order[x.source], std::int64_t{out.labels[x.source]} * out.labels[x.target]));
        out.message_at.push_back(message_size);
        message_size += std::max(out.width[x.source], out.width[x.target]);
    }
    out.table_size = tables.end();
    std::partial_sum(out.forward_at.begin(), out.forward_at.end(), out.forward_at.begin());
    std::partial_sum(out.backward_at.begin(), out.backward_at.end(), out.backward_at.begin());
    out.backward.resize(items.size());
    std::vector<std::int64_t> next(out.backward_at.begin(), out.backward_at.end() - 1);
    for (std::size_t e = 0; e < items.size(); ++e) out.backward[next[items[e].target]++] = static_cast<std::int32_t>(e);
    for (std::size_t i = 0; i < n; ++i)
        out.chain_weight.push_back(chain_weight_of(
            std::max(out.forward_at[i + 1] - out.forward_at[i], out.backward_at[i + 1] - out.backward_at[i])));

    std::fill_n(out.chosen.data(), size, 0.0);
    return out;
}

void Packed::load(const Reduction& reduced) {
    const std::int64_t last = n_edges() - 1;
    if (last < 0) return;
    const std::int64_t message_size = message_at[last] + std::max(width[source[last]], width[target[last]]);
    tables = Buffer(table_size + kLanes);
    std::fill_n(tables.data() + table_size, kLanes, 0.0);
    messages = Buffer(message_size);
    std::fill_n(messages.data(), message_size, 0.0);
    std::int64_t filled = 0;  // tables are numbered by the first edge that has them
    for (std::int64_t e = 0; e <= last; ++e) {
        if (table_at[e] < filled) continue;
        const Pair& p = reduced.pairs()[static_cast<std::size_t>(pair[e])];
        copy_table(p, p.low == node[source[e]], labels[source[e]], labels[target[e]], tables.data() + table_at[e]);
        filled = table_at[e] + std::int64_t{labels[source[e]]} * labels[target[e]];
    }
}

}  // namespace gapcut::infer
