#include "candidates.hpp"

#include <algorithm>
#include <utility>

namespace gapcut::infer {
namespace {

// A path of two edges from one node over `middle` to `end`.
struct Path {
    std::int32_t end, middle;
    std::int64_t first, second;
};

constexpr double kReadPerStopTest = 1 << 22;
// Of three nodes, the product of their numbers of labels: with more a sweep could not be stopped in time.
constexpr double kMostLabels = 1 << 24;

bool gains_more(const Candidate& a, const Candidate& b) { return a.gain > b.gain; }

class Finder {
  public:
    Finder(const Triplets& graph, double least, std::int64_t most, const StopTest& stop)
        : graph_(graph), least_(least), most_(most), stop_(stop) {
        for (std::int64_t e = 0; e < std::ssize(graph.edges()); ++e)
            minima_.push_back(*std::min_element(graph.table(e), graph.table(e) + graph.size(e)));
    }

    std::vector<Candidate> found;
    double read = 0.0;

    void look_from(std::int32_t i) {
        reach(i);
        for (std::size_t begin = 0, end = 0; begin < paths_.size(); begin = end) {
            if (read > next_test_) {
                if (stop_ && stop_()) return;
                next_test_ = read + kReadPerStopTest;
            }
            const std::int32_t j = paths_[begin].end;
            while (end < paths_.size() && paths_[end].end == j) ++end;
            const std::int64_t direct = graph_.find(i, j);
            if (direct < 0 && end - begin >= 2) offer(i, j, direct, {paths_.data() + begin, end - begin});
            if (direct < 0) continue;
            for (std::size_t p = begin; p < end; ++p)
                if (paths_[p].middle > j) offer(i, j, direct, {paths_.data() + p, 1});  // each triangle once
        }
    }

  private:
    // Paths from i to later nodes, by their ends.
    void reach(std::int32_t i) {
        paths_.clear();
        for (const std::int64_t first : graph_.edges_of(i)) {
            const std::int32_t middle = other_end(first, i);
            for (const std::int64_t second : graph_.edges_of(middle))
                if (const std::int32_t j = other_end(second, middle); j > i && product(i, middle, j) <= kMostLabels)
                    paths_.push_back({j, middle, first, second});
        }
        read += static_cast<double>(paths_.size());
        std::sort(paths_.begin(), paths_.end(),
                  [](const Path& a, const Path& b) { return std::pair(a.end, a.middle) < std::pair(b.end, b.middle); });
    }

    // The gain is what the minimum of all these tables together is above the sum of their minima.
    void offer(std::int32_t i, std::int32_t j, std::int64_t direct, std::span<const Path> paths) {
        const auto size = static_cast<std::size_t>(graph_.n_labels(i)) * static_cast<std::size_t>(graph_.n_labels(j));
        double alone = 0.0;
        if (direct < 0)
            sum_.assign(size, 0.0);
        else
            sum_.assign(graph_.table(direct), graph_.table(direct) + size), alone = minima_[direct];
        for (const Path& path : paths) {
            add(i, j, path);
            alone += minima_[path.first] + minima_[path.second];
        }
        const double gain = *std::min_element(sum_.begin(), sum_.end()) - alone;
        if (!(gain > least_)) return;
        Candidate candidate{i, j, {}, gain};
        for (const Path& path : paths) candidate.middles.push_back(path.middle);
        found.push_back(std::move(candidate));
        n_triplets_ += std::ssize(paths);
        if (n_triplets_ > 2 * most_) prune();
    }

    // Two hubs make a cycle of every two neighbours: only those are kept for which there is room.
    void prune() {
        std::stable_sort(found.begin(), found.end(), gains_more);
        std::size_t kept = 0;
        for (n_triplets_ = 0; kept < found.size() && n_triplets_ < most_; ++kept)
            n_triplets_ += std::ssize(found[kept].middles);
        found.erase(found.begin() + static_cast<std::ptrdiff_t>(kept), found.end());
        least_ = found.back().gain;
    }

    // Adds the least that the path costs, for each label of its ends.
    void add(std::int32_t i, std::int32_t j, const Path& path) {
        const std::int64_t rows = graph_.n_labels(i), columns = graph_.n_labels(j), n = graph_.n_labels(path.middle);
        const double *first = graph_.table(path.first), *second = graph_.table(path.second);
        // Strides of a label of the end, and of the middle.
        const auto [k1, m1] = strides(path.first, i);
        const auto [l2, m2] = strides(path.second, j);
        double* out = sum_.data();
        for (std::int64_t k = 0; k < rows; ++k)
            for (std::int64_t l = 0; l < columns; ++l, ++out) {
                double best = kInfinity;
                for (std::int64_t m = 0; m < n; ++m)
                    best = std::min(best, first[k * k1 + m * m1] + second[l * l2 + m * m2]);
                *out += best;
            }
        read += static_cast<double>(rows * columns * n);
    }

    std::pair<std::int64_t, std::int64_t> strides(std::int64_t e, std::int32_t end) const {
        const Triplets::Edge& edge = graph_.edges()[static_cast<std::size_t>(e)];
        const std::int64_t columns = graph_.n_labels(edge.high);
        return edge.low == end ? std::pair(columns, std::int64_t{1}) : std::pair(std::int64_t{1}, columns);
    }

    double product(std::int32_t i, std::int32_t j, std::int32_t k) const {
        return static_cast<double>(graph_.n_labels(i)) * graph_.n_labels(j) * graph_.n_labels(k);
    }

    std::int32_t other_end(std::int64_t e, std::int32_t i) const {
        const Triplets::Edge& edge = graph_.edges()[static_cast<std::size_t>(e)];
        return edge.low == i ? edge.high : edge.low;
    }

    const Triplets& graph_;
    double least_;
    std::int64_t most_, n_triplets_ = 0;
    const StopTest& stop_;
    double next_test_ = 0.0;
    std::vector<double> minima_, sum_;
    std::vector<Path> paths_;
};

}  // namespace

std::vector<Candidate> find_candidates(const Triplets& graph, double least, std::int64_t most, double most_read,
                                       const StopTest& stop, double& read) {
    Finder finder(graph, least, most, stop);
    for (std::int32_t i = 0; i < graph.n_nodes() && read + finder.read < most_read && !(stop && stop()); ++i)
        finder.look_from(i);
    read += finder.read;
    std::stable_sort(finder.found.begin(), finder.found.end(), gains_more);
    return std::move(finder.found);
}

}  // namespace gapcut::infer
