#include "gapcut/infer/energy.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gapcut::infer {

void check(const EnergyView& e) {
    const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
    const std::int64_t nodes = e.n_nodes();
    if (static_cast<std::int64_t>(e.unary_at.size()) != nodes + 1 || e.unary_at[0] != 0 ||
        e.unary_at[nodes] != static_cast<std::int64_t>(e.unary.size()))
        fail("unary offsets do not fit the unary entries");
    for (std::int64_t u = 0; u < nodes; ++u) {
        if (e.labels[u] < 1) fail("node " + std::to_string(u) + " has no label");
        if (e.unary_at[u + 1] - e.unary_at[u] != e.labels[u])
            fail("node " + std::to_string(u) + ": unary entries do not match its label count");
    }
    if (e.head.size() != e.tail.size() || e.table_at.size() != e.tail.size()) fail("edge arrays differ in length");
    for (std::int64_t i = 0; i < e.n_edges(); ++i) {
        const std::int64_t u = e.tail[i], v = e.head[i];
        if (u < 0 || v < 0 || u >= nodes || v >= nodes || u == v)
            fail("edge " + std::to_string(i) + " does not join two different nodes");
        const std::int64_t size = static_cast<std::int64_t>(e.labels[u]) * e.labels[v];
        if (e.table_at[i] < 0 || e.table_at[i] > static_cast<std::int64_t>(e.tables.size()) - size)
            fail("edge " + std::to_string(i) + ": table outside the table entries");
    }
}

std::vector<double> terms(const EnergyView& e, std::span<const std::int32_t> labels) {
    if (static_cast<std::int64_t>(labels.size()) != e.n_nodes())
        throw std::invalid_argument("labeling has the wrong length");
    std::vector<double> out;
    out.reserve(labels.size() + e.tail.size());
    for (std::int64_t u = 0; u < e.n_nodes(); ++u) {
        if (labels[u] < 0 || labels[u] >= e.labels[u])
            throw std::invalid_argument("node " + std::to_string(u) + ": label out of range");
        out.push_back(e.unary_of(u)[labels[u]]);
    }
    for (std::int64_t i = 0; i < e.n_edges(); ++i) out.push_back(e.pair(i, labels[e.tail[i]], labels[e.head[i]]));
    return out;
}

double independent_bound(const EnergyView& e) {
    LowerSum sum;
    for (std::int64_t u = 0; u < e.n_nodes(); ++u)
        sum.add(*std::min_element(e.unary_of(u), e.unary_of(u) + e.labels[u]));
    const double* seen = nullptr;  // edges that follow each other often share a table
    double least = kInfinity;
    for (std::int64_t i = 0; i < e.n_edges(); ++i) {
        const std::int64_t size = static_cast<std::int64_t>(e.labels[e.tail[i]]) * e.labels[e.head[i]];
        if (e.table_of(i) != seen) least = *std::min_element(e.table_of(i), e.table_of(i) + size);
        seen = e.table_of(i);
        sum.add(least);
    }
    return sum.value();
}

std::vector<std::int32_t> unary_labels(const EnergyView& e) {
    std::vector<std::int32_t> out(e.labels.size());
    for (std::int64_t u = 0; u < e.n_nodes(); ++u)
        out[u] =
            static_cast<std::int32_t>(std::min_element(e.unary_of(u), e.unary_of(u) + e.labels[u]) - e.unary_of(u));
    return out;
}

}  // namespace gapcut::infer
