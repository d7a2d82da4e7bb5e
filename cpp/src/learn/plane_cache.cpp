#include "gapcut/learn/plane_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace gapcut {
namespace {
constexpr std::size_t kEntering = 2;       // planes without mass that may join a block's model at once
constexpr double kDust = 1e-14;            // of the mass: less is nothing
constexpr std::int64_t kFullEvery = 5;     // sweeps; the others leave out planes that have had no mass for a while
}  // namespace

PlaneCache::PlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes, std::uint64_t seed)
    : blocks_(static_cast<std::size_t>(blocks)), mass_(mass), box_(std::move(box)), max_planes_(max_planes), random_(seed) {
    box_.check();
    if (!(mass > 0.0) || !std::isfinite(mass)) throw std::invalid_argument("the mass of a block must be positive and finite");
    if (max_planes < 2 * blocks) throw std::invalid_argument("the memory cap leaves less than two planes a graph: raise it");
    x_.assign(static_cast<std::size_t>(dim()), 0.0);
    weights_.resize(x_.size());
    direction_.resize(x_.size());
    clamp(box_, x_.data(), weights_.data());
    order_.resize(blocks_.size());
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
        for (std::size_t p = 0; p < blocks_[i].size(); ++p) all.push_back({blocks_[i][p].mass, blocks_[i][p].used, i, p});
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
        if (blocks[r] < 0 || blocks[r] >= std::ssize(blocks_)) throw std::invalid_argument("a block index is out of range");
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
double PlaneCache::gradients(const Block& block, bool full) {
    gradient_.resize(block.size());
    double best = 0.0, paid_now = 0.0;
    for (std::size_t p = 0; p < block.size(); ++p) {
        if (!full && !(block[p].mass > 0.0) && block[p].used < clock_) {
            gradient_[p] = -std::numeric_limits<double>::infinity();
            continue;
        }
        gradient_[p] = block[p].loss - dot(block[p].row.data(), weights_.data(), dim());
        best = std::max(best, gradient_[p]);
        paid_now += block[p].mass * gradient_[p];
    }
    return mass_ * best - paid_now;
}

// Planes with mass, and the best of the others if they would take mass from one of these or from the slack.
void PlaneCache::choose(const Block& block) {
    chosen_.clear();
    double worst = std::numeric_limits<double>::infinity(), sum = 0.0;
    for (std::size_t p = 0; p < block.size(); ++p)
        if (block[p].mass > 0.0) {
            chosen_.push_back(static_cast<std::int32_t>(p));
            worst = std::min(worst, gradient_[p]);
            sum += block[p].mass;
        }
    if (sum < mass_) worst = std::min(worst, 0.0);
    const auto massive = chosen_.size();
    for (std::size_t k = 0; k < kEntering; ++k) {
        std::int32_t best = -1;
        for (std::size_t p = 0; p < block.size(); ++p) {
            const auto taken = std::find(chosen_.begin() + static_cast<std::ptrdiff_t>(massive), chosen_.end(), p);
            if (!(block[p].mass > 0.0) && gradient_[p] > worst && taken == chosen_.end() &&
                (best < 0 || gradient_[p] > gradient_[best]))
                best = static_cast<std::int32_t>(p);
        }
        if (best < 0) break;
        chosen_.push_back(best);
    }
}

// The Newton model on the chosen planes over the free coordinates, then an exact line search on the dual itself.
void PlaneCache::newton_step(Block& block) {
    choose(block);
    const auto m = std::ssize(chosen_), width = std::ssize(free_);
    if (m == 0) return;
    packed_.resize(static_cast<std::size_t>(m * width));
    gram_.resize(static_cast<std::size_t>(m * m));
    chosen_gradient_.resize(static_cast<std::size_t>(m));
    value_.resize(static_cast<std::size_t>(m));
    double sum = 0.0;
    for (std::int64_t i = 0; i < m; ++i) {
        const auto& plane = block[chosen_[i]];
        double* row = packed_.data() + i * width;
        for (std::int64_t j = 0; j < width; ++j) row[j] = plane.row[free_[j]];
        for (std::int64_t k = 0; k <= i; ++k)
            gram_[i * m + k] = gram_[k * m + i] = dot(row, packed_.data() + k * width, width);
        chosen_gradient_[i] = gradient_[chosen_[i]];
        value_[i] = plane.mass;
        sum += plane.mass;
    }
    const double room = mass_ - sum > kDust * mass_ ? mass_ - sum : 0.0;
    model_.solve(gram_, chosen_gradient_, value_, room, mass_);
    std::fill(direction_.begin(), direction_.end(), 0.0);
    const double level = room > 0.0 ? 0.0 : *std::max_element(chosen_gradient_.begin(), chosen_gradient_.end());
    double ascent = 0.0;
    for (std::int64_t i = 0; i < m; ++i) {
        const double change = model_.target()[i] - value_[i];
        if (change == 0.0) continue;
        add_scaled(direction_.data(), change, block[chosen_[i]].row.data(), dim());
        ascent += change * (chosen_gradient_[i] - level);
    }
    const double s = line_search(box_, x_.data(), direction_.data(), ascent, 1.0);
    move_and_clamp(box_, x_.data(), s, direction_.data(), weights_.data());
    for (std::int64_t i = 0; i < m; ++i) {
        auto& plane = block[chosen_[i]];
        plane.mass = s == 1.0 ? model_.target()[i] : plane.mass + s * (model_.target()[i] - value_[i]);
        if (plane.mass < 0.0) plane.mass = 0.0;
        if (plane.mass > 0.0) plane.used = clock_;
    }
}

double PlaneCache::visit(Block& block, int steps, double tolerance, bool full) {
    double first = 0.0;
    for (int step = 0; step < steps; ++step) {
        const double gap = gradients(block, full);
        if (step == 0) first = gap;
        if (!(gap > tolerance)) break;
        newton_step(block);
    }
    return first;
}

double PlaneCache::pass(std::span<const std::int32_t> blocks, int steps, double tolerance, bool full) {
    double gap = 0.0;
    free_coordinates(box_, x_.data(), free_);
    for (const auto i : blocks) gap += visit(blocks_[i], steps, tolerance, full);
    return gap;
}

std::int64_t PlaneCache::sweep(double target, std::int64_t most, const StopTest& stop) {
    const double tolerance = 0.2 * target / static_cast<double>(blocks_.size());
    for (std::int64_t k = 0; k < most; ++k) {
        if (stop && stop()) throw Interrupted();
        const bool full = k % kFullEvery == 0;
        random_.shuffle(order_);
        const double gap = pass(order_, 1, tolerance, full);
        if (full && gap <= target) return k + 1;
    }
    return most;
}

DualSums PlaneCache::refresh() {
    DualSums sums;
    std::fill(x_.begin(), x_.end(), 0.0);
    for (auto& block : blocks_) {
        double total = 0.0;
        for (auto& plane : block) {
            if (plane.mass < kDust * mass_) plane.mass = 0.0;
            total += plane.mass;
        }
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
