#include "gapcut/flow/max_flow.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace gapcut {

void MaxFlow::reset(std::int32_t n_nodes) {
    n_ = n_nodes;
    input_.clear();
    excess_.assign(static_cast<std::size_t>(n_nodes), 0);
}

void MaxFlow::build_adjacency() {
    if (input_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 2))
        throw std::invalid_argument("more than 2^30 arcs in one cut");
    first_.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (const InputArc& a : input_) {
        ++first_[a.from + 1];
        ++first_[a.to + 1];
    }
    for (std::int32_t v = 0; v < n_; ++v) first_[v + 1] += first_[v];
    arcs_.resize(2 * input_.size());
    current_.assign(first_.begin(), first_.end() - 1);
    for (const InputArc& a : input_) {
        const std::int32_t i = current_[a.from]++, j = current_[a.to]++;
        arcs_[i] = {a.to, j, a.forward};
        arcs_[j] = {a.from, i, a.backward};
    }
}

void MaxFlow::residuals(std::vector<std::int64_t>& left) const {
    left.clear();
    std::vector<std::int32_t> next(first_.begin(), first_.end());
    for (const InputArc& a : input_) {
        left.push_back(arcs_[next[a.from]++].residual);
        ++next[a.to];
    }
}

void MaxFlow::plant_roots() {
    const auto n = static_cast<std::size_t>(n_);
    distance_.assign(n, 0);
    parent_.assign(n, kNone);
    homeless_flag_.assign(n, 0);
    current_.assign(first_.begin(), first_.end() - 1);
    heap_.clear();
    for (auto* lists : {frontier_, next_frontier_})
        for (int side = 0; side < 2; ++side) lists[side].clear();
    level_[0] = level_[1] = 1;
    for (std::int32_t v = 0; v < n_; ++v) {
        if (excess_[v] == 0) continue;
        const int side = excess_[v] > 0 ? 0 : 1;
        distance_[v] = side == 0 ? 1 : -1;
        parent_[v] = kTerminal;
        frontier_[side].push_back(v);
    }
}

bool MaxFlow::should_stop() {
    if (complete_ && --until_ask_ < 0) {
        until_ask_ = kAugmentationsPerAsk;
        complete_ = !(*stop_ && (*stop_)());
    }
    return !complete_;
}

std::int64_t MaxFlow::solve(const StopTest& stop) {
    build_adjacency();
    original_excess_ = excess_;
    flow_ = 0;
    stop_ = &stop;
    until_ask_ = kAugmentationsPerAsk;
    complete_ = true;
    plant_roots();
    // The smaller frontier is cheaper to grow. A tree that cannot grow is cut off: the flow is maximum.
    bool source_done = false, sink_done = false;
    while (!source_done && !sink_done) {
        if (frontier_[0].size() <= frontier_[1].size())
            source_done = !grow_one_level<Tree::source>();
        else
            sink_done = !grow_one_level<Tree::sink>();
        if (!complete_) return flow_;
    }
    on_source_side_.resize(static_cast<std::size_t>(n_));
    for (std::int32_t v = 0; v < n_; ++v) on_source_side_[v] = source_done ? distance_[v] > 0 : distance_[v] >= 0;
    if (cut_value() != flow_) throw std::logic_error("max-flow: the cut found does not certify the flow");
    return flow_;
}

// Scans the nodes of the deepest level of tree T. Returns whether there is a next level.
template <MaxFlow::Tree T>
bool MaxFlow::grow_one_level() {
    constexpr int side = T == Tree::source ? 0 : 1;
    constexpr std::int32_t sign = static_cast<std::int32_t>(T);
    growing_source_ = T == Tree::source;
    next_frontier_[side].clear();
    // adoption may append to frontier_[side] while it is scanned
    for (std::size_t place = 0; place < frontier_[side].size(); ++place) {
        const std::int32_t u = frontier_[side][place];
        for (std::int32_t a = first_[u]; a < first_[u + 1] && distance_[u] == sign * level_[side];) {
            const std::int32_t v = arcs_[a].head;
            const std::int64_t residual = T == Tree::source ? arcs_[a].residual : arcs_[arcs_[a].reverse].residual;
            if (residual == 0 || in_tree<T>(v)) {
                ++a;
            } else if (distance_[v] == 0) {
                distance_[v] = sign * (level_[side] + 1);
                parent_[v] = arcs_[a].reverse;
                current_[v] = first_[v];
                next_frontier_[side].push_back(v);
                ++a;
            } else {
                if (should_stop()) return false;
                augment(T == Tree::source ? a : arcs_[a].reverse);  // then look at the same arc again
            }
        }
    }
    ++level_[side];
    frontier_[side].swap(next_frontier_[side]);
    std::erase_if(frontier_[side], [&](std::int32_t v) { return distance_[v] != sign * level_[side]; });
    return !frontier_[side].empty();
}

// The largest amount that fits the path source -> ... -> tail of `middle` -> head -> ... -> sink.
std::int64_t MaxFlow::bottleneck(std::int32_t middle) const {
    std::int64_t amount = arcs_[middle].residual;
    std::int32_t v = arcs_[arcs_[middle].reverse].head;
    for (; parent_[v] != kTerminal; v = arcs_[parent_[v]].head)
        amount = std::min(amount, toward_child<Tree::source>(parent_[v]));
    amount = std::min(amount, excess_[v]);
    v = arcs_[middle].head;
    for (; parent_[v] != kTerminal; v = arcs_[parent_[v]].head)
        amount = std::min(amount, toward_child<Tree::sink>(parent_[v]));
    return std::min(amount, -excess_[v]);
}

