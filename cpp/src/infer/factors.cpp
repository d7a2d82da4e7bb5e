#include "gapcut/infer/factors.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace gapcut::infer {

FactorGraph::FactorGraph(const FactorView& view) : view_(view) {
    const auto fail = [](const std::string& what) { throw std::invalid_argument("factor graph: " + what); };
    if (view.unary_at.size() != view.labels.size() + 1) fail("unary offsets do not fit the nodes");
    if (view.factor_at.size() != view.table_at.size() + 1) fail("factor offsets do not fit the factors");
    if (n_factors() > std::numeric_limits<std::int32_t>::max()) fail("more than 2^31 factors");
    for (const std::int32_t u : view.member)
        if (u < 0 || u >= n_nodes()) fail("member outside the nodes");
    stride_.resize(view.member.size());
    factor_.resize(view.member.size());
    message_at_.assign(view.member.size() + 1, 0);
    for (std::int64_t f = 0; f < n_factors(); ++f) {
        if (last(f) - first(f) < 2) fail("factor " + std::to_string(f) + " has fewer than two members");
        std::int64_t step = 1;
        for (std::int64_t p = last(f); p-- > first(f);) {
            factor_[p] = static_cast<std::int32_t>(f);
            stride_[p] = step;
            step *= n_labels(member(p));
        }
        if (view.table_at[f] < 0 || view.table_at[f] > static_cast<std::int64_t>(view.tables.size()) - step)
            fail("table of factor " + std::to_string(f) + " lies outside the entries");
    }
    places_at_.assign(view.labels.size() + 1, 0);
    for (std::int64_t p = 0; p < n_places(); ++p) {
        ++places_at_[member(p) + 1];
        message_at_[p + 1] = message_at_[p] + n_labels(member(p));
    }
    std::partial_sum(places_at_.begin(), places_at_.end(), places_at_.begin());
    places_.resize(view.member.size());
    std::vector<std::int64_t> next(places_at_.begin(), places_at_.end() - 1);
    for (std::int64_t p = 0; p < n_places(); ++p) places_[next[member(p)]++] = p;
}

std::int32_t FactorGraph::components(std::vector<std::int32_t>& component) const {
    component.assign(view_.labels.size(), -1);
    std::vector<char> seen(static_cast<std::size_t>(n_factors()), 0);
    std::vector<std::int32_t> stack;
    std::int32_t count = 0;
    for (std::int32_t s = 0; s < n_nodes(); ++s) {
        if (component[s] >= 0) continue;
        component[s] = count;
        stack.push_back(s);
        while (!stack.empty()) {
            const std::int32_t u = stack.back();
            stack.pop_back();
            for (const std::int64_t p : places(u)) {
                if (seen[factor(p)]) continue;
                seen[factor(p)] = 1;
                for (std::int64_t q = first(factor(p)); q < last(factor(p)); ++q)
                    if (component[member(q)] < 0) component[member(q)] = count, stack.push_back(member(q));
            }
        }
        ++count;
    }
    return count;
}

double FactorGraph::entry(std::int64_t f, const std::vector<std::int32_t>& labels) const {
    std::int64_t at = 0;
    for (std::int64_t p = first(f); p < last(f); ++p) at += stride(p) * labels[member(p)];
    return table_of(f)[at];
}

double FactorGraph::energy(const std::vector<std::int32_t>& labels) const {
    double total = 0.0;
    for (std::int64_t u = 0; u < n_nodes(); ++u) total += unary_of(u)[labels[u]];
    for (std::int64_t f = 0; f < n_factors(); ++f) total += entry(f, labels);
    return total;
}

std::vector<std::int32_t> factor_order(const FactorGraph& graph, bool breadth_first,
                                       std::vector<std::int64_t>& starts) {
    std::vector<std::int32_t> component;
    const std::int32_t count = graph.components(component);
    std::vector<std::int32_t> order(component.size());
    starts.assign(static_cast<std::size_t>(count) + 1, 0);
    for (const std::int32_t c : component) ++starts[c + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
    for (std::int32_t u = 0; u < graph.n_nodes(); ++u) order[next[component[u]]++] = u;
    if (!breadth_first) return order;
    std::vector<char> seen(component.size(), 0), done(static_cast<std::size_t>(graph.n_factors()), 0);
    std::vector<std::int32_t> queue;
    for (std::int32_t c = 0; c < count; ++c) {
        const auto begin = order.begin() + starts[c], end = order.begin() + starts[c + 1];
        queue.assign(1, *std::min_element(begin, end, [&](std::int32_t a, std::int32_t b) {
                         return graph.places(a).size() < graph.places(b).size();
                     }));
        seen[queue[0]] = 1;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const std::int64_t p : graph.places(queue[i])) {
                const std::int32_t f = graph.factor(p);
                if (done[f]) continue;
                done[f] = 1;
                for (std::int64_t q = graph.first(f); q < graph.last(f); ++q)
                    if (const std::int32_t v = graph.member(q); !seen[v]) seen[v] = 1, queue.push_back(v);
            }
        std::copy(queue.begin(), queue.end(), begin);
    }
    return order;
}

