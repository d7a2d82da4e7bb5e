#include "gapcut/infer/qpbo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gapcut/infer/closed_set.hpp"

namespace gapcut::infer {
namespace {

// Capacities and excesses of the doubled graph sum to at most 12 times all ranges; MaxFlow takes 2^62.
constexpr int kRangeBits = 57;
constexpr int kMostShift = 1070;                      // half a unit is still a double
constexpr double kMostUnits = 4611686018427387904.0;  // 2^62, more than all ranges together
constexpr double kMargin = 1.0 + 1e-6;                // more than the rounding of any sum that fits into memory

double most_finite(std::span<const double> costs) {
    double most = 0.0;
    for (const double c : costs)
        if (c != kInfinity) most = std::max(most, c);
    return most;
}

}  // namespace

void Qpbo::reset(std::int32_t n_variables) {
    n_ = n_variables;
    unaries_.clear();
    pairs_.clear();
    constants_ = {};
    infeasible_ = false;
}

void Qpbo::add_constant(double cost) {
    if (cost == kInfinity)
        infeasible_ = true;
    else
        constants_.add(cost);
}

// Calls f(entries of a term, the one that `start` pays) for all terms.
template <class F>
void Qpbo::for_terms(std::span<const std::uint8_t> start, F&& f) {
    for (Unary& t : unaries_) f(std::span<double>(t.cost), start.empty() ? 0U : start[t.i] & 1U);
    for (Pair& t : pairs_)
        f(std::span<double>(t.cost), start.empty() ? 0U : 2U * (start[t.i] & 1U) + (start[t.j] & 1U));
}

// Leaves the entries of each term as ranges over its minimum; returns what `start` pays of them.
double Qpbo::take_out_minima(std::span<const std::uint8_t> start) {
    double paid = 0.0, most = 0.0;
    least_range_ = kInfinity;
    for_terms(start, [&](std::span<double> cost, unsigned chosen) {
        const double least = *std::min_element(cost.begin(), cost.end());
        if (least == kInfinity) {
            infeasible_ = true;
            std::fill(cost.begin(), cost.end(), 0.0);
            return;
        }
        constants_.add(least);
        for (double& c : cost) {
            c = difference_below(c, least);
            if (c > 0.0) least_range_ = std::min(least_range_, c);
        }
        paid += cost[chosen];
        most += most_finite(cost);
    });
    affordable_ = most * kMargin;
    return paid;
}

// The largest power of two at which all ranges, none above affordable_, sum to less than 2^kRangeBits.
void Qpbo::choose_scale() {
    double total = 0.0;
    for_terms({}, [&](std::span<const double> cost, unsigned) {
        total += std::min(*std::max_element(cost.begin(), cost.end()), affordable_);
    });
    int exponent = 0;
    std::frexp(total * kMargin, &exponent);
    shift_ = total > 0.0 ? std::min(kRangeBits - exponent, kMostShift) : 0;
}

// Exact but for the rounding down: the factor is a power of two.
std::int64_t Qpbo::to_units(double range) const {
    const double units = std::ldexp(range, shift_);
    return units < kMostUnits ? std::min(static_cast<std::int64_t>(units), cap_) : cap_;
}

// Some minimiser pays no more than `start` does, or else than the most expensive allowed entries cost together. So
// an entry may cost one unit more than that and no more: whoever uses it is still no minimiser.
void Qpbo::lower(std::span<const std::uint8_t> start) {
    const double paid = take_out_minima(start);
    const bool use_start = !start.empty() && !infeasible_ && paid < kInfinity;
    if (use_start) affordable_ = std::min(affordable_, paid * kMargin);
    if (affordable_ == 0.0) affordable_ = least_range_ < kInfinity ? least_range_ : 1.0;  // to tell it from nothing
    choose_scale();
    cap_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t units = 0;
    for_terms(start, [&](std::span<const double> cost, unsigned chosen) {
        units += to_units(use_start ? cost[chosen] : most_finite(cost));
    });
    cap_ = units + 1;
}

void Qpbo::collect_unaries() {
    linear_.assign(static_cast<std::size_t>(n_), 0);
    constant_ = 0;
    for (const Unary& t : unaries_) {
        const std::int64_t c0 = to_units(t.cost[0]), c1 = to_units(t.cost[1]);
        constant_ += c0;
        linear_[t.i] += c1 - c0;
    }
}

// One pair for each two variables, by a counting sort on the lower and a comparison sort on the higher; sums are exact.
void Qpbo::merge_pairs() {
    first_.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (const Pair& p : pairs_) ++first_[std::min(p.i, p.j) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    scratch_.resize(pairs_.size());
    for (const Pair& p : pairs_) {
        const bool swap = p.i > p.j;
        IntPair& out = scratch_[next[std::min(p.i, p.j)]++];
        out = {
            std::min(p.i, p.j),
            std::max(p.i, p.j),
            {to_units(p.cost[0]), to_units(p.cost[swap ? 2 : 1]), to_units(p.cost[swap ? 1 : 2]), to_units(p.cost[3])}};
    }
    merged_.clear();
    for (std::int32_t i = 0; i < n_; ++i) {
        const auto begin = scratch_.begin() + first_[i], end = scratch_.begin() + first_[i + 1];
        std::sort(begin, end, [](const IntPair& a, const IntPair& b) { return a.j < b.j; });
        for (auto p = begin; p != end; ++p) {
            if (p == begin || p->j != merged_.back().j)
                merged_.push_back(*p);
            else
                for (std::size_t k = 0; k < 4; ++k) merged_.back().cost[k] += p->cost[k];
        }
    }
}

// Which pairs each variable is in.
void Qpbo::link() {
    first_.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (const IntPair& p : merged_) ++first_[p.i + 1], ++first_[p.j + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    incident_.resize(2 * merged_.size());
    for (std::size_t p = 0; p < merged_.size(); ++p)
        for (const std::int32_t i : {merged_[p].i, merged_[p].j}) incident_[next[i]++] = static_cast<std::int32_t>(p);
}

void Qpbo::fix(std::int32_t i, bool value) {
    label_[i] = value;
    strong_[i] = 1;
    queue_.push_back(i);
}

// x_i = 1 costs between least_slope_ and most_slope_ more than x_i = 0, over all values of its neighbours: where the
// sign is certain, so is the label, in the relaxation too. Fixed neighbours narrow the interval.
void Qpbo::fix_dominated() {
    least_slope_ = most_slope_ = linear_;
    const auto widen = [&](std::int32_t i, const std::array<std::int64_t, 2>& slope) {
        least_slope_[i] += std::min(slope[0], slope[1]);
        most_slope_[i] += std::max(slope[0], slope[1]);
    };
    for (const IntPair& p : merged_) widen(p.i, p.slope_of_i()), widen(p.j, p.slope_of_j());
    const auto settle = [&](std::int32_t i) {
        if (label_[i] == kUnlabelled && (most_slope_[i] < 0 || least_slope_[i] > 0)) fix(i, most_slope_[i] < 0);
    };
    queue_.clear();
    for (std::int32_t i = 0; i < n_; ++i) settle(i);
    while (!queue_.empty()) {
        const std::int32_t i = queue_.back();
        queue_.pop_back();
        for (std::int64_t q = first_[i]; q < first_[i + 1]; ++q) {
            const IntPair& p = merged_[incident_[q]];
            const std::int32_t other = p.i == i ? p.j : p.i;
            const auto slope = p.i == i ? p.slope_of_j() : p.slope_of_i();
            const std::int64_t now = slope[static_cast<std::size_t>(label_[i])];
            least_slope_[other] += now - std::min(slope[0], slope[1]);
            most_slope_[other] += now - std::max(slope[0], slope[1]);
            settle(other);
        }
    }
}

// Puts the fixed labels in; what is left of merged_ joins free variables, renumbered.
void Qpbo::substitute() {
    place_.assign(static_cast<std::size_t>(n_), -1);
    free_.clear();
    for (std::int32_t i = 0; i < n_; ++i) {
        if (label_[i] == kUnlabelled) {
            place_[i] = static_cast<std::int32_t>(free_.size());
            free_.push_back(i);
        } else if (label_[i] == 1) {
            constant_ += linear_[i];
        }
    }
    n_free_ = static_cast<std::int32_t>(free_.size());
    scratch_.clear();
    for (const IntPair& p : merged_) {
        const bool i_free = place_[p.i] >= 0, j_free = place_[p.j] >= 0;
        if (i_free && j_free) {
            scratch_.push_back({place_[p.i], place_[p.j], p.cost});
            continue;
        }
        const auto x_i = static_cast<std::size_t>(i_free ? 0 : label_[p.i]);
        const auto x_j = static_cast<std::size_t>(j_free ? 0 : label_[p.j]);
        constant_ += p.cost[2 * x_i + x_j];
        if (i_free) linear_[p.i] += p.slope_of_i()[x_j];
        if (j_free) linear_[p.j] += p.slope_of_j()[x_i];
    }
    merged_.swap(scratch_);
    for (std::int32_t k = 0; k < n_free_; ++k) linear_[k] = linear_[free_[k]];  // free_[k] >= k
    linear_.resize(static_cast<std::size_t>(n_free_));
}

// cost * [p = 0][q = 1] and, in the mirror, cost * [not q = 0][not p = 1], for literals p, q: nodes of the doubled
// graph. An even split, [p = 0][q = 1] = [p = 1][q = 0] + q - p, leaves more room for flow than a one-way arc would.
void Qpbo::connect(std::int32_t p, std::int32_t q, std::int64_t cost) {
    if (cost == 0) return;
    const std::int64_t half = cost / 2, rest = cost - half;
    flow_.add_arc(q, p, rest, half);
    flow_.add_arc(complement(p), complement(q), rest, half);
    const auto add_linear = [&](std::int32_t literal, std::int64_t amount) {
        if (literal < n_free_) {
            linear_[literal] += amount;
        } else {
            linear_[complement(literal)] -= amount;
            constant_ += amount;
        }
    };
    add_linear(q, half);
    add_linear(p, -half);
}

// The relaxation is half the minimum cut of f(x) + f(not x'), x' being the complements as variables of their own.
void Qpbo::cut(const StopTest& stop) {
    flow_.reset(2 * n_free_);
    for (const IntPair& p : merged_) {
        const auto [c00, c01, c10, c11] = p.cost;
        const std::int64_t product = c00 + c11 - c01 - c10;
        if (product <= 0) {  // c00 + (c10 - c00) x_i + (c11 - c10) x_j - product [x_i = 0][x_j = 1]
            constant_ += c00;
            linear_[p.i] += c10 - c00;
            linear_[p.j] += c11 - c10;
            connect(p.i, p.j, -product);
        } else {  // the same with x_j' = 1 - x_j: c01 + (c11 - c01) x_i + (c10 - c11) x_j' + product [x_i = 0][x_j' =
                  // 1]
            constant_ += c01 + c10 - c11;
            linear_[p.i] += c11 - c01;
            linear_[p.j] -= c10 - c11;
            connect(p.i, complement(p.j), product);
        }
    }
    twice_value_ = 0;
    for (std::int32_t i = 0; i < n_free_; ++i) {
        flow_.add_excess(i, -linear_[i]);
        flow_.add_excess(complement(i), linear_[i]);
        twice_value_ += 2 * std::min<std::int64_t>(linear_[i], 0);
    }
    twice_value_ += 2 * constant_ + flow_.solve(stop);
    stopped_ = !flow_.complete();
}

// The cut is the least source side or the greatest; both have i on the source side and its complement on the other
// exactly where x_i = 1 in all minimisers of the relaxation, hence of g.
void Qpbo::label_from_cut() {
    if (stopped_) return;
    for (std::int32_t k = 0; k < n_free_; ++k) {
        const bool own = flow_.source_side(k), other = flow_.source_side(complement(k));
        if (own == other) continue;
        label_[free_[k]] = own;
        strong_[free_[k]] = 1;
    }
}

void Qpbo::label_weakly() {
    if (stopped_) return;
    std::vector<std::int32_t> open;  // of place_ in free_
    std::vector<std::int32_t> place(static_cast<std::size_t>(n_free_), -1);
    for (std::int32_t k = 0; k < n_free_; ++k) {
        if (label_[free_[k]] != kUnlabelled) continue;
        place[k] = static_cast<std::int32_t>(open.size());
        open.push_back(k);
    }
    if (open.empty()) return;
    const auto n = static_cast<std::int32_t>(open.size());
    const auto literal = [&](std::int32_t node) {
        const std::int32_t k = place[node < n_free_ ? node : node - n_free_];
        return k < 0 ? -1 : node < n_free_ ? k : k + n;
    };
    std::vector<std::pair<std::int32_t, std::int32_t>> arcs;
    flow_.for_residual_arcs([&](std::int32_t v, std::int32_t w) {
        if (const std::int32_t a = literal(v), b = literal(w); a >= 0 && b >= 0) arcs.emplace_back(a, b);
    });
    const auto in = closed_set(n, arcs);
    for (std::int32_t k = 0; k < n; ++k)
        if (in[k] || in[k + n]) label_[free_[open[k]]] = in[k] ? 1 : 0;
}

void Qpbo::finish() {
    LowerSum sum = constants_;
    const std::int64_t high = twice_value_ >> 32, low = twice_value_ - (high << 32);
    sum.add(std::ldexp(static_cast<double>(high), 32 - 1 - shift_));
    sum.add(std::ldexp(static_cast<double>(low), -1 - shift_));
    // Any allowed labeling pays less than cap_ somewhere.
    infeasible_ = infeasible_ || twice_value_ > 2 * (cap_ - 1);
    bound_ = infeasible_ ? kInfinity : sum.value();
}

void Qpbo::solve(std::span<const std::uint8_t> start, const StopTest& stop) {
    if (!start.empty() && static_cast<std::int64_t>(start.size()) != n_)
        throw std::invalid_argument("the start has the wrong length");
    stopped_ = false;
    label_.assign(static_cast<std::size_t>(n_), kUnlabelled);
    strong_.assign(static_cast<std::size_t>(n_), 0);
    lower(start);
    collect_unaries();
    merge_pairs();
    link();
    fix_dominated();
    substitute();
    cut(stop);
    label_from_cut();
    label_weakly();
    finish();
}

}  // namespace gapcut::infer
