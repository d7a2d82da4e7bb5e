#include "gapcut/learn/plane_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "gapcut/learn/vectors.hpp"

namespace gapcut {
namespace {
constexpr int kEntering = 2;            // planes without mass that a block may bring into the model at once
constexpr std::size_t kJoint = 32;      // planes of a joint model: about so many are enough to end it
constexpr double kDust = 1e-14;         // of the mass: less room is none
constexpr std::int64_t kFullEvery = 5;  // sweeps; the others leave out planes that have had no mass for a while
}  // namespace

PlaneCache::PlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes, std::uint64_t seed)
    : blocks_(static_cast<std::size_t>(blocks)), mass_(mass), box_(std::move(box)), max_planes_(max_planes),
      random_(seed) {
    box_.check();
    if (!(mass > 0.0) || !std::isfinite(mass))
        throw std::invalid_argument("the mass of a block must be positive and finite");
    if (max_planes < 2 * blocks)
        throw std::invalid_argument("the memory cap leaves less than two planes a graph: raise it");
    x_.assign(static_cast<std::size_t>(dim()), 0.0);
    weights_.resize(x_.size());
    direction_.resize(x_.size());
    clamp(box_, x_.data(), weights_.data());
    order_.resize(blocks_.size());
    last_gap_.assign(blocks_.size(), 0.0);
    std::iota(order_.begin(), order_.end(), 0);
}

void PlaneCache::drop_mass(const Plane& plane) {
    if (plane.mass > 0.0) move_and_clamp(box_, x_.data(), -plane.mass, plane.row.data(), weights_.data());
}

// Frees a tenth of the cache: planes without mass, longest unused first; then those with the least mass.
void PlaneCache::make_room() {
    struct Victim {
        double mass;
        std::int64_t used;
        std::size_t block, place;
    };
    std::vector<Victim> all;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        for (std::size_t p = 0; p < blocks_[i].size(); ++p)
            all.push_back({blocks_[i][p].mass, blocks_[i][p].used, i, p});
    const auto count = std::max<std::size_t>(1, all.size() / 10);
    std::stable_sort(all.begin(), all.end(), [](const Victim& a, const Victim& b) {
        return a.mass != b.mass ? a.mass < b.mass : a.used < b.used;
    });
    all.resize(std::min(count, all.size()));
    std::sort(all.begin(), all.end(), [](const Victim& a, const Victim& b) {
        return a.block != b.block ? a.block < b.block : a.place > b.place;
    });
    for (const auto& v : all) {
        drop_mass(blocks_[v.block][v.place]);
        blocks_[v.block].erase(blocks_[v.block].begin() + static_cast<std::ptrdiff_t>(v.place));
        --size_;
    }
}

std::int64_t PlaneCache::add(std::span<const std::int32_t> blocks, const double* planes, const double* losses) {
    std::int64_t added = 0;
    for (std::size_t r = 0; r < blocks.size(); ++r) {
        if (blocks[r] < 0 || blocks[r] >= std::ssize(blocks_))
            throw std::invalid_argument("a block index is out of range");
        const double* row = planes + static_cast<std::int64_t>(r) * dim();
        auto& block = blocks_[blocks[r]];
        const bool known = std::any_of(block.begin(), block.end(), [&](const Plane& p) {
            return p.loss == losses[r] && std::equal(p.row.begin(), p.row.end(), row);
        });
        if (known) continue;
        if (losses[r] == 0.0 && std::all_of(row, row + dim(), [](double v) { return v == 0.0; })) continue;
        if (size_ >= max_planes_) make_room();
        block.push_back({std::vector<double>(row, row + dim()), losses[r], 0.0, clock_});
        ++size_;
        ++added;
    }
    return added;
}

// d_p - h_p'w of the planes in play, -inf for the others; returns the gap of the block over them.
double PlaneCache::gradients(Block& block, bool full) const {
    double best = 0.0, paid = 0.0;
    for (auto& plane : block) {
        if (!full && !(plane.mass > 0.0) && plane.used < clock_) {
            plane.gradient = -std::numeric_limits<double>::infinity();
            continue;
        }
        plane.gradient = plane.loss - dot(plane.row.data(), weights_.data(), dim());
        best = std::max(best, plane.gradient);
        paid += plane.mass * plane.gradient;
    }
    return mass_ * best - paid;
}

// Adds a block to the model: its planes with mass, and the best of the others if they would take mass from one of
// these or from the slack.
void PlaneCache::choose(Block& block) {
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

// Inner products over the free coordinates, from rows packed to those coordinates.
void PlaneCache::build_gram() {
    free_coordinates(box_, x_.data(), free_);
    const auto m = std::ssize(chosen_), width = std::ssize(free_);
    packed_.resize(static_cast<std::size_t>(m * width));
    model_.gram.resize(static_cast<std::size_t>(m * m));
    for (std::int64_t i = 0; i < m; ++i) {
        double* row = packed_.data() + i * width;
        for (std::int64_t j = 0; j < width; ++j) row[j] = chosen_[i]->row[free_[j]];
        for (std::int64_t k = 0; k <= i; ++k)
            model_.gram[i * m + k] = model_.gram[k * m + i] = dot(row, packed_.data() + k * width, width);
    }
}

// The Newton model on the chosen planes, then an exact line search on the dual itself. Ends the model.
void PlaneCache::newton_step() {
    if (!chosen_.empty()) {
        build_gram();
        step_.solve(model_, mass_);
        std::fill(direction_.begin(), direction_.end(), 0.0);
        double ascent = 0.0;
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const double change = step_.target()[i] - model_.value[i];
            if (change == 0.0) continue;
            add_scaled(direction_.data(), change, chosen_[i]->row.data(), dim());
            ascent += change * (model_.gradient[i] - level_[model_.group[i]]);
        }
        const double s = line_search(box_, x_.data(), direction_.data(), ascent, 1.0);
        move_and_clamp(box_, x_.data(), s, direction_.data(), weights_.data());
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
double PlaneCache::pass(double tolerance, bool full) {
    double gap = 0.0;
    for (const auto i : order_) {
        const double mine = gradients(blocks_[i], full);
        gap += mine;
        if (std::max(mine, last_gap_[i]) > tolerance) choose(blocks_[i]);
        last_gap_[i] = mine;
        if (chosen_.size() >= kJoint) newton_step();
    }
    newton_step();
    return gap;
}

std::int64_t PlaneCache::sweep(double target, std::int64_t most, const StopTest& stop) {
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

DualSums PlaneCache::refresh() {
    DualSums sums;
    std::fill(x_.begin(), x_.end(), 0.0);
    for (auto& block : blocks_) {
        double total = 0.0;
        for (const auto& plane : block) total += plane.mass;
        for (auto& plane : block) {
            if (!(plane.mass > 0.0)) continue;
            if (total > mass_) plane.mass *= mass_ / total;
            add_scaled(x_.data(), plane.mass, plane.row.data(), dim());
            sums.loss += plane.mass * plane.loss;
            ++sums.terms;
        }
    }
    clamp(box_, x_.data(), weights_.data());
    sums.x = x_;
    return sums;
}

void PlaneCache::tick(std::int64_t age) {
    ++clock_;
    for (auto& block : blocks_)
        size_ -= static_cast<std::int64_t>(
            std::erase_if(block, [&](const Plane& p) { return !(p.mass > 0.0) && clock_ - p.used > age; }));
}

}  // namespace gapcut