void MinMarginal::operator()(std::int64_t place, const double* add, const std::int32_t* fixed, double* out) {
    const std::int64_t f = graph_.factor(place), first = graph_.first(f);
    const auto order = static_cast<std::size_t>(graph_.last(f) - first);
    const auto target = static_cast<std::size_t>(place - first);
    begin_.resize(order), end_.resize(order), at_.resize(order), sum_.assign(order, 0.0), add_.resize(order);
    std::int64_t cell = 0;  // of the labels at_, the last member's label left at 0
    for (std::size_t i = 0; i < order; ++i) {
        const std::int64_t p = first + static_cast<std::int64_t>(i);
        const std::int32_t u = graph_.member(p), n = graph_.n_labels(u);
        const bool held = fixed && i != target && fixed[u] >= 0;
        begin_[i] = held ? fixed[u] : 0;
        end_[i] = held ? fixed[u] + 1 : n;
        at_[i] = begin_[i];
        if (zero_.size() < static_cast<std::size_t>(n)) zero_.resize(static_cast<std::size_t>(n), 0.0);
        add_[i] = held || i == target ? nullptr : add + graph_.message_at(p);
        if (i + 1 < order) cell += at_[i] * graph_.stride(p);
    }
    for (const double*& x : add_)
        if (!x) x = zero_.data();
    std::fill_n(out, graph_.n_labels(graph_.member(place)), kInfinity);
    const std::size_t inner = order - 1;
    for (std::size_t i = 0; i < inner; ++i) sum_[i + 1] = sum_[i] + add_[i][at_[i]];
    for (;;) {
        const double base = sum_[inner];
        const double* row = graph_.table_of(f) + cell;
        if (base < kInfinity) {
            if (target == inner) {
                for (std::int32_t l = begin_[inner]; l < end_[inner]; ++l) out[l] = std::min(out[l], base + row[l]);
            } else {
                double best = kInfinity;
                for (std::int32_t l = begin_[inner]; l < end_[inner]; ++l)
                    best = std::min(best, row[l] + add_[inner][l]);
                double& there = out[at_[target]];
                there = std::min(there, base + best);
            }
        }
        std::size_t i = inner;
        for (; i-- > 0;) {
            const std::int64_t stride = graph_.stride(first + static_cast<std::int64_t>(i));
            cell += stride;
            if (++at_[i] < end_[i]) break;
            cell -= stride * (end_[i] - begin_[i]);
            at_[i] = begin_[i];
            if (i == 0) return;
        }
        for (; i < inner; ++i) sum_[i + 1] = sum_[i] + add_[i][at_[i]];
    }
}

double MinMarginal::lower_minimum(std::int64_t f, const double* add) {
    const std::int64_t first = graph_.first(f), inner = graph_.last(f) - 1;
    const auto order = static_cast<std::size_t>(inner + 1 - first);
    at_.assign(order, 0);
    const std::int32_t width = graph_.n_labels(graph_.member(inner));
    const double* last_add = add + graph_.message_at(inner);
    double best = kInfinity;
    const std::int64_t rows = graph_.table_size(f) / width;
    for (std::int64_t r = 0; r < rows; ++r) {
        double base = 0.0;
        for (std::size_t i = 0; i + 1 < order; ++i)
            base = down(base + add[graph_.message_at(first + static_cast<std::int64_t>(i)) + at_[i]]);
        const double* row = graph_.table_of(f) + r * width;
        if (base < kInfinity)
            for (std::int32_t l = 0; l < width; ++l) best = std::min(best, down(down(row[l] + last_add[l]) + base));
        for (std::size_t i = order - 1; i-- > 0;) {
            if (++at_[i] < graph_.n_labels(graph_.member(first + static_cast<std::int64_t>(i)))) break;
            at_[i] = 0;
        }
    }
    return best;
}

Sayings::Sayings(const FactorGraph& graph)
    : add(static_cast<std::size_t>(graph.message_size()), 0.0), alive(static_cast<std::size_t>(graph.unary_size()), 1) {
    for (std::int64_t u = 0; u < graph.n_nodes(); ++u)
        for (std::int32_t k = 0; k < graph.n_labels(u); ++k)
            if (graph.unary_of(u)[k] == kInfinity) kill(graph, u, k);
}

void Sayings::kill(const FactorGraph& graph, std::int64_t u, std::int32_t k) {
    alive[graph.unary_at(u) + k] = 0;
    for (const std::int64_t p : graph.places(u)) add[graph.message_at(p) + k] = kInfinity;
}

bool Sayings::any_alive(const FactorGraph& graph, std::int64_t u) const {
    const char* a = alive.data() + graph.unary_at(u);
    return std::find(a, a + graph.n_labels(u), 1) != a + graph.n_labels(u);
}

void decode(const FactorGraph& graph, MinMarginal& marginal, std::span<const std::int32_t> order, const Sayings& says,
            std::vector<std::int32_t>& labels) {
    for (const std::int32_t u : order) labels[u] = -1;
    std::vector<double> cost, message;
    for (const std::int32_t u : order) {
        const auto n = static_cast<std::size_t>(graph.n_labels(u));
        cost.assign(graph.unary_of(u), graph.unary_of(u) + n);
        message.resize(n);
        for (const std::int64_t p : graph.places(u)) {
            marginal(p, says.add.data(), labels.data(), message.data());
            for (std::size_t k = 0; k < n; ++k) cost[k] += message[k];
        }
        const char* live = says.alive.data() + graph.unary_at(u);
        std::size_t best = 0;
        for (std::size_t k = 1; k < n; ++k)
            if (live[k] > live[best] || (live[k] == live[best] && cost[k] < cost[best])) best = k;
        labels[u] = static_cast<std::int32_t>(best);
    }
}

}  // namespace gapcut::infer