// Pushes `amount` between `node` and its root, and queues every node whose tree arc is now full as an orphan.
template <MaxFlow::Tree T>
void MaxFlow::push_to_root(std::int32_t node, std::int64_t amount) {
    constexpr std::int32_t sign = static_cast<std::int32_t>(T);
    while (parent_[node] != kTerminal) {
        const std::int32_t up = parent_[node];
        Arc& used = T == Tree::source ? arcs_[arcs_[up].reverse] : arcs_[up];
        used.residual -= amount;
        arcs_[used.reverse].residual += amount;
        if (used.residual == 0) queue(sign * distance_[node], node, kNone);
        node = arcs_[up].head;
    }
    excess_[node] -= sign * amount;
    if (excess_[node] == 0) queue(1, node, kNone);
}

void MaxFlow::augment(std::int32_t middle) {
    const std::int64_t amount = bottleneck(middle);
    const std::int32_t opposite = arcs_[middle].reverse;
    arcs_[middle].residual -= amount;
    arcs_[opposite].residual += amount;
    flow_ += amount;
    push_to_root<Tree::source>(arcs_[opposite].head, amount);
    adopt_orphans<Tree::source>();
    push_to_root<Tree::sink>(arcs_[middle].head, amount);
    adopt_orphans<Tree::sink>();
}

void MaxFlow::queue(std::int32_t label, std::int32_t node, std::int32_t arc) {
    heap_.push_back({label, node, arc});
    std::push_heap(heap_.begin(), heap_.end());
}

// Orphans, nearest first: one that finds no other parent at its distance leaves the tree for now and orphans its
// children. Nearest first means that whoever is asked to be a parent has already been settled.
template <MaxFlow::Tree T>
void MaxFlow::adopt_orphans() {
    homeless_.clear();
    while (!heap_.empty()) {
        const std::int32_t v = heap_.front().node;
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (adopt_in_place<T>(v)) continue;
        const std::int32_t label = std::abs(distance_[v]);
        for (std::int32_t a = first_[v]; a < first_[v + 1]; ++a) {
            const std::int32_t child = arcs_[a].head;
            if (in_tree<T>(child) && parent_[child] == arcs_[a].reverse) queue(label + 1, child, kNone);
        }
        distance_[v] = 0;
        parent_[v] = kNone;
        current_[v] = first_[v];
        homeless_.push_back(v);
    }
    if (!homeless_.empty()) resettle_homeless<T>();
}

template <MaxFlow::Tree T>
bool MaxFlow::adopt_in_place(std::int32_t v) {
    const std::int32_t wanted = distance_[v] - static_cast<std::int32_t>(T);  // one step nearer
    if (wanted == 0) return false;
    for (std::int32_t a = current_[v]; a < first_[v + 1]; ++a) {
        if (distance_[arcs_[a].head] != wanted || toward_child<T>(a) == 0) continue;
        parent_[v] = current_[v] = a;
        return true;
    }
    return false;
}

// Gives every homeless node its distance in what is left of the tree, by Dijkstra's rule on unit lengths; nodes beyond
// the level the tree has reached stay free.
template <MaxFlow::Tree T>
void MaxFlow::resettle_homeless() {
    constexpr int side = T == Tree::source ? 0 : 1;
    constexpr std::int32_t sign = static_cast<std::int32_t>(T);
    const bool growing = growing_source_ == (T == Tree::source);
    const std::int32_t limit = level_[side] + (growing ? 1 : 0);
    for (const auto v : homeless_) {
        homeless_flag_[v] = 1;
        std::int32_t best = limit, best_arc = kNone;
        for (std::int32_t a = first_[v]; a < first_[v + 1]; ++a) {
            const std::int32_t near = sign * distance_[arcs_[a].head];
            if (near <= 0 || near >= best || toward_child<T>(a) == 0) continue;
            best = near;
            best_arc = a;
        }
        if (best_arc != kNone) queue(best + 1, v, best_arc);
    }
    while (!heap_.empty()) {
        const Visit visit = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (distance_[visit.node] != 0) continue;
        distance_[visit.node] = sign * visit.label;
        parent_[visit.node] = current_[visit.node] = visit.arc;
        file_at_frontier<T>(visit.node);
        if (visit.label == limit) continue;
        for (std::int32_t a = first_[visit.node]; a < first_[visit.node + 1]; ++a) {
            const std::int32_t next = arcs_[a].head, up = arcs_[a].reverse;
            if (homeless_flag_[next] && distance_[next] == 0 && toward_child<T>(up) > 0)
                queue(visit.label + 1, next, up);
        }
    }
    for (const auto v : homeless_) homeless_flag_[v] = 0;
}

// A node that moved to a level still to be scanned must be found there.
template <MaxFlow::Tree T>
void MaxFlow::file_at_frontier(std::int32_t node) {
    constexpr int side = T == Tree::source ? 0 : 1;
    const std::int32_t d = static_cast<std::int32_t>(T) * distance_[node];
    if (d == level_[side])
        frontier_[side].push_back(node);
    else if (d == level_[side] + 1)
        next_frontier_[side].push_back(node);
}

std::int64_t MaxFlow::cut_value() const {
    std::int64_t value = 0;
    for (std::int32_t v = 0; v < n_; ++v) {
        const std::int64_t e = original_excess_[v];
        value += on_source_side_[v] ? std::max<std::int64_t>(-e, 0) : std::max<std::int64_t>(e, 0);
    }
    for (const InputArc& a : input_) {
        if (on_source_side_[a.from] && !on_source_side_[a.to]) value += a.forward;
        if (on_source_side_[a.to] && !on_source_side_[a.from]) value += a.backward;
    }
    return value;
}

}  // namespace gapcut
