// An energy as a factor graph: unary terms and factors of any order >= 2, edges and cliques alike.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

// Represents a factor graph over memory that others own. The members of factor f are the places p in
// [factor_at[f], factor_at[f + 1]): node member[p], whose label k is `stride[p] * k` entries into the table. Tables are
// row-major: the last member's stride is 1.
struct FactorView {
    std::span<const std::int32_t> labels;    // (V,) K_u >= 1
    std::span<const std::int64_t> unary_at;  // (V + 1,)
    std::span<const double> unary;
    std::span<const std::int64_t> factor_at;  // (F + 1,)
    std::span<const std::int32_t> member;
    std::span<const std::int64_t> table_at;  // (F,) may repeat
    std::span<const double> tables;
};

// Represents the graph with what solvers need: strides, the places at every node, and room for one message a place.
// Requires finite entries or +inf. Throws std::invalid_argument if sizes do not fit.
class FactorGraph {
  public:
    explicit FactorGraph(const FactorView& view);

    std::int64_t n_nodes() const { return static_cast<std::int64_t>(view_.labels.size()); }
    std::int64_t n_factors() const { return static_cast<std::int64_t>(view_.table_at.size()); }
    std::int64_t n_places() const { return static_cast<std::int64_t>(view_.member.size()); }
    std::int32_t n_labels(std::int64_t u) const { return view_.labels[u]; }
    const double* unary_of(std::int64_t u) const { return view_.unary.data() + view_.unary_at[u]; }
    std::int64_t unary_at(std::int64_t u) const { return view_.unary_at[u]; }
    std::int64_t unary_size() const { return static_cast<std::int64_t>(view_.unary.size()); }
    const double* table_of(std::int64_t f) const { return view_.tables.data() + view_.table_at[f]; }
    std::int64_t table_size(std::int64_t f) const { return stride_[first(f)] * n_labels(member(first(f))); }

    std::int64_t first(std::int64_t f) const { return view_.factor_at[f]; }
    std::int64_t last(std::int64_t f) const { return view_.factor_at[f + 1]; }
    std::int32_t member(std::int64_t place) const { return view_.member[place]; }
    std::int64_t stride(std::int64_t place) const { return stride_[place]; }
    std::int32_t factor(std::int64_t place) const { return factor_[place]; }

    std::span<const std::int64_t> places(std::int64_t u) const {
        return {places_.data() + places_at_[u], static_cast<std::size_t>(places_at_[u + 1] - places_at_[u])};
    }
    // Where the K_u entries of a place's message start in a vector of message_size().
    std::int64_t message_at(std::int64_t place) const { return message_at_[place]; }
    std::int64_t message_size() const { return message_at_.back(); }

    // Calls f(v) for every node v that shares a factor with u, u left out; repeated where they share several.
    template <class F>
    void each_neighbour(std::int64_t u, F&& f) const {
        for (const std::int64_t p : places(u))
            for (std::int64_t q = first(factor(p)); q < last(factor(p)); ++q)
                if (q != p) f(member(q));
    }

    // (V,) connected components, numbered by their first node, and how many.
    std::int32_t components(std::vector<std::int32_t>& component) const;

    // U(labels), plain float64 sum; +inf if forbidden.
    double energy(const std::vector<std::int32_t>& labels) const;

    // The entry of factor f that these labels select.
    double entry(std::int64_t f, const std::vector<std::int32_t>& labels) const;

  private:
    FactorView view_;
    std::vector<std::int64_t> stride_, places_at_, places_, message_at_;
    std::vector<std::int32_t> factor_;
};

// Nodes of every component one after the other, breadth first from a node of least degree (or by index);
// component c is [starts[c], starts[c + 1]).
std::vector<std::int32_t> factor_order(const FactorGraph& graph, bool breadth_first, std::vector<std::int64_t>& starts);

// Min-marginals of factors: scratch memory for one thread.
class MinMarginal {
  public:
    // Requires `graph` to outlive this object.
    explicit MinMarginal(const FactorGraph& graph) : graph_(graph) {}

    // out[k] = min over the cells with label k at `place` of table + sum of add over the other members;
    // add (message_size entries) may hold +inf. Members with fixed[node] >= 0 hold that label and add nothing;
    // `fixed` may be null, and does not touch the node of `place`.
    void operator()(std::int64_t place, const double* add, const std::int32_t* fixed, double* out);

    // min over all cells of table + sum of add over all members, every operation rounded down.
    double lower_minimum(std::int64_t f, const double* add);

  private:
    const FactorGraph& graph_;
    std::vector<std::int32_t> at_, begin_, end_;
    std::vector<double> sum_, zero_;
    std::vector<const double*> add_;
};

// What every node says about its labels in each of its factors, and which labels are still alive. A dead label is one
// that no allowed labeling uses; it says +inf everywhere, so that min-marginals avoid it.
struct Sayings {
    std::vector<double> add;  // message_size() entries
    std::vector<char> alive;  // unary_size() entries

    // All zero; labels with a forbidden unary entry are dead.
    explicit Sayings(const FactorGraph& graph);
    void kill(const FactorGraph& graph, std::int64_t u, std::int32_t k);
    bool any_alive(const FactorGraph& graph, std::int64_t u) const;
};

// One label a node in this order: the best given the labels chosen so far in its factors and what the other members
// say. Dead labels are avoided where possible.
void decode(const FactorGraph& graph, MinMarginal& marginal, std::span<const std::int32_t> order, const Sayings& says,
            std::vector<std::int32_t>& labels);

// Asks stop() once in about a million table entries, and remembers that it struck.
class PacedStop {
  public:
    explicit PacedStop(const StopTest& stop) : stop_(stop) {}
    bool operator()(std::int64_t entries) {
        left_ -= entries;
        if (struck_ || left_ > 0) return struck_;
        left_ = kEntries;
        return struck_ = stop_ && stop_();
    }
    bool struck() const { return struck_; }

  private:
    static constexpr std::int64_t kEntries = 1 << 20;
    const StopTest& stop_;
    std::int64_t left_ = 0;
    bool struck_ = false;
};

}  // namespace gapcut::infer
