// The core of an energy in the order and the memory layout that sequential message passing wants.
//
// Nodes are numbered by their place in the order; every edge runs forward, from the earlier node (its rows) to the
// later one (its columns). What belongs to a node is padded to a multiple of kLanes, its entries with +inf; tables are
// not. Edges are stored by their earlier node, so the forward sweep streams through the tables. One buffer an edge
// holds the message of the last half-sweep (Kolmogorov 2006, section 3.4): towards the later node after a forward
// sweep, towards the earlier after a backward one.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "gapcut/infer/reduce.hpp"

namespace gapcut::infer {

inline constexpr std::int64_t kLanes = 4;  // labels, or edges, that a sweep takes at a time

// Uninitialised doubles on a cache-line boundary; large ones ask for huge pages, since half of the accesses are
// scattered and would otherwise miss the address cache.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::int64_t size);
    double* data() const { return data_.get(); }
    std::int64_t size() const { return size_; }

  private:
    struct Free {
        std::align_val_t align;
        void operator()(double* p) const { ::operator delete(p, align); }
    };
    std::int64_t size_ = 0;
    std::unique_ptr<double, Free> data_{nullptr, Free{std::align_val_t{64}}};
};

struct Packed {
    std::vector<std::int32_t> node;                  // (n,) original node
    std::vector<std::int32_t> labels, width;         // (n,) label count, and the same padded
    std::vector<std::int64_t> unary_at;              // (n,)
    std::vector<std::int64_t> forward_at;            // (n + 1,) edges to later nodes
    std::vector<std::int64_t> backward_at;           // (n + 1,)
    std::vector<std::int32_t> backward;              // edges to earlier nodes
    std::vector<std::int32_t> source, target;        // (m,)
    std::vector<std::int64_t> pair;                  // (m,) of the reduction
    std::vector<std::int64_t> table_at, message_at;  // (m,); edges may share tables
    std::int64_t table_size = 0;                     // entries of all tables
    std::vector<double> chain_weight;                // (n,) 1 / max(earlier, later edges), never above
    Buffer unary, tables, messages, chosen;          // chosen: costs of the labels already chosen, shaped as unary
    std::int32_t widest = 0;

    std::int64_t n_nodes() const { return static_cast<std::int64_t>(node.size()); }
    std::int64_t n_edges() const { return static_cast<std::int64_t>(target.size()); }

    // Everything but `tables` and `messages`. Requires `order` to hold the core's nodes once each.
    static Packed arrange(const Reduction& reduced, const std::vector<std::int32_t>& order);
    // Fills `tables`, and `messages` with zeros.
    void load(const Reduction& reduced);

    // Entry (k, l) of edge e: k a label of its source, l of its target.
    double entry(const Reduction& reduced, std::int64_t e, std::int32_t k, std::int32_t l) const {
        const Pair& p = reduced.pairs()[static_cast<std::size_t>(pair[e])];
        return p.at(p.low == node[source[e]], k, l);
    }
};

// The core's nodes, component by component, in each by index or breadth-first from a node of least degree.
// `starts` receives where the components begin, and the end. Components of the core, not of the whole energy.
enum class NodeOrder { index, breadth_first };
std::vector<std::int32_t> node_order(const Reduction& reduced, NodeOrder how, std::vector<std::int64_t>& starts);

}  // namespace gapcut::infer
