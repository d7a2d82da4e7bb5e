#include "gapcut/planes/plane_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace gapcut {
namespace {
constexpr int kEntering = 2;            // planes without mass that a block may bring into the model at once
constexpr double kDust = 1e-14;         // of the mass: less room is none
constexpr std::int64_t kFullEvery = 5;  // sweeps; the others leave out planes that have had no mass for a while
}  // namespace

template <class Point>
PlaneCache<Point>::PlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes, std::uint64_t seed)
    : blocks_(static_cast<std::size_t>(blocks)), mass_(mass), point_(std::move(box)), max_planes_(max_planes),
      random_(seed), last_gap_(blocks_.size(), 0.0), order_(blocks_.size()) {
    if (!(mass > 0.0) || !std::isfinite(mass))
        throw std::invalid_argument("the mass of a block must be positive and finite");
    if (max_planes < 2 * blocks)
        throw std::invalid_argument("the memory cap leaves less than two planes a graph: raise it");
    std::iota(order_.begin(), order_.end(), 0);
}

// Frees a tenth of the cache: planes without mass, longest unused first; then those with the least mass.
template <class Point>
void PlaneCache<Point>::make_room() {
    struct Victim {
        double mass;
        std::int64_t used;
        std::size_t block, place;
    };
    std::vector<Victim> all;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        for (std::size_t p = 0; p < blocks_[i].size(); ++p)
            all.push_back({blocks_[i][p].mass, blocks_[i][p].used, i, p});
    std::stable_sort(all.begin(), all.end(), [](const Victim& a, const Victim& b) {
        return a.mass != b.mass ? a.mass < b.mass : a.used < b.used;
    });
    all.resize(std::max<std::size_t>(1, all.size() / 10));
    std::sort(all.begin(), all.end(), [](const Victim& a, const Victim& b) {
        return a.block != b.block ? a.block < b.block : a.place > b.place;
    });
    for (const auto& v : all) {
        Block& block = blocks_[v.block];
        if (v.mass > 0.0) point_.move(-v.mass, block[v.place].row);
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(v.place));
        --size_;
    }
}

template <class Point>
std::int64_t PlaneCache<Point>::add(std::span<const std::int32_t> blocks, const double* planes, const double* losses) {
    std::int64_t added = 0;
    for (std::size_t r = 0; r < blocks.size(); ++r, ++given_) {
        if (blocks[r] < 0 || blocks[r] >= std::ssize(blocks_))
            throw std::invalid_argument("a block index is out of range");
        Row row = point_.row(planes + static_cast<std::int64_t>(r) * dim());
        Block& block = blocks_[blocks[r]];
        const auto known =
            std::ranges::find_if(block, [&](const Plane& p) { return p.loss == losses[r] && p.row == row; });
        same_as_.push_back(known == block.end() ? given_ : known->given);
        if (known != block.end() || (losses[r] == 0.0 && Point::is_zero(row))) continue;
        if (size_ >= max_planes_) make_room();
        block.push_back({std::move(row), losses[r], 0.0, clock_, given_});
        ++size_;
        ++added;
    }
    return added;
}

template <class Point>
std::vector<double> PlaneCache<Point>::masses() const {
    std::vector<double> all(static_cast<std::size_t>(given_), 0.0);
    for (const Block& block : blocks_)
        for (const Plane& plane : block) all[plane.given] = plane.mass;
    return all;
}

template <class Point>
void PlaneCache<Point>::set_masses(std::span<const double> masses) {
    if (std::ssize(masses) != given_) throw std::invalid_argument("one mass for each row is needed");
    std::vector<double> sums(masses.size(), 0.0);
    for (std::int64_t row = 0; row < given_; ++row) sums[same_as_[row]] += masses[row];
    for (Block& block : blocks_)
        for (Plane& plane : block) plane.mass = sums[plane.given];
    refresh();
}

// d_p - h_p'w of the planes in play, -inf for the others; returns the gap of the block over them.
template <class Point>
double PlaneCache<Point>::gradients(Block& block, bool full) const {
    double best = 0.0, paid = 0.0;
    for (auto& plane : block) {
        if (!full && !(plane.mass > 0.0) && plane.used < clock_) {
            plane.gradient = -std::numeric_limits<double>::infinity();
            continue;
        }
        plane.gradient = plane.loss - point_.slope(plane.row);
        best = std::max(best, plane.gradient);
        paid += plane.mass * plane.gradient;
    }
    return mass_ * best - paid;
}

