#include "gapcut/infer/closed_set.hpp"

#include <algorithm>

namespace gapcut::infer {
namespace {

struct Adjacency {
    std::vector<std::int64_t> at;
    std::vector<std::int32_t> head;
};

Adjacency mirrored(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& arcs) {
    const auto mirror = [n](std::int32_t v) { return v < n ? v + n : v - n; };
    Adjacency out;
    out.at.assign(2 * static_cast<std::size_t>(n) + 2, 0);
    for (const auto& [i, j] : arcs) ++out.at[i + 2], ++out.at[mirror(j) + 2];
    for (std::size_t v = 2; v < out.at.size(); ++v) out.at[v] += out.at[v - 1];
    out.head.resize(2 * arcs.size());
    for (const auto& [i, j] : arcs) {
        out.head[out.at[i + 1]++] = j;
        out.head[out.at[mirror(j) + 1]++] = mirror(i);
    }
    return out;
}

// Strongly connected components (Tarjan 1972) without recursion: members() lists the nodes component by component, and
// no arc leads from a component to a later one.
class Components {
  public:
    explicit Components(const Adjacency& graph)
        : graph_(graph), number_(graph.at.size() - 2, -1), component_(number_.size(), -1), low_(number_.size()) {
        for (std::int32_t v = 0; v < std::ssize(number_); ++v)
            if (number_[v] < 0) search(v);
    }

    const std::vector<std::int32_t>& members() const { return members_; }
    std::int32_t of(std::int32_t v) const { return component_[v]; }

  private:
    struct Frame {
        std::int32_t node;
        std::int64_t arc;
    };

    void enter(std::int32_t v) {
        number_[v] = low_[v] = count_++;
        open_.push_back(v);
        frames_.push_back({v, graph_.at[v]});
    }

    void search(std::int32_t root) {
        enter(root);
        while (!frames_.empty()) {
            Frame& frame = frames_.back();
            const std::int32_t v = frame.node;
            if (frame.arc < graph_.at[v + 1]) {
                const std::int32_t w = graph_.head[frame.arc++];
                if (number_[w] < 0)
                    enter(w);
                else if (component_[w] < 0)
                    low_[v] = std::min(low_[v], number_[w]);
                continue;
            }
            frames_.pop_back();
            if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[v]);
            if (low_[v] == number_[v]) close(v);
        }
    }

    void close(std::int32_t root) {
        for (std::int32_t v = -1; v != root;) {
            v = open_.back();
            open_.pop_back();
            component_[v] = components_;
            members_.push_back(v);
        }
        ++components_;
    }

    const Adjacency& graph_;
    std::vector<std::int32_t> number_, component_, low_, open_, members_;
    std::vector<Frame> frames_;
    std::int32_t count_ = 0, components_ = 0;
};

}  // namespace

std::vector<std::uint8_t> closed_set(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& arcs) {
    const Adjacency graph = mirrored(n, arcs);
    const Components components(graph);
    std::vector<std::uint8_t> in(2 * static_cast<std::size_t>(n), 0);
    const auto& members = components.members();
    const auto mirror = [n](std::int32_t v) { return v < n ? v + n : v - n; };
    for (std::size_t first = 0; first < members.size();) {
        const std::int32_t c = components.of(members[first]);
        std::size_t last = first;
        while (last < members.size() && components.of(members[last]) == c) ++last;
        // All members have their mirrors in one component too, so one stands for all.
        const std::int32_t other = mirror(members[first]);
        bool fits = components.of(other) != c && !in[other];
        for (std::size_t m = first; m < last && fits; ++m)
            for (std::int64_t a = graph.at[members[m]]; a < graph.at[members[m] + 1] && fits; ++a)
                fits = components.of(graph.head[a]) == c || in[graph.head[a]];
        if (fits)
            for (std::size_t m = first; m < last; ++m) in[members[m]] = 1;
        first = last;
    }
    return in;
}

}  // namespace gapcut::infer
