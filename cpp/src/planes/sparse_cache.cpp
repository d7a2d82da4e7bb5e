#include "gapcut/planes/sparse_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace gapcut {
namespace {
constexpr int kEntering = 2;            // planes without mass that a block may bring into the model at once
constexpr std::size_t kJoint = 8;       // planes of a joint model: about so many are enough to end it
constexpr double kDust = 1e-14;         // of the mass: less room is none
constexpr std::int64_t kFullEvery = 5;  // sweeps; the others leave out planes that have had no mass for a while

// sum value[i] w[at[i]], in chains that do not wait for each other: the reads are what takes the time.
double gathered_dot(std::int64_t n, const std::int32_t* __restrict at, const double* __restrict value,
                    const double* __restrict w) {
    constexpr std::int64_t kLanes = 8;
    double sum[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k) sum[k] += value[i + k] * w[at[i + k]];
    for (; i < n; ++i) sum[0] += value[i] * w[at[i]];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}
}  // namespace

SparseRow SparseRow::of(const double* row, std::int64_t dim) {
    SparseRow out;
    const auto count = static_cast<std::size_t>(dim - std::count(row, row + dim, 0.0));
    out.at.reserve(count);
    out.value.reserve(count);
    for (std::int64_t j = 0; j < dim; ++j)
        if (row[j] != 0.0) {
            out.at.push_back(static_cast<std::int32_t>(j));
            out.value.push_back(row[j]);
        }
    return out;
}

double SparseRow::dot(const double* w) const { return gathered_dot(std::ssize(at), at.data(), value.data(), w); }

SparsePlaneCache::SparsePlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes,
                                   std::uint64_t seed)
    : blocks_(static_cast<std::size_t>(blocks)), mass_(mass), box_(std::move(box)), max_planes_(max_planes),
      random_(seed) {
    box_.check();
    if (!(mass > 0.0) || !std::isfinite(mass))
        throw std::invalid_argument("the mass of a block must be positive and finite");
    if (max_planes < 2 * blocks)
        throw std::invalid_argument("the memory cap leaves less than two planes a graph: raise it");
    x_.assign(static_cast<std::size_t>(dim()), 0.0);
    weights_.resize(x_.size());
    scattered_.assign(x_.size(), 0.0);
    direction_.assign(x_.size(), 0.0);
    clamp(box_, x_.data(), weights_.data());
    order_.resize(blocks_.size());
    last_gap_.assign(blocks_.size(), 0.0);
    std::iota(order_.begin(), order_.end(), 0);
}

// x += step * row, and the weights that follow.
void SparsePlaneCache::move(double step, const SparseRow& row) {
    for (std::size_t i = 0; i < row.at.size(); ++i) {
        const auto j = row.at[i];
        x_[j] += step * row.value[i];
        weights_[j] = std::min(std::max(x_[j], box_.lower[j]), box_.upper[j]);
    }
}

// Frees a tenth of the cache: planes without mass, longest unused first; then those with the least mass.
void SparsePlaneCache::make_room() {
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
        auto& block = blocks_[v.block];
        if (block[v.place].mass > 0.0) move(-block[v.place].mass, block[v.place].row);
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(v.place));
        --size_;
    }
}

std::int64_t SparsePlaneCache::add(std::span<const std::int32_t> blocks, const double* planes, const double* losses) {
    std::int64_t added = 0;
    for (std::size_t r = 0; r < blocks.size(); ++r) {
        if (blocks[r] < 0 || blocks[r] >= std::ssize(blocks_))
            throw std::invalid_argument("a block index is out of range");
        auto row = SparseRow::of(planes + static_cast<std::int64_t>(r) * dim(), dim());
        auto& block = blocks_[blocks[r]];
        const bool known = std::any_of(block.begin(), block.end(),
                                       [&](const Plane& p) { return p.loss == losses[r] && p.row == row; });
        if (known || (losses[r] == 0.0 && row.at.empty())) continue;
        if (size_ >= max_planes_) make_room();
        block.push_back({std::move(row), losses[r], 0.0, clock_});
        ++size_;
        ++added;
    }
    return added;
}

