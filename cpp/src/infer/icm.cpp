#include "gapcut/infer/icm.hpp"

#include <deque>
#include <stdexcept>
#include <string>

namespace gapcut::infer {
namespace {

// Edges at every node.
struct Incidence {
    std::vector<std::int64_t> at;
    std::vector<std::int32_t> edge;

    explicit Incidence(const EnergyView& e) : at(e.labels.size() + 1, 0), edge(2 * e.tail.size()) {
        for (std::int64_t i = 0; i < e.n_edges(); ++i) ++at[e.tail[i] + 1], ++at[e.head[i] + 1];
        for (std::size_t u = 0; u < e.labels.size(); ++u) at[u + 1] += at[u];
        std::vector<std::int64_t> next(at.begin(), at.end() - 1);
        for (std::int64_t i = 0; i < e.n_edges(); ++i)
            for (const std::int32_t u : {e.tail[i], e.head[i]}) edge[next[u]++] = static_cast<std::int32_t>(i);
    }
};

// Costs of all labels of one node given its neighbours.
struct LocalCosts {
    std::vector<std::int32_t> forbidden;
    std::vector<double> finite;

    void add(std::size_t k, double x) {
        if (x == kInfinity)
            ++forbidden[k];
        else
            finite[k] += x;
    }

    void clear(const double* unary, std::int32_t n) {
        forbidden.assign(static_cast<std::size_t>(n), 0);
        finite.assign(static_cast<std::size_t>(n), 0.0);
        for (std::size_t k = 0; k < finite.size(); ++k) add(k, unary[k]);
    }

    bool better(std::size_t a, std::size_t b) const {
        return forbidden[a] != forbidden[b] ? forbidden[a] < forbidden[b] : finite[a] < finite[b];
    }

    std::int32_t best(std::int32_t current) const {
        auto k = static_cast<std::size_t>(current);
        for (std::size_t l = 0; l < finite.size(); ++l)
            if (better(l, k)) k = l;
        return static_cast<std::int32_t>(k);
    }
};

// What the search needs of an energy: a node's local costs, and whom a change concerns.
struct Edges {
    const EnergyView& e;
    Incidence edges;

    void gather(std::int32_t u, const std::vector<std::int32_t>& labels, LocalCosts& costs) const {
        costs.clear(e.unary_of(u), e.labels[u]);
        for (std::int64_t p = edges.at[u]; p < edges.at[u + 1]; ++p) {
            const std::int64_t i = edges.edge[p];
            const bool row = e.tail[i] != u;  // u is the head: its labels run along a row
            const std::int64_t columns = e.labels[e.head[i]];
            const double* t = e.table_of(i) + (row ? labels[e.tail[i]] * columns : labels[e.head[i]]);
            for (std::size_t k = 0; k < costs.finite.size(); ++k)
                costs.add(k, t[static_cast<std::int64_t>(k) * (row ? 1 : columns)]);
        }
    }

    template <class F>
    void each_neighbour(std::int32_t u, F&& f) const {
        for (std::int64_t p = edges.at[u]; p < edges.at[u + 1]; ++p)
            f(e.tail[edges.edge[p]] == u ? e.head[edges.edge[p]] : e.tail[edges.edge[p]]);
    }
};

struct Factors {
    const FactorGraph& graph;

    void gather(std::int32_t u, const std::vector<std::int32_t>& labels, LocalCosts& costs) const {
        costs.clear(graph.unary_of(u), graph.n_labels(u));
        for (const std::int64_t p : graph.places(u)) {
            const std::int64_t f = graph.factor(p);
            const double* t = graph.table_of(f);
            for (std::int64_t q = graph.first(f); q < graph.last(f); ++q)
                if (q != p) t += graph.stride(q) * labels[graph.member(q)];
            for (std::size_t k = 0; k < costs.finite.size(); ++k)
                costs.add(k, t[static_cast<std::int64_t>(k) * graph.stride(p)]);
        }
    }

    template <class F>
    void each_neighbour(std::int32_t u, F&& f) const {
        graph.each_neighbour(u, f);
    }
};

template <class Terms>
IcmResult search(const Terms& energy, std::vector<std::int32_t> labels, const StopTest& stop) {
    LocalCosts costs;
    IcmResult result;
    std::deque<std::int32_t> queue;
    std::vector<char> queued(labels.size(), 1);
    for (std::size_t u = 0; u < labels.size(); ++u) queue.push_back(static_cast<std::int32_t>(u));
    std::int64_t left = kIcmVisits * static_cast<std::int64_t>(labels.size());
    while (!queue.empty() && left-- > 0) {
        if (stop && left % 256 == 0 && stop()) {
            result.stopped = true;
            break;
        }
        const std::int32_t u = queue.front();
        queue.pop_front();
        queued[u] = 0;
        energy.gather(u, labels, costs);
        const std::int32_t k = costs.best(labels[u]);
        if (k == labels[u]) continue;
        labels[u] = k;
        ++result.changes;
        energy.each_neighbour(u, [&](std::int32_t v) {
            if (!queued[v]) queued[v] = 1, queue.push_back(v);
        });
    }
    result.labels = std::move(labels);
    return result;
}

}  // namespace

IcmResult icm(const EnergyView& e, std::vector<std::int32_t> labels, const StopTest& stop) {
    terms(e, labels);  // checks them
    return search(Edges{e, Incidence(e)}, std::move(labels), stop);
}

IcmResult icm(const FactorGraph& graph, std::vector<std::int32_t> labels, const StopTest& stop) {
    if (static_cast<std::int64_t>(labels.size()) != graph.n_nodes())
        throw std::invalid_argument("labeling has the wrong length");
    for (std::int64_t u = 0; u < graph.n_nodes(); ++u)
        if (labels[u] < 0 || labels[u] >= graph.n_labels(u))
            throw std::invalid_argument("node " + std::to_string(u) + ": label out of range");
    return search(Factors{graph}, std::move(labels), stop);
}

}  // namespace gapcut::infer