// Adds a block to the model: its planes with mass, and the best of the others if they would take mass from one of
// these or from the slack.
template <class Point>
void PlaneCache<Point>::choose(Block& block) {
    const auto first = chosen_.size();
    double worst = std::numeric_limits<double>::infinity(), best = 0.0, sum = 0.0;
    for (auto& plane : block) {
        best = std::max(best, plane.gradient);
        if (!(plane.mass > 0.0)) continue;
        chosen_.push_back(&plane);
        worst = std::min(worst, plane.gradient);
        sum += plane.mass;
    }
    const double room = mass_ - sum > kDust * mass_ ? mass_ - sum : 0.0;
    if (room > 0.0) worst = std::min(worst, 0.0);
    for (int k = 0; k < kEntering; ++k) {
        Plane* next = nullptr;
        for (auto& plane : block) {
            const bool candidate = !(plane.mass > 0.0) && plane.gradient > worst;
            if (candidate && (!next || plane.gradient > next->gradient) &&
                std::find(chosen_.begin() + static_cast<std::ptrdiff_t>(first), chosen_.end(), &plane) == chosen_.end())
                next = &plane;
        }
        if (!next) break;
        chosen_.push_back(next);
    }
    const auto group = static_cast<std::int32_t>(model_.room.size());
    model_.room.push_back(room);
    level_.push_back(room > 0.0 ? 0.0 : best);
    for (auto i = first; i < chosen_.size(); ++i) {
        model_.gradient.push_back(chosen_[i]->gradient);
        model_.value.push_back(chosen_[i]->mass);
        model_.group.push_back(group);
    }
}

// The Newton model on the chosen planes, then an exact line search on the dual itself. Ends the model.
template <class Point>
void PlaneCache<Point>::newton_step() {
    if (!chosen_.empty()) {
        rows_.clear();
        for (const Plane* plane : chosen_) rows_.push_back(&plane->row);
        point_.gram(rows_, model_.gram);
        step_.solve(model_, mass_);
        double ascent = 0.0;
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const double change = step_.target()[i] - model_.value[i];
            if (change == 0.0) continue;
            point_.add_direction(change, chosen_[i]->row);
            ascent += change * (model_.gradient[i] - level_[model_.group[i]]);
        }
        const double s = point_.search(ascent);
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            auto& plane = *chosen_[i];
            plane.mass = s == 1.0 ? step_.target()[i] : plane.mass + s * (step_.target()[i] - model_.value[i]);
            plane.mass = std::max(0.0, plane.mass);
            if (plane.mass > 0.0) plane.used = clock_;
        }
    }
    chosen_.clear();
    level_.clear();
    model_.clear();
}

// One visit of every block; returns the sum of their gaps as met. A block that has just come to rest is in the model
// once more: where two blocks nearly cancel, the optimum of each follows the other, and taking turns would crawl.
template <class Point>
double PlaneCache<Point>::pass(double tolerance, bool full) {
    double gap = 0.0;
    for (const auto i : order_) {
        const double mine = gradients(blocks_[i], full);
        gap += mine;
        if (std::max(mine, last_gap_[i]) > tolerance) choose(blocks_[i]);
        last_gap_[i] = mine;
        if (chosen_.size() >= Point::kJoint) newton_step();
    }
    newton_step();
    return gap;
}

template <class Point>
std::int64_t PlaneCache<Point>::sweep(double target, std::int64_t most, const StopTest& stop) {
    const double tolerance = 0.2 * target / static_cast<double>(blocks_.size());
    for (std::int64_t k = 0; k < most; ++k) {
        if (stop && stop()) throw Interrupted();
        const bool full = k % kFullEvery == 0;
        random_.shuffle(order_);
        const double gap = pass(tolerance, full);
        if (full && gap <= target) return k + 1;
    }
    return most;
}

template <class Point>
DualSums PlaneCache<Point>::refresh() {
    DualSums sums;
    point_.clear();
    for (auto& block : blocks_) {
        double total = 0.0;
        for (const auto& plane : block) total += plane.mass;
        for (auto& plane : block) {
            if (!(plane.mass > 0.0)) continue;
            if (total > mass_) plane.mass *= mass_ / total;
            point_.add(plane.mass, plane.row);
            sums.loss += plane.mass * plane.loss;
            ++sums.terms;
        }
    }
    point_.clamp_weights();
    sums.x = point_.x();
    return sums;
}

template <class Point>
void PlaneCache<Point>::tick(std::int64_t age) {
    ++clock_;
    for (auto& block : blocks_)
        size_ -= static_cast<std::int64_t>(
            std::erase_if(block, [&](const Plane& p) { return !(p.mass > 0.0) && clock_ - p.used > age; }));
}

template class PlaneCache<DensePoint>;
template class PlaneCache<SparsePoint>;

}  // namespace gapcut