// d_p - h_p'w of the planes in play, -inf for the others; returns the gap of the block over them.
double SparsePlaneCache::gradients(Block& block, bool full) const {
    double best = 0.0, paid = 0.0;
    for (auto& plane : block) {
        if (!full && !(plane.mass > 0.0) && plane.used < clock_) {
            plane.gradient = -std::numeric_limits<double>::infinity();
            continue;
        }
        plane.gradient = plane.loss - plane.row.dot(weights_.data());
        best = std::max(best, plane.gradient);
        paid += plane.mass * plane.gradient;
    }
    return mass_ * best - paid;
}

// Adds a block to the model: its planes with mass, and the best of the others if they would take mass from one of
// these or from the slack.
void SparsePlaneCache::choose(Block& block) {
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

// Inner products over the free coordinates, those that move with x.
void SparsePlaneCache::build_gram() {
    const auto m = std::ssize(chosen_);
    model_.gram.resize(static_cast<std::size_t>(m * m));
    for (std::int64_t i = 0; i < m; ++i) {
        const SparseRow& row = chosen_[i]->row;
        for (std::size_t k = 0; k < row.at.size(); ++k) {
            const auto j = row.at[k];
            scattered_[j] = x_[j] > box_.lower[j] && x_[j] < box_.upper[j] ? row.value[k] : 0.0;
        }
        for (std::int64_t k = 0; k <= i; ++k)
            model_.gram[i * m + k] = model_.gram[k * m + i] = chosen_[k]->row.dot(scattered_.data());
        for (const auto j : row.at) scattered_[j] = 0.0;
    }
}

// The direction from the masses to the model's target into part_direction_, over the coordinates moved_; returns its
// ascent.
double SparsePlaneCache::collect_direction() {
    double ascent = 0.0;
    moved_.clear();
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
        const double change = step_.target()[i] - model_.value[i];
        if (change == 0.0) continue;
        const SparseRow& row = chosen_[i]->row;
        for (std::size_t k = 0; k < row.at.size(); ++k) direction_[row.at[k]] += change * row.value[k];
        moved_.insert(moved_.end(), row.at.begin(), row.at.end());
        ascent += change * (model_.gradient[i] - level_[model_.group[i]]);
    }
    part_.lower.clear(), part_.upper.clear(), part_x_.clear(), part_direction_.clear();
    std::size_t kept = 0;
    for (const auto j : moved_) {
        if (direction_[j] == 0.0) continue;  // cancelled, or seen before
        moved_[kept++] = j;
        part_.lower.push_back(box_.lower[j]);
        part_.upper.push_back(box_.upper[j]);
        part_x_.push_back(x_[j]);
        part_direction_.push_back(direction_[j]);
        direction_[j] = 0.0;
    }
    moved_.resize(kept);
    return ascent;
}

// The Newton model on the chosen planes, then an exact line search on the dual itself. Ends the model.
void SparsePlaneCache::newton_step() {
    if (!chosen_.empty()) {
        build_gram();
        step_.solve(model_, mass_);
        const double ascent = collect_direction();
        const double s = line_search(part_, part_x_.data(), part_direction_.data(), ascent, 1.0);
        for (std::size_t i = 0; i < moved_.size(); ++i) {
            const auto j = moved_[i];
            x_[j] += s * part_direction_[i];
            weights_[j] = std::min(std::max(x_[j], box_.lower[j]), box_.upper[j]);
        }
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
double SparsePlaneCache::pass(double tolerance, bool full) {
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

std::int64_t SparsePlaneCache::sweep(double target, std::int64_t most, const StopTest& stop) {
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

DualSums SparsePlaneCache::refresh() {
    DualSums sums;
    std::fill(x_.begin(), x_.end(), 0.0);
    for (auto& block : blocks_) {
        double total = 0.0;
        for (const auto& plane : block) total += plane.mass;
        for (auto& plane : block) {
            if (!(plane.mass > 0.0)) continue;
            if (total > mass_) plane.mass *= mass_ / total;
            for (std::size_t i = 0; i < plane.row.at.size(); ++i)
                x_[plane.row.at[i]] += plane.mass * plane.row.value[i];
            sums.loss += plane.mass * plane.loss;
            ++sums.terms;
        }
    }
    clamp(box_, x_.data(), weights_.data());
    sums.x = x_;
    return sums;
}

void SparsePlaneCache::tick(std::int64_t age) {
    ++clock_;
    for (auto& block : blocks_)
        size_ -= static_cast<std::int64_t>(
            std::erase_if(block, [&](const Plane& p) { return !(p.mass > 0.0) && clock_ - p.used > age; }));
}

}  // namespace gapcut
