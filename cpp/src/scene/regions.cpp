#include "gapcut/scene/regions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "gapcut/scene/geometry.hpp"

namespace gapcut::scene {
namespace {

constexpr double kOffPlane = 4.0;

class DisjointSets {
  public:
    explicit DisjointSets(std::int64_t n) : parent_(static_cast<std::size_t>(n)) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    std::int32_t root(std::int32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    // The smaller number becomes the root, so that results do not depend on the order of the joins.
    void join(std::int32_t i, std::int32_t j) {
        i = root(i), j = root(j);
        if (i != j) parent_[std::max(i, j)] = std::min(i, j);
    }

  private:
    std::vector<std::int32_t> parent_;
};

enum class Kind : std::uint8_t { smooth, wire, rough };

class Growing {
  public:
    Growing(const RegionCloud& cloud, const RegionSettings& settings)
        : c_(cloud), s_(settings), n_(static_cast<std::int64_t>(cloud.xyz.size()) / 3),
          segment_(static_cast<std::size_t>(n_), -1), step_(static_cast<std::size_t>(n_), 0),
          kind_(static_cast<std::size_t>(n_)), cos_angle_(std::cos(settings.angle)) {
        for (std::int64_t i = 0; i < n_; ++i) kind_[i] = kind_of(i);
    }

    Regions run() {
        claim_components(1, [this](std::int32_t i, std::int32_t j) { return agree(i, j); });
        spread(s_.reach);
        claim_components(3, [this](std::int32_t i, std::int32_t j) { return same_cube(i, j); });
        spread(std::numeric_limits<double>::infinity());
        number();
        return {std::move(segment_), std::move(step_)};
    }

  private:
    Vec3 at(std::int64_t i) const { return {c_.xyz[3 * i], c_.xyz[3 * i + 1], c_.xyz[3 * i + 2]}; }
    static Vec3 row(std::span<const float> v, std::int64_t i) { return {v[3 * i], v[3 * i + 1], v[3 * i + 2]}; }

    Kind kind_of(std::int64_t i) const {
        const Vec3 v = row(c_.variances, i);
        const double sum = v[0] + v[1] + v[2];
        if (!(sum > 0.0)) return Kind::rough;
        if (v[0] - v[1] >= s_.linearity * v[0]) return Kind::wire;
        return v[2] < s_.curvature * sum ? Kind::smooth : Kind::rough;
    }

    bool agree(std::int32_t i, std::int32_t j) const {
        if (kind_[i] != kind_[j] || kind_[i] == Kind::rough) return false;
        const bool smooth = kind_[i] == Kind::smooth;
        const Vec3 a = row(smooth ? c_.normals : c_.axes, i), b = row(smooth ? c_.normals : c_.axes, j);
        if (!(std::abs(dot(a, b)) >= cos_angle_)) return false;
        const Vec3 v = minus(at(j), at(i));
        const auto off = [&](const Vec3& d) {
            const double along = std::abs(dot(v, d));
            return smooth ? along : std::sqrt(std::max(0.0, dot(v, v) - along * along));
        };
        return off(a) <= s_.offset && off(b) <= s_.offset;
    }

    bool same_cube(std::int32_t i, std::int32_t j) const {
        const Vec3 a = at(i), b = at(j);
        for (std::size_t k = 0; k < 3; ++k)
            if (std::floor(a[k] / s_.extent) != std::floor(b[k] / s_.extent)) return false;
        return true;
    }

    double step(std::int32_t i, std::int32_t j) const {
        const Vec3 v = minus(at(j), at(i));
        const double length = std::sqrt(dot(v, v));
        return kind_[i] == Kind::smooth ? length + kOffPlane * std::abs(dot(v, row(c_.normals, i))) : length;
    }

    template <class F>
    void for_arcs(F&& f) const {
        for (std::int64_t i = 0; i < n_; ++i)
            for (const std::int32_t j : c_.neighbours.subspan(i * c_.k, c_.k))
                if (j >= 0 && j < n_ && j != i) f(static_cast<std::int32_t>(i), j);
    }

