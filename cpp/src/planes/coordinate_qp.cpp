#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gapcut/linear/vectors.hpp"
#include "gapcut/planes/shuffle.hpp"
#include "qp_iterate.hpp"

namespace gapcut {
namespace {

// The active plane with the smallest gradient as last computed, -1 if none.
std::int64_t worst_active(const QPIterate& point, std::int64_t but) {
    std::int64_t worst = -1;
    for (std::int64_t t = 0; t < point.set.count; ++t)
        if (t != but && point.alpha[t] > 0.0 && (worst < 0 || point.gradient[t] < point.gradient[worst])) worst = t;
    return worst;
}

double distance_square(const double* a, const double* b, std::int64_t n) {
    return dot(a, a, n) - 2.0 * dot(a, b, n) + dot(b, b, n);
}

// The closed-form step of the quadratic model with full curvature (the clipped curvature is never larger).
double bounded_step(double slope, double curvature, double low, double high) {
    const double free = curvature > 0.0 ? slope / curvature : (slope > 0.0 ? high : low);
    return std::clamp(free, low, high);
}

void visit(QPIterate& point, const std::vector<double>& square, std::int64_t t) {
    const double g = point.gradient[t] = point.gradient_of(t);
    const double step = bounded_step(g, square[t], -point.alpha[t], point.room);
    if (step != 0.0) {
        point.shift(t, step);
        return;
    }
    if (!(g > 0.0) || point.room > 0.0) return;
    const auto other = worst_active(point, t);
    if (other < 0) return;
    point.gradient[other] = point.gradient_of(other);
    const double slope = g - point.gradient[other];
    const double curvature = distance_square(point.set.row(t), point.set.row(other), point.set.dim);
    const double pair = bounded_step(slope, curvature, -point.alpha[t], point.alpha[other]);
    if (pair == 0.0) return;
    point.shift(t, pair);
    point.shift(other, -pair);
    point.room = 0.0;
}

}  // namespace

QPSolution solve_coordinate(const PlaneSet& set, const Box& box, double C, std::vector<double> start,
                            const QPOptions& options, const StopTest& stop) {
    QPIterate point(set, box, C, std::move(start));
    point.refresh();
    QPSolution best = point.solution(0);
    std::vector<double> square(static_cast<std::size_t>(set.count));
    for (std::int64_t t = 0; t < set.count; ++t) square[t] = dot(set.row(t), set.row(t), set.dim);
    std::vector<std::int64_t> order(static_cast<std::size_t>(set.count));
    std::iota(order.begin(), order.end(), 0);
    Random random(0);
    std::int64_t sweep = 0;
    while (sweep < options.max_iterations && best.gap > options.tolerance * (best.value + best.gap)) {
        if (stop && stop()) throw Interrupted();
        ++sweep;
        random.shuffle(order);
        for (const auto t : order) visit(point, square, t);
        point.refresh();
        if (point.gap < best.gap) best = point.solution(sweep);
    }
    best.iterations = sweep;
    return best;
}

}  // namespace gapcut
