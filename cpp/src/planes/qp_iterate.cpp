#include "qp_iterate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gapcut {

QPIterate::QPIterate(const PlaneSet& planes, const Box& the_box, double mass, std::vector<double> start)
    : set(planes), box(the_box), C(mass), alpha(std::move(start)) {
    box.check();
    if (!(C > 0.0) || !std::isfinite(C)) throw std::invalid_argument("C must be positive and finite");
    if (box.dim() != set.dim) throw std::invalid_argument("planes and box differ in dimension");
    if (alpha.empty()) alpha.assign(static_cast<std::size_t>(set.count), 0.0);
    if (std::ssize(alpha) != set.count) throw std::invalid_argument("start needs one entry per plane");
    for (auto& a : alpha) a = a > 0.0 ? a : 0.0;
    x.resize(static_cast<std::size_t>(set.dim));
    weights.resize(x.size());
    gradient.resize(alpha.size());
}

// Rounding in the steps may overdraw the mass; certificates allow for an excess of a few ulps only.
void QPIterate::keep_mass() {
    const double sum = std::accumulate(alpha.begin(), alpha.end(), 0.0);
    if (sum > C)
        for (auto& a : alpha) a *= C / sum;
}

void QPIterate::refresh() {
    keep_mass();
    std::fill(x.begin(), x.end(), 0.0);
    double sum = 0.0, loss = 0.0, paid = 0.0, worst = 0.0;
    for (std::int64_t t = 0; t < set.count; ++t)
        if (alpha[t] > 0.0) {
            add_scaled(x.data(), alpha[t], set.row(t), set.dim);
            sum += alpha[t];
            loss += alpha[t] * set.losses[t];
        }
    room = std::max(0.0, C - sum);
    if (room <= 1e-15 * static_cast<double>(set.count + 1) * C) room = 0.0;  // no room but for rounding
    clamp(box, x.data(), weights.data());
    for (std::int64_t t = 0; t < set.count; ++t) {
        gradient[t] = gradient_of(t);
        worst = std::max(worst, gradient[t]);
        paid += alpha[t] * gradient[t];
    }
    const double square = dot(weights.data(), weights.data(), set.dim);
    value = loss - dot(weights.data(), x.data(), set.dim) + 0.5 * square;
    gap = std::max(0.0, C * worst - paid);
}

void QPIterate::shift(std::int64_t t, double amount) {
    alpha[t] += amount;
    room -= amount;
    move_and_clamp(box, x.data(), amount, set.row(t), weights.data());
}

}  // namespace gapcut
