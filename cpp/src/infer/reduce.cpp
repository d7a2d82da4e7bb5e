#include "gapcut/infer/reduce.hpp"

#include <algorithm>
#include <numeric>

namespace gapcut::infer {

Reduction::Reduction(const EnergyView& energy, const std::vector<char>& keep)
    : energy_(energy), unary_(energy.unary.begin(), energy.unary.end()), node_alive_(energy.labels.size(), 1) {
    join_parallel_edges();
    link();
    find_components();
    constants_.resize(static_cast<std::size_t>(n_components_));

    const auto nodes = static_cast<std::int32_t>(energy.n_nodes());
    const auto free = [&](std::int32_t u) { return node_alive_[u] && (keep.empty() || !keep[u]); };
    std::vector<std::int32_t> queue;
    for (std::int32_t u = 0; u < nodes; ++u)
        if (free(u) && n_labels(u) == 1) eliminate(u);
    for (std::int32_t u = 0; u < nodes; ++u)
        if (free(u) && degree_[u] <= 1) queue.push_back(u);
    while (!queue.empty()) {
        const std::int32_t u = queue.back();
        queue.pop_back();
        if (!free(u)) continue;
        eliminate(u);
        if (const std::int64_t p = steps_.back().pair; p >= 0) {
            const std::int32_t v = pairs_[p].low == u ? pairs_[p].high : pairs_[p].low;
            if (degree_[v] <= 1) queue.push_back(v);
        }
    }
    for (std::int32_t u = 0; u < nodes; ++u)
        if (node_alive_[u]) core_.push_back(u);
}

// Groups edges by their lower node, then by the higher one; edges of a group add up in the order given.
void Reduction::join_parallel_edges() {
    const auto& e = energy_;
    std::vector<std::int64_t> at(e.labels.size() + 1, 0);
    for (std::int64_t i = 0; i < e.n_edges(); ++i) ++at[std::min(e.tail[i], e.head[i]) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    struct Item {
        std::int32_t high;
        std::int64_t edge;
    };
    std::vector<Item> items(e.tail.size());
    std::vector<std::int64_t> next(at.begin(), at.end() - 1);
    for (std::int64_t i = 0; i < e.n_edges(); ++i)
        items[next[std::min(e.tail[i], e.head[i])]++] = {std::max(e.tail[i], e.head[i]), i};

    pairs_.reserve(e.tail.size());
    for (std::int32_t u = 0; u < e.n_nodes(); ++u) {
        const auto begin = items.begin() + at[u], end = items.begin() + at[u + 1];
        std::stable_sort(begin, end, [](const Item& a, const Item& b) { return a.high < b.high; });
        for (auto first = begin; first != end;) {
            const auto last = std::find_if(first, end, [&](const Item& x) { return x.high != first->high; });
            const auto as_pair = [&](const Item& x) {
                const bool forward = e.tail[x.edge] == u;
                const std::int64_t columns = e.labels[e.head[x.edge]];
                return Pair{u, x.high, e.table_of(x.edge), forward ? columns : 1, forward ? 1 : columns};
            };
            Pair pair = as_pair(*first);
            if (last - first > 1) {
                const std::int32_t rows = n_labels(u), columns = n_labels(pair.high);
                std::vector<double> sum(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
                for (auto x = first; x != last; ++x) {
                    const Pair p = as_pair(*x);
                    for (std::int32_t k = 0; k < rows; ++k)
                        for (std::int32_t l = 0; l < columns; ++l) {
                            double& t = sum[static_cast<std::size_t>(k * std::int64_t{columns} + l)];
                            t = x == first ? p.at(true, k, l) : down(t + p.at(true, k, l));
                        }
                }
                merged_.push_back(std::move(sum));
                pair.table = merged_.back().data();
                pair.row_step = columns;
                pair.column_step = 1;
            }
            pairs_.push_back(pair);
            first = last;
        }
    }
}

void Reduction::link() {
    pair_alive_.assign(pairs_.size(), 1);
    degree_.assign(energy_.labels.size(), 0);
    for (const Pair& p : pairs_) ++degree_[p.low], ++degree_[p.high];
    pair_at_.assign(energy_.labels.size() + 1, 0);
    std::partial_sum(degree_.begin(), degree_.end(), pair_at_.begin() + 1);
    node_pairs_.resize(2 * pairs_.size());
    std::vector<std::int64_t> next(pair_at_.begin(), pair_at_.end() - 1);
    for (std::size_t p = 0; p < pairs_.size(); ++p)
        for (const std::int32_t u : {pairs_[p].low, pairs_[p].high})
            node_pairs_[next[u]++] = static_cast<std::int64_t>(p);
}

void Reduction::find_components() {
    component_.assign(energy_.labels.size(), -1);
    std::vector<std::int32_t> stack;
    for (std::int32_t s = 0; s < energy_.n_nodes(); ++s) {
        if (component_[s] >= 0) continue;
        component_[s] = n_components_;
        stack.push_back(s);
        while (!stack.empty()) {
            const std::int32_t u = stack.back();
            stack.pop_back();
            for (std::int64_t i = pair_at_[u]; i < pair_at_[u + 1]; ++i) {
                const Pair& p = pairs_[node_pairs_[i]];
                const std::int32_t v = p.low == u ? p.high : p.low;
                if (component_[v] < 0) component_[v] = n_components_, stack.push_back(v);
            }
        }
        ++n_components_;
    }
}

// Folds u into all its neighbours: one at most, unless u has a single label.
void Reduction::eliminate(std::int32_t u) {
    node_alive_[u] = 0;
    std::int64_t into = -1;
    for (std::int64_t i = pair_at_[u]; i < pair_at_[u + 1]; ++i) {
        const std::int64_t p = node_pairs_[i];
        if (!pair_alive_[p]) continue;
        fold(u, p);
        pair_alive_[p] = 0;
        --degree_[pairs_[p].low], --degree_[pairs_[p].high];
        into = p;
    }
    if (into < 0 || n_labels(u) == 1) {
        const double* own = unary_of(u);
        constants_[component_[u]].add(*std::min_element(own, own + n_labels(u)));
        into = -1;
    }
    steps_.push_back({u, into});
}

// unary_v(l) += min_k unary_u(k) + table(k, l); a single label's own cost is counted once, by eliminate.
// No offset is taken out, so along the best labeling only its own terms are ever added up.
void Reduction::fold(std::int32_t u, std::int64_t pair) {
    const Pair& p = pairs_[pair];
    const bool from_low = p.low == u;
    const std::int32_t v = from_low ? p.high : p.low;
    double* other = unary_.data() + energy_.unary_at[v];
    const double* own = unary_of(u);
    const bool single = n_labels(u) == 1;
    for (std::int32_t l = 0; l < n_labels(v); ++l) {
        double best = kInfinity;
        for (std::int32_t k = 0; k < n_labels(u); ++k)
            best = std::min(best, (single ? 0.0 : own[k]) + p.at(from_low, k, l));
        other[l] = down(other[l] + (single ? best : down(best)));
    }
}

void Reduction::complete(std::vector<std::int32_t>& labels) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        const double* own = unary_of(step->node);
        std::int32_t& label = labels[step->node];
        label = 0;
        double best = kInfinity;
        for (std::int32_t k = 0; k < n_labels(step->node); ++k) {
            double x = own[k];
            if (step->pair >= 0) {
                const Pair& p = pairs_[step->pair];
                const bool from_low = p.low == step->node;
                x += p.at(from_low, k, labels[from_low ? p.high : p.low]);
            }
            if (x < best) best = x, label = k;
        }
    }
}

// What u was folded into v with, min_k unary_u(k) + table(k, l), is in v's min-marginal; without it stands what u gets
// to know: excess_u(k) = min_l excess_v(l) + [unary_u(k) + table(k, l) - min_k' (unary_u(k') + table(k', l))].
void Reduction::spread(std::span<double> excess) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        const std::int32_t u = step->node, n = n_labels(u);
        const double* own = unary_of(u);
        double* out = excess.data() + energy_.unary_at[u];
        if (step->pair < 0) {
            const double least = *std::min_element(own, own + n);
            for (std::int32_t k = 0; k < n; ++k)
                out[k] = n == 1 || least == kInfinity ? 0.0 : std::max(0.0, down(own[k] - least));
            continue;
        }
        const Pair& p = pairs_[step->pair];
        const bool from_low = p.low == u;
        const std::int32_t v = from_low ? p.high : p.low;
        const double* known = excess.data() + energy_.unary_at[v];
        std::fill_n(out, n, kInfinity);
        for (std::int32_t l = 0; l < n_labels(v); ++l) {
            double least = kInfinity;
            for (std::int32_t k = 0; k < n; ++k) least = std::min(least, own[k] + p.at(from_low, k, l));
            if (least == kInfinity) continue;
            const double told = -down(-least);
            for (std::int32_t k = 0; k < n; ++k) {
                const double rest = std::max(0.0, down(down(own[k] + p.at(from_low, k, l)) - told));
                out[k] = std::min(out[k], down(known[l] + rest));
            }
        }
    }
}

}  // namespace gapcut::infer
