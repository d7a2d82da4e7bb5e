#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "gapcut/linear/vectors.hpp"
#include "gapcut/planes/simplex_step.hpp"
#include "qp_iterate.hpp"

namespace gapcut {
namespace {

constexpr std::int64_t kEntering = 64;                            // violated planes that join the model at once
constexpr int kPairwiseSteps = 8;                                 // after a Newton step that gained little
constexpr double kLittle = 0.1;                                   // of the gap
constexpr double kRidges[] = {SimplexStep::kRidge, 1e-14, 1e-8};  // the next is tried after little gain
constexpr std::int64_t kDirectAttempt = 100;                      // iterations before the climb in C
constexpr int kClimb = 8;                                         // powers of ten
constexpr int kPatience = 6;  // iterations without measurable ascent before rounding is blamed

class NewtonQP {
  public:
    NewtonQP(const PlaneSet& set, const Box& box, double C, std::vector<double> start)
        : point_(set, box, C, std::move(start)), direction_(static_cast<std::size_t>(set.dim)) {}

    QPSolution run(const QPOptions& options, const StopTest& stop);

  private:
    void choose_planes();
    void newton_step(double ridge);
    bool pairwise_step();
    void move_along(const std::vector<std::int32_t>& planes, const std::vector<double>& change, double longest);

    QPIterate point_;
    SimplexStep step_;
    std::vector<double> direction_;
    std::vector<std::int32_t> chosen_, free_, violated_;
    SimplexModel data_;
    std::vector<double> packed_, change_;
};

// Planes with mass, and the most violated of the others.
void NewtonQP::choose_planes() {
    chosen_.clear();
    violated_.clear();
    double level = point_.room > 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::int64_t t = 0; t < point_.set.count; ++t)
        if (point_.alpha[t] > 0.0) {
            chosen_.push_back(static_cast<std::int32_t>(t));
            level = std::min(level, point_.gradient[t]);
        }
    if (!std::isfinite(level)) level = 0.0;
    for (std::int64_t t = 0; t < point_.set.count; ++t)
        if (!(point_.alpha[t] > 0.0) && point_.gradient[t] > level) violated_.push_back(static_cast<std::int32_t>(t));
    const auto keep = std::min<std::int64_t>(kEntering, std::ssize(violated_));
    std::partial_sort(violated_.begin(), violated_.begin() + keep, violated_.end(), [this](auto a, auto b) {
        return point_.gradient[a] != point_.gradient[b] ? point_.gradient[a] > point_.gradient[b] : a < b;
    });
    chosen_.insert(chosen_.end(), violated_.begin(), violated_.begin() + keep);
}

// alpha += s * change with the best s in [0, longest]; an alpha that the longest step empties becomes exactly zero.
void NewtonQP::move_along(const std::vector<std::int32_t>& planes, const std::vector<double>& change, double longest) {
    std::fill(direction_.begin(), direction_.end(), 0.0);
    // where the sum of the masses stays, a constant in the gradients is no ascent: without it little cancels
    const double level = point_.room > 0.0 ? 0.0 : *std::max_element(point_.gradient.begin(), point_.gradient.end());
    double ascent = 0.0, sum = 0.0;
    for (std::size_t i = 0; i < planes.size(); ++i) {
        if (change[i] == 0.0) continue;
        add_scaled(direction_.data(), change[i], point_.set.row(planes[i]), point_.set.dim);
        ascent += change[i] * (point_.gradient[planes[i]] - level);
        sum += change[i];
    }
    if (sum > 0.0) longest = std::min(longest, std::max(1.0, point_.room / sum));
    for (std::size_t i = 0; i < planes.size(); ++i)
        if (change[i] < 0.0) longest = std::min(longest, std::max(1.0, point_.alpha[planes[i]] / -change[i]));
    const double s = line_search(point_.box, point_.x.data(), direction_.data(), ascent, longest);
    for (std::size_t i = 0; i < planes.size(); ++i) {
        double& a = point_.alpha[planes[i]];
        const double moved = a + s * change[i];
        a = moved > 1e-15 * a ? moved : 0.0;
    }
}

void NewtonQP::newton_step(double ridge) {
    choose_planes();
    if (chosen_.empty()) return;
    const auto m = chosen_.size();
    free_coordinates(point_.box, point_.x.data(), free_);
    gram_over(
        std::ssize(chosen_), [&](std::int64_t i) { return point_.set.row(chosen_[i]); }, free_, packed_, data_.gram);
    data_.gradient.resize(m);
    data_.value.resize(m);
    data_.group.assign(m, 0);
    data_.room.assign(1, point_.room);
    for (std::size_t i = 0; i < m; ++i) {
        data_.gradient[i] = point_.gradient[chosen_[i]];
        data_.value[i] = point_.alpha[chosen_[i]];
    }
    step_.solve(data_, point_.C, ridge);
    change_.resize(m);
    for (std::size_t i = 0; i < m; ++i) change_[i] = step_.target()[i] - data_.value[i];
    move_along(chosen_, change_, 1e3);
}

// Mass from the worst active plane (or the slack) to the best one. False if there is no such pair.
bool NewtonQP::pairwise_step() {
    std::int64_t up = -1, down = -1;
    double best = 0.0, worst = point_.room > 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::int64_t t = 0; t < point_.set.count; ++t) {
        if (point_.gradient[t] > best) {
            best = point_.gradient[t];
            up = t;
        }
        if (point_.alpha[t] > 0.0 && point_.gradient[t] < worst) {
            worst = point_.gradient[t];
            down = t;
        }
    }
    if (up == down || !(best > worst)) return false;
    const double mass = down >= 0 ? point_.alpha[down] : point_.room;
    std::vector<std::int32_t> planes;
    std::vector<double> change;
    if (up >= 0) {
        planes.push_back(static_cast<std::int32_t>(up));
        change.push_back(mass);
    }
    if (down >= 0) {
        planes.push_back(static_cast<std::int32_t>(down));
        change.push_back(-mass);
    }
    move_along(planes, change, 1.0);
    return true;
}

