// An energy that owns its arrays, made node by node and edge by edge; energies, and the least of all, term by term.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gapcut/infer/tables.hpp"

namespace gapcut::infer {

struct Owned {
    std::vector<std::int32_t> labels, tail, head;
    std::vector<std::int64_t> unary_at{0}, table_at;
    std::vector<double> unary, tables;

    EnergyView view() const { return {labels, unary_at, unary, tail, head, table_at, tables}; }

    template <class F>
    void add_node(std::int32_t k, F&& value) {
        labels.push_back(k);
        for (std::int32_t i = 0; i < k; ++i) unary.push_back(value());
        unary_at.push_back(static_cast<std::int64_t>(unary.size()));
    }
    template <class F>
    void add_edge(std::int32_t u, std::int32_t v, F&& value) {
        tail.push_back(u);
        head.push_back(v);
        table_at.push_back(static_cast<std::int64_t>(tables.size()));
        for (std::int32_t i = 0; i < labels[u] * labels[v]; ++i) tables.push_back(value());
    }
};

inline double energy_of(const EnergyView& e, const std::vector<std::int32_t>& labels) {
    double sum = 0.0;
    for (const double t : terms(e, labels)) sum += t;
    return sum;
}

inline double minimum(const EnergyView& e) {
    std::vector<std::int32_t> y(e.labels.size(), 0);
    double best = kInfinity;
    for (;;) {
        best = std::min(best, energy_of(e, y));
        std::size_t u = 0;
        while (u < y.size() && ++y[u] == e.labels[u]) y[u++] = 0;
        if (u == y.size()) return best;
    }
}

}  // namespace gapcut::infer