    // Components of the unclaimed points under arcs for which joined() holds; the large ones become segments, named by
    // their first point.
    template <class F>
    void claim_components(std::int8_t step, F&& joined) {
        DisjointSets sets(n_);
        for_arcs([&](std::int32_t i, std::int32_t j) {
            if (segment_[i] < 0 && segment_[j] < 0 && joined(i, j)) sets.join(i, j);
        });
        std::vector<std::int64_t> size(static_cast<std::size_t>(n_), 0);
        for (std::int32_t i = 0; i < n_; ++i)
            if (segment_[i] < 0) ++size[sets.root(i)];
        for (std::int32_t i = 0; i < n_; ++i)
            if (segment_[i] < 0 && size[sets.root(i)] >= s_.least) segment_[i] = sets.root(i), step_[i] = step;
    }

    // Unclaimed points take the segment that is nearest along the graph (arcs used both ways), if it is within reach.
    void spread(double reach) {
        std::vector<std::int64_t> start(static_cast<std::size_t>(n_ + 1), 0);
        const auto for_open = [&](auto&& f) {
            for_arcs([&](std::int32_t i, std::int32_t j) {
                if (segment_[i] < 0) f(j, i);
                if (segment_[j] < 0) f(i, j);
            });
        };
        for_open([&](std::int32_t from, std::int32_t) { ++start[from + 1]; });
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<std::int32_t> to(static_cast<std::size_t>(start.back()));
        std::vector<std::int64_t> next(start.begin(), start.end() - 1);
        for_open([&](std::int32_t from, std::int32_t open) { to[next[from]++] = open; });

        using Entry = std::tuple<double, std::int32_t, std::int32_t>;  // path length, segment, point
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        std::vector<double> best(static_cast<std::size_t>(n_), std::numeric_limits<double>::infinity());
        const auto expand = [&](std::int32_t i, double length, std::int32_t segment) {
            for (std::int64_t e = start[i]; e < start[i + 1]; ++e) {
                const double total = length + step(i, to[e]);
                if (segment_[to[e]] >= 0 || total > reach || total > best[to[e]]) continue;
                best[to[e]] = total;
                queue.emplace(total, segment, to[e]);
            }
        };
        for (std::int32_t i = 0; i < n_; ++i)
            if (segment_[i] >= 0 && start[i] < start[i + 1]) expand(i, 0.0, segment_[i]);
        while (!queue.empty()) {
            const auto [length, segment, point] = queue.top();
            queue.pop();
            if (segment_[point] >= 0) continue;
            segment_[point] = segment;
            expand(point, length, segment);
        }
    }

    void number() {
        std::vector<std::int32_t> number_of(static_cast<std::size_t>(n_), -1);
        std::int32_t count = 0;
        for (std::int32_t& s : segment_) {
            if (s < 0) continue;
            if (number_of[s] < 0) number_of[s] = count++;
            s = number_of[s];
        }
    }

    const RegionCloud& c_;
    const RegionSettings& s_;
    std::int64_t n_;
    std::vector<std::int32_t> segment_;
    std::vector<std::int8_t> step_;
    std::vector<Kind> kind_;
    double cos_angle_;
};

}  // namespace

Regions grow_regions(const RegionCloud& cloud, const RegionSettings& settings) {
    const std::size_t size = cloud.xyz.size();
    if (size % 3 != 0 || cloud.normals.size() != size || cloud.axes.size() != size || cloud.variances.size() != size)
        throw std::invalid_argument("points, normals, axes and variances must have three values a point");
    if (size / 3 > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("more than 2,147,483,647 points: split the cloud");
    if (static_cast<std::int64_t>(cloud.neighbours.size()) != cloud.k * static_cast<std::int64_t>(size / 3))
        throw std::invalid_argument("neighbour ids must be k a point");
    return Growing(cloud, settings).run();
}

}  // namespace gapcut::scene