QPSolution NewtonQP::run(const QPOptions& options, const StopTest& stop) {
    point_.refresh();
    QPSolution best = point_.solution(0);
    int idle = 0;
    std::size_t ridge = 0;
    std::int64_t iteration = 0;
    while (iteration < options.max_iterations && point_.gap > options.tolerance * point_.primal() && idle < kPatience) {
        if (stop && stop()) throw Interrupted();
        ++iteration;
        const double before = point_.value, gap = point_.gap;
        newton_step(kRidges[ridge]);
        point_.refresh();
        if (point_.value - before < kLittle * gap) {
            ridge = (ridge + 1) % std::size(kRidges);
            for (int k = 0; k < kPairwiseSteps && pairwise_step(); ++k) point_.refresh();
        }
        idle = point_.value > before + 1e-15 * std::abs(before) || point_.gap < 0.5 * gap ? 0 : idle + 1;
        // the dual never falls but for rounding, the gap may rise on the way
        if (point_.gap < best.gap || point_.value > best.value + 1e-12 * std::abs(best.value))
            best = point_.solution(iteration);
    }
    best.iterations = iteration;
    return best;
}

}  // namespace

QPSolution solve_newton(const PlaneSet& set, const Box& box, double C, std::vector<double> start,
                        const QPOptions& options, const StopTest& stop) {
    QPOptions attempt = options;
    attempt.max_iterations = std::min(options.max_iterations, kDirectAttempt);
    QPSolution best = NewtonQP(set, box, C, std::move(start)).run(attempt, stop);
    auto spent = best.iterations;
    const auto solved = [&] { return best.gap <= options.tolerance * (best.value + best.gap); };
    // A huge C drives x far through the box before the free coordinates are found; solutions for C and C / 10 resemble
    // each other, so climb from a small C instead.
    std::vector<double> from;
    for (int power = kClimb; power >= 0 && spent >= kDirectAttempt && spent < options.max_iterations && !solved();
         --power) {
        attempt.max_iterations = std::min(options.max_iterations - spent, kDirectAttempt);
        QPSolution next = NewtonQP(set, box, C * std::pow(10.0, -power), std::move(from)).run(attempt, stop);
        spent += std::max<std::int64_t>(1, next.iterations);
        from = next.alpha;
        for (auto& a : from) a *= 10.0;
        if (power == 0 && next.gap < best.gap) best = std::move(next);
    }
    best.iterations = spent;
    return best;
}

}  // namespace gapcut
