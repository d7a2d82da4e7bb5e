// An energy as nodes, pairs and triplets that exchange messages; internal to infer (cycles.hpp says what for).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/infer/reduce.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

class Triplets {
  public:
    // A pair of nodes low < high, its table row-major from `at`; a chord has no entries of its own, and its nodes get
    // no messages from it.
    struct Edge {
        std::int32_t low, high;
        std::int64_t at, message_at;  // into the tables; messages of low's labels, then of high's
        bool chord;
    };

    // Nodes i < j < k; its edges ij, ik and jk, and where their parts of its table begin.
    struct Triplet {
        std::array<std::int64_t, 3> edge, part;
    };

    // The nodes of the core in this order.
    Triplets(const Reduction& reduced, const std::vector<std::int32_t>& order);

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(labels_.size()); }
    std::int32_t n_labels(std::int32_t i) const { return labels_[i]; }
    std::int64_t size(std::int64_t e) const { return std::int64_t{labels_[edges_[e].low]} * labels_[edges_[e].high]; }
    const std::vector<Edge>& edges() const { return edges_; }
    const std::vector<Triplet>& triplets() const { return triplets_; }
    const std::vector<std::int64_t>& edges_of(std::int32_t i) const { return edges_of_[i]; }  // chords too
    const double* table(std::int64_t e) const { return now_.data() + edges_[e].at; }          // reparametrised

    // The edge of two nodes; a chord where there is none.
    std::int64_t find_or_add(std::int32_t i, std::int32_t j);
    std::int64_t find(std::int32_t i, std::int32_t j) const;  // -1: none

    // A triplet of three different nodes, unless it is there; the entries of its tables.
    double add(std::int32_t i, std::int32_t j, std::int32_t k);

    // One half-sweep over all nodes and edges, or up to where stop() turned true, which is asked now and then; table
    // entries read, about. With a temperature minima are soft: such sweeps do not get stuck where sharp ones do, but
    // the bound of their messages may fall.
    double half_sweep(bool forward, double temperature, const StopTest& stop);

    double mean_range() const;  // of the given tables of edges
    double work() const;        // entries of all triplets, which a bound looks at

    // Gives what the nodes hold to their edges, in equal parts. The bound does not fall.
    void spread();

    // The bound of these messages, rounded down; brings the reparametrised terms up to date with them.
    double bound();

    // A label for every node, in order, given those before; their energy.
    double decode(std::vector<std::int32_t>& labels) const;

  private:
    std::int64_t insert(std::int32_t i, std::int32_t j, bool chord);
    void node_step(std::int32_t i, bool forward);
    bool edge_step(std::int64_t e, bool forward, const StopTest& stop);  // false: stopped, nothing has moved
    template <class F>
    double least(std::int64_t n, F&& term) const;
    double share(std::int64_t ahead, std::int64_t back, std::int64_t n, bool keep) const;
    void marginal(const Triplet& t, int which, double* out);

    std::vector<std::int32_t> labels_;
    std::vector<std::int64_t> unary_at_;
    std::vector<double> unary_, node_;  // given, and reparametrised
    std::vector<Edge> edges_;
    std::vector<double> given_, now_, messages_;  // of edges: their tables twice, and what nodes have added
    std::vector<std::vector<std::int64_t>> edges_of_, triplets_of_;
    std::vector<Triplet> triplets_;
    std::vector<double> parts_;  // what edges have given to their triplets
    std::vector<double> gathered_, belief_;
    double read_ = 0.0, temperature_ = 0.0;
    double untested_ = 0.0;  // entries of triplets since stop() was asked
};

}  // namespace gapcut::infer
