// What is left of a core without the nodes that have two neighbours, which are eliminated too (series reduction), as
// flat arrays for search by single flips; internal to infer. Where pairs are forbidden, chains of such nodes hinder
// single flips most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/infer/reduce.hpp"

namespace gapcut::infer {

// What an entry costs, and how many forbidden entries it holds: one or none.
struct Toll {
    double cost = 0.0;
    std::int32_t forbidden = 0;
};

class Kernel {
  public:
    // A pair as one of its nodes sees it; its entries begin at `table`, the other node's labels fastest.
    struct Arc {
        std::int32_t other;
        std::int64_t table;
    };

    explicit Kernel(const Reduction& reduced);

    // Nodes are numbered anew, by the order of nodes().
    std::int32_t size() const { return static_cast<std::int32_t>(nodes_.size()); }
    const std::vector<std::int32_t>& nodes() const { return nodes_; }  // their numbers in the given energy
    std::int32_t n_labels(std::int32_t i) const { return static_cast<std::int32_t>(at_[i + 1] - at_[i]); }
    std::int64_t at(std::int32_t i) const { return at_[i]; }  // where entries of node i begin in unaries()
    const std::vector<Toll>& unaries() const { return unaries_; }
    std::span<const Arc> arcs(std::int32_t i) const {
        return {arcs_.data() + arc_at_[i], static_cast<std::size_t>(arc_at_[i + 1] - arc_at_[i])};
    }
    // Entries of the pair at i's label k, by the other node's label.
    const Toll* row(const Arc& arc, std::int32_t k) const {
        return tables_.data() + arc.table + static_cast<std::int64_t>(k) * n_labels(arc.other);
    }
    double scale() const { return scale_; }  // mean range of the finite entries of a pair, and of a node

    // Given the labels of nodes() in a full labeling, sets those of the other core nodes to their best.
    void complete(std::vector<std::int32_t>& labels) const;

  private:
    struct Joint {
        std::int32_t low, high;
        std::vector<double> table;  // high's labels fastest
    };

    // A node that was eliminated, its costs, and its pairs.
    struct Step {
        std::int32_t node;
        std::vector<double> own;
        std::vector<std::int32_t> joints;
    };

    std::int32_t labels_of(std::int32_t u) const { return static_cast<std::int32_t>(own_[u].size()); }
    double entry(std::int32_t joint, std::int32_t u, std::int32_t k, std::int32_t l) const;
    std::int32_t other_end(std::int32_t joint, std::int32_t u) const {
        return joints_[joint].low == u ? joints_[joint].high : joints_[joint].low;
    }
    bool eliminable(std::int32_t u) const;
    void eliminate(std::int32_t w);
    void join(std::int32_t a, std::int32_t b, const std::vector<double>& table);
    void flatten(const std::vector<std::int32_t>& core);
    void add_table(std::int32_t u, std::int32_t joint);

    std::vector<std::vector<double>> own_;            // of every node of the given energy; empty outside the core
    std::vector<std::vector<std::int32_t>> of_node_;  // joints that are left
    std::vector<Joint> joints_;
    std::vector<Step> steps_;
    std::vector<char> gone_;
    std::vector<std::int32_t> nodes_, number_;
    std::vector<std::int64_t> at_, arc_at_;
    std::vector<Toll> unaries_, tables_;
    std::vector<Arc> arcs_;
    double scale_ = 0.0;
};

}  // namespace gapcut::infer
