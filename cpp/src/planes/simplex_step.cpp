#include "gapcut/planes/simplex_step.hpp"

#include <algorithm>
#include <cmath>

#include "gapcut/linear/vectors.hpp"

namespace gapcut {
namespace {
constexpr double kOptimal = 1e-13;  // of the largest gradient: below it a multiplier counts as zero
constexpr double kLevel = 1e-11;    // of the largest gradient: how equal gradients must be at an optimum
constexpr int kRefinements = 3;
}  // namespace

void SimplexModel::clear() {
    gram.clear();
    gradient.clear();
    value.clear();
    group.clear();
    room.clear();
}

void SimplexStep::prepare(const SimplexModel& model, double mass, double ridge) {
    m_ = std::ssize(model.gradient);
    gram_ = model.gram.data();
    group_ = model.group.data();
    room_ = model.room;
    capped_.resize(room_.size());
    for (std::size_t g = 0; g < room_.size(); ++g) capped_[g] = !(room_[g] > 0.0);
    multiplier_.assign(room_.size(), 0.0);
    target_ = model.value;
    cap_ = room_;
    for (std::int64_t i = 0; i < m_; ++i) cap_[group_[i]] += target_[i];
    residual_ = model.gradient;
    double diagonal = 0.0;
    steepest_ = 0.0;
    for (std::int64_t i = 0; i < m_; ++i) {
        diagonal = std::max(diagonal, gram_[i * m_ + i]);
        steepest_ = std::max(steepest_, std::abs(residual_[i]));
    }
    ridge_ = ridge * diagonal + 1e-12 * (steepest_ / mass);
    tolerance_ = kOptimal * steepest_;
    factor_.reset(m_);
    in_.clear();
    member_.assign(static_cast<std::size_t>(m_), 0);
    for (std::int64_t i = 0; i < m_; ++i)
        if (target_[i] > 0.0) {
            in_.push_back(static_cast<std::int32_t>(i));
            member_[i] = 1;
        }
}

void SimplexStep::factor() {
    for (auto i = factor_.size(); i < std::ssize(in_); ++i) {
        const double* source = gram_ + in_[i] * m_;
        factor_.append([&](std::int64_t j) { return source[in_[j]]; }, source[in_[i]] + ridge_, 0.5 * ridge_);
    }
}

// Newton step on the planes of in_, with the sums held where caps are met; their multipliers are the caps'.
void SimplexStep::direction() {
    factor();
    const auto count = std::ssize(in_);
    held_.clear();
    std::fill(multiplier_.begin(), multiplier_.end(), 0.0);
    members_.assign(room_.size(), 0);
    for (const auto i : in_)
        if (const auto g = group_[i]; capped_[g]) {
            if (members_[g]++ == 0) held_.push_back(g);
            multiplier_[g] += residual_[i];
        }
    // the mean gradient of a held group is most of its multiplier: without it the solves below need not cancel it
    for (const auto g : held_) multiplier_[g] /= static_cast<double>(members_[g]);
    step_.resize(in_.size());
    for (std::int64_t i = 0; i < count; ++i) step_[i] = residual_[in_[i]] - multiplier_[group_[in_[i]]];
    factor_.solve(step_.data());
    hold_sums();
}

// step -= M^-1 E lambda with E' step = what is missing to the cap by rounding, E the indicators of the groups held
// (Schur complement).
void SimplexStep::hold_sums() {
    const auto count = std::ssize(in_);
    const auto held = std::ssize(held_);
    ones_.assign(static_cast<std::size_t>(held * count), 0.0);
    schur_.assign(static_cast<std::size_t>(held * held), 0.0);
    sums_.assign(static_cast<std::size_t>(held), 0.0);
    const auto place = [&](std::int64_t i) {
        return std::find(held_.begin(), held_.end(), group_[in_[i]]) - held_.begin();
    };
    for (std::int64_t i = 0; i < count; ++i)
        if (const auto q = place(i); q < held) {
            ones_[q * count + i] = 1.0;
            sums_[q] += step_[i];
        }
    for (std::int64_t q = 0; q < held; ++q) sums_[q] -= missing(held_[q]);
    for (std::int64_t q = 0; q < held; ++q) {
        factor_.solve(ones_.data() + q * count);
        for (std::int64_t i = 0; i < count; ++i)
            if (const auto r = place(i); r < held) schur_[q * held + r] += ones_[q * count + i];
    }
    schur_factor_.reset(held);
    for (std::int64_t q = 0; q < held; ++q)
        schur_factor_.append([&](std::int64_t r) { return schur_[q * held + r]; }, schur_[q * held + q], 1e-300);
    schur_factor_.solve(sums_.data());
    for (std::int64_t q = 0; q < held; ++q) {
        multiplier_[held_[q]] += sums_[q];
        add_scaled(step_.data(), -sums_[q], ones_.data() + q * count, count);
    }
}

void SimplexStep::leave(std::size_t position) {
    target_[in_[position]] = 0.0;
    member_[in_[position]] = 0;
    in_.erase(in_.begin() + static_cast<std::ptrdiff_t>(position));
    factor_.truncate(static_cast<std::int64_t>(position));
}

// Walks along the step until it ends or a constraint stops it. True if it walked to the end.
bool SimplexStep::advance() {
    double length = 1.0;
    std::ptrdiff_t blocking = -1, cap = -1;
    total_.assign(room_.size(), 0.0);
    for (std::size_t i = 0; i < in_.size(); ++i) {
        total_[group_[in_[i]]] += step_[i];
        if (step_[i] < 0.0 && target_[in_[i]] < -length * step_[i]) {
            length = target_[in_[i]] / -step_[i];
            blocking = static_cast<std::ptrdiff_t>(i);
        }
    }
    for (std::size_t g = 0; g < room_.size(); ++g)
        if (!capped_[g] && total_[g] > 0.0 && room_[g] < length * total_[g]) {
            length = room_[g] / total_[g];
            cap = static_cast<std::ptrdiff_t>(g);
        }
    for (std::size_t i = 0; i < in_.size(); ++i) {
        const double move = length * step_[i];
        target_[in_[i]] = std::max(0.0, target_[in_[i]] + move);
        add_scaled(residual_.data(), -move, gram_ + in_[i] * m_, m_);
        residual_[in_[i]] -= ridge_ * move;
    }
    for (std::size_t g = 0; g < room_.size(); ++g)
        if (!capped_[g]) room_[g] = std::max(0.0, room_[g] - length * total_[g]);
    if (cap >= 0) {
        capped_[cap] = 1;
        room_[cap] = 0.0;
    } else if (blocking >= 0) {
        leave(static_cast<std::size_t>(blocking));
    }
    return cap < 0 && blocking < 0;
}

// The model gradient anew: long steps along flat directions leave rounding behind in the running one.
void SimplexStep::refresh(const SimplexModel& model) {
    residual_ = model.gradient;
    for (std::int64_t i = 0; i < m_; ++i) {
        const double change = target_[i] - model.value[i];
        if (change == 0.0) continue;
        add_scaled(residual_.data(), -change, gram_ + i * m_, m_);
        residual_[i] -= ridge_ * change;
    }
}

// Whether the step has made the gradients on in_ what they should be, those of the multipliers; a nearly singular gram
// may need the step again.
bool SimplexStep::level() const {
    return std::all_of(in_.begin(), in_.end(), [this](std::int32_t i) {
        return std::abs(residual_[i] - multiplier_[group_[i]]) <= kLevel * steepest_;
    });
}

// At the optimum over in_: lifts the cap, or lets in the plane, with the worst multiplier. False if optimal.
bool SimplexStep::activate() {
    double worst = tolerance_;
    std::int64_t entering = -1, lifted = -1;
    for (std::size_t g = 0; g < room_.size(); ++g)
        if (capped_[g] && -multiplier_[g] > worst) {
            worst = -multiplier_[g];
            lifted = static_cast<std::int64_t>(g);
        }
    for (std::int64_t i = 0; i < m_; ++i)
        if (const double excess = residual_[i] - multiplier_[group_[i]]; !member_[i] && excess > worst) {
            worst = excess;
            entering = i;
        }
    if (entering >= 0) {
        member_[entering] = 1;
        in_.push_back(static_cast<std::int32_t>(entering));
    } else if (lifted >= 0) {
        capped_[lifted] = 0;
    }
    return entering >= 0 || lifted >= 0;
}

void SimplexStep::solve(const SimplexModel& model, double mass, double ridge) {
    prepare(model, mass, ridge);
    const std::int64_t limit = 4 * m_ + 20;  // far above what occurs; the caller's line search guards the rest
    int refined = 0;
    for (std::int64_t round = 0; round < limit; ++round) {
        direction();
        const bool ended = advance();
        if (ended) refresh(model);
        if (ended && refined < kRefinements && !level()) {
            ++refined;
            continue;
        }
        refined = 0;
        if (ended && !activate()) break;
    }
    settle_sums();
}

double SimplexStep::missing(std::int32_t group) const {
    double rest = cap_[group];
    for (std::int64_t i = 0; i < m_; ++i)
        if (group_[i] == group) rest -= target_[i];
    return rest;
}

// Where the gram is nearly singular the held sums drift; a target of less than the cap can be one of descent. The
// largest mass of the group takes the last difference.
void SimplexStep::settle_sums() {
    for (std::size_t g = 0; g < room_.size(); ++g) {
        if (!capped_[g]) continue;
        std::int64_t largest = -1;
        for (std::int64_t i = 0; i < m_; ++i)
            if (group_[i] == static_cast<std::int32_t>(g) && (largest < 0 || target_[i] > target_[largest]))
                largest = i;
        if (largest >= 0) target_[largest] = std::max(0.0, target_[largest] + missing(static_cast<std::int32_t>(g)));
    }
}

}  // namespace gapcut
