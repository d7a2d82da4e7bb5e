#include "gapcut/learn/simplex_step.hpp"

#include <algorithm>
#include <cmath>

#include "gapcut/learn/box.hpp"

namespace gapcut {
namespace {
constexpr double kOptimal = 1e-13;  // of the largest gradient: below it a multiplier counts as zero
}  // namespace

void SimplexStep::prepare(const std::vector<double>& gram, const std::vector<double>& gradient,
                          const std::vector<double>& value, double room, double mass, double ridge) {
    m_ = static_cast<std::int64_t>(gradient.size());
    gram_ = gram.data();
    room_ = room;
    capped_ = !(room > 0.0);
    target_ = value;
    residual_ = gradient;
    double diagonal = 0.0, steepest = 0.0;
    for (std::int64_t i = 0; i < m_; ++i) {
        diagonal = std::max(diagonal, gram_[i * m_ + i]);
        steepest = std::max(steepest, std::abs(gradient[i]));
    }
    ridge_ = ridge * diagonal + 1e-12 * (steepest / mass);
    tolerance_ = kOptimal * steepest;
    factor_.resize(static_cast<std::size_t>(m_ * m_));
    factored_ = 0;
    in_.clear();
    member_.assign(static_cast<std::size_t>(m_), 0);
    for (std::int64_t i = 0; i < m_; ++i)
        if (value[i] > 0.0) {
            in_.push_back(static_cast<std::int32_t>(i));
            member_[i] = 1;
        }
}

void SimplexStep::factor() {
    for (std::size_t i = factored_; i < in_.size(); ++i) {
        double* row = factor_.data() + static_cast<std::int64_t>(i) * m_;
        const double* source = gram_ + in_[i] * m_;
        for (std::size_t j = 0; j < i; ++j) {
            const double* other = factor_.data() + static_cast<std::int64_t>(j) * m_;
            row[j] = (source[in_[j]] - dot(row, other, static_cast<std::int64_t>(j))) / other[j];
        }
        const double pivot = source[in_[i]] + ridge_ - dot(row, row, static_cast<std::int64_t>(i));
        row[i] = std::sqrt(std::max(pivot, 0.5 * ridge_));
    }
    factored_ = in_.size();
}

void SimplexStep::back_solve(std::vector<double>& rhs) const {
    const auto count = static_cast<std::int64_t>(in_.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const double* row = factor_.data() + i * m_;
        rhs[i] = (rhs[i] - dot(row, rhs.data(), i)) / row[i];
    }
    for (std::int64_t i = count - 1; i >= 0; --i) {
        const double* row = factor_.data() + i * m_;
        rhs[i] /= row[i];
        for (std::int64_t j = 0; j < i; ++j) rhs[j] -= row[j] * rhs[i];
    }
}

// Newton step on the planes of in_, with the sum held where the cap is met; its multiplier is the cap's.
void SimplexStep::direction() {
    factor();
    const auto count = in_.size();
    step_.resize(count);
    for (std::size_t i = 0; i < count; ++i) step_[i] = residual_[in_[i]];
    back_solve(step_);
    multiplier_ = 0.0;
    if (!capped_) return;
    ones_.assign(count, 1.0);
    back_solve(ones_);
    double along = 0.0, total = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        along += step_[i];
        total += ones_[i];
    }
    if (total > 0.0) multiplier_ = along / total;
    for (std::size_t i = 0; i < count; ++i) step_[i] -= multiplier_ * ones_[i];
}

void SimplexStep::leave(std::size_t position) {
    target_[in_[position]] = 0.0;
    member_[in_[position]] = 0;
    in_.erase(in_.begin() + static_cast<std::ptrdiff_t>(position));
    factored_ = std::min(factored_, position);
}

// Walks along the step until it ends or a constraint stops it. True if it walked to the end.
bool SimplexStep::advance() {
    double length = 1.0, total = 0.0;
    std::ptrdiff_t blocking = -1;
    bool meets_cap = false;
    for (std::size_t i = 0; i < in_.size(); ++i) {
        total += step_[i];
        if (step_[i] < 0.0 && target_[in_[i]] < -length * step_[i]) {
            length = target_[in_[i]] / -step_[i];
            blocking = static_cast<std::ptrdiff_t>(i);
        }
    }
    if (!capped_ && total > 0.0 && room_ < length * total) {
        length = room_ / total;
        meets_cap = true;
    }
    for (std::size_t i = 0; i < in_.size(); ++i) {
        const double move = length * step_[i];
        target_[in_[i]] = std::max(0.0, target_[in_[i]] + move);
        add_scaled(residual_.data(), -move, gram_ + in_[i] * m_, m_);
        residual_[in_[i]] -= ridge_ * move;
    }
    if (meets_cap) {
        capped_ = true;
        room_ = 0.0;
    } else if (!capped_) {
        room_ = std::max(0.0, room_ - length * total);
    }
    if (!meets_cap && blocking >= 0) leave(static_cast<std::size_t>(blocking));
    return !meets_cap && blocking < 0;
}

// At the optimum over in_: lets in the plane with the worst multiplier, or lifts the cap. False if optimal.
bool SimplexStep::activate() {
    double worst = multiplier_ + tolerance_;
    std::int64_t entering = -1;
    for (std::int64_t i = 0; i < m_; ++i)
        if (!member_[i] && residual_[i] > worst) {
            worst = residual_[i];
            entering = i;
        }
    if (capped_ && multiplier_ < -tolerance_) {
        capped_ = false;
        return true;
    }
    if (entering < 0) return false;
    member_[entering] = 1;
    in_.push_back(static_cast<std::int32_t>(entering));
    return true;
}

void SimplexStep::solve(const std::vector<double>& gram, const std::vector<double>& gradient,
                        const std::vector<double>& value, double room, double mass, double ridge) {
    prepare(gram, gradient, value, room, mass, ridge);
    const std::int64_t limit = 4 * m_ + 20;  // far above what occurs; the caller's line search guards the rest
    for (std::int64_t round = 0; round < limit; ++round) {
        direction();
        if (advance() && !activate()) return;
    }
}

}  // namespace gapcut
