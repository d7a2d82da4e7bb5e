#include "gapcut/flow/closure.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gapcut {

void Closure::reset(std::int32_t n_variables) {
    n_ = n_given_ = n_variables;
    gain_.assign(static_cast<std::size_t>(n_variables), 0.0);
    pairs_.clear();
    fraction_.clear();
    items_.clear();
    stats_ = {};
}

void Closure::add_clique(std::span<const std::int32_t> members, double g) {
    const auto others = static_cast<std::int32_t>(members.size()) - 1;
    items_.push_back({n_, others, g});
    gain_.push_back(-others * g);
    // all of g starts at the new variable, a source of g that needs its members (and members need nothing of it)
    for (const auto i : members) add_pair(n_, i, g, 1.0F);
    ++n_;
}

// Scale 2^s such that the sum of all |a| + 2 b stays below 2^61. Multiplying by a power of two is exact, so rounding to
// the nearest integer moves each coefficient by at most 1/2 unit, the objective of any labeling by at most
// (variables + pairs) / 2 units, and the difference between two labelings by twice that.
void Closure::round_coefficients() {
    double total = 0.0;
    for (const double a : gain_) total += std::abs(a);
    for (const Pair& p : pairs_) total += 2.0 * p.b;
    if (!std::isfinite(total)) throw std::overflow_error("the scores of a graph are too large for double precision");
    int exponent = 0;
    std::frexp(total, &exponent);  // total < 2^exponent, up to the rounding of the sum: one bit to spare
    const int shift = total > 0.0 ? std::min(60 - exponent, 1000) : 0;
    scale_ = std::ldexp(1.0, shift);
    low_.resize(static_cast<std::size_t>(n_));
    for (std::int32_t i = 0; i < n_; ++i) low_[i] = std::llrint(gain_[i] * scale_);
    // in units of its g, so that a clique stays g times the product to the last digit
    for (const Item& item : items_) low_[item.variable] = -item.others * std::llrint(item.g * scale_);
    rounding_ = total > 0.0 ? static_cast<double>(gain_.size() + pairs_.size()) / scale_ : 0.0;
}

void Closure::build_adjacency() {
    first_.assign(static_cast<std::size_t>(n_) + 2, 0);
    for (const Pair& p : pairs_) {
        ++first_[p.i + 2];
        ++first_[p.j + 2];
    }
    for (std::int32_t i = 0; i < n_; ++i) first_[i + 2] += first_[i + 1];
    neighbours_.resize(2 * pairs_.size());
    high_ = low_;
    for (std::size_t q = 0; q < pairs_.size(); ++q) {
        const Pair& p = pairs_[q];
        const std::int64_t b = std::llrint(p.b * scale_);
        neighbours_[first_[p.i + 1]++] = {p.j, fraction_[q], b};
        neighbours_[first_[p.j + 1]++] = {p.i, 1.0F - fraction_[q], b};
        high_[p.i] += b;
        high_[p.j] += b;
    }
}

// The variable of a clique joins once all members but one are in: it then passes the gain on to the last. Alone it
// would have to wait for that one, since its own gain is 0 until then; one more unit for the time being makes up for
// that.
void Closure::grow_lower() {
    queue_.clear();
    for (const Item& item : items_) ++low_[item.variable];
    for (std::int32_t i = 0; i < n_; ++i)
        if (low_[i] > 0) queue_.push_back(i);
    for (const auto i : queue_) state_[i] = kIn;
    while (!queue_.empty()) {
        const std::int32_t i = queue_.back();
        queue_.pop_back();
        if (keep_split) passed_on_[i] = ++clock_;
        for (auto p = first_[i]; p < first_[i + 1]; ++p) {
            const auto [j, fraction, b] = neighbours_[p];
            low_[j] += b;
            if (state_[j] == kOpen && low_[j] > 0) {
                state_[j] = kIn;
                if (keep_split) joined_[j] = ++clock_;
                queue_.push_back(j);
            }
        }
    }
    for (const Item& item : items_) --low_[item.variable];
}

void Closure::shrink_upper() {
    for (std::int32_t i = 0; i < n_; ++i)
        if (state_[i] == kOpen && high_[i] <= 0) queue_.push_back(i);
    for (const auto i : queue_) state_[i] = kOut;
    while (!queue_.empty()) {
        const std::int32_t i = queue_.back();
        queue_.pop_back();
        if (keep_split) passed_on_[i] = ++clock_;
        for (auto p = first_[i]; p < first_[i + 1]; ++p) {
            const auto [j, fraction, b] = neighbours_[p];
            high_[j] -= b;
            if (state_[j] == kOpen && high_[j] <= 0) {
                state_[j] = kOut;
                if (keep_split) joined_[j] = ++clock_;
                queue_.push_back(j);
            }
        }
    }
}

void Closure::solve_components() {
    place_.assign(static_cast<std::size_t>(n_), -1);
    for (std::int32_t root = 0; root < n_; ++root) {
        if (state_[root] != kOpen || place_[root] >= 0) continue;
        member_.assign(1, root);
        place_[root] = 0;
        for (std::size_t next = 0; next < member_.size(); ++next) {
            const auto i = member_[next];
            for (auto p = first_[i]; p < first_[i + 1]; ++p) {
                const auto j = neighbours_[p].node;
                if (state_[j] != kOpen || place_[j] >= 0) continue;
                place_[j] = static_cast<std::int32_t>(member_.size());
                member_.push_back(j);
            }
        }
        cut_component();
    }
}

// Calls f(j, i's fraction of b, the rest) for every pair of member i with a later member j of the component at hand.
template <class F>
void Closure::for_core_pairs(std::int32_t i, F&& f) const {
    const auto node = member_[i];
    for (auto p = first_[node]; p < first_[node + 1]; ++p) {
        const auto [other, fraction, b] = neighbours_[p];
        if (state_[other] != kOpen || place_[other] <= i || b == 0) continue;
        const std::int64_t mine =
            std::clamp<std::int64_t>(std::llrint(static_cast<double>(b) * static_cast<double>(fraction)), 0, b);
        f(place_[other], mine, b - mine);
    }
}

// b z_i z_j = c z_i + c' z_j - [c z_i (1 - z_j) + c' z_j (1 - z_i)] with c + c' = b: the bracket is what the cut pays.
// Where nothing is known of the best split, an even one keeps the residual network symmetric, which saturates fewer
// arcs than a one-way arc does.
void Closure::cut_component() {
    flow_.reset(static_cast<std::int32_t>(member_.size()));
    for (std::int32_t i = 0; i < std::ssize(member_); ++i) {
        flow_.add_excess(i, low_[member_[i]]);
        for_core_pairs(i, [&](std::int32_t j, std::int64_t mine, std::int64_t rest) {
            flow_.add_excess(i, mine);
            flow_.add_excess(j, rest);
            flow_.add_arc(i, j, mine, rest);
            ++stats_.core_arcs;
        });
    }
    if (record != nullptr) record_component();
    flow_.solve();
    if (keep_split) keep_flow();
    ++stats_.components;
    stats_.core_variables += std::ssize(member_);
    // members are closed only now, place_ keeps them from being visited again
    for (std::int32_t i = 0; i < std::ssize(member_); ++i) state_[member_[i]] = flow_.source_side(i) ? kIn : kOut;
}

void Closure::record_component() const {
    const auto offset = static_cast<std::int32_t>(record->excess.size());
    record->excess.resize(record->excess.size() + member_.size(), 0);
    for (std::int32_t i = 0; i < std::ssize(member_); ++i) {
        record->excess[offset + i] += low_[member_[i]];
        for_core_pairs(i, [&](std::int32_t j, std::int64_t mine, std::int64_t rest) {
            record->excess[offset + i] += mine;
            record->excess[offset + j] += rest;
            record->arcs.insert(record->arcs.end(), {offset + i, offset + j});
            record->forward.push_back(mine);
            record->backward.push_back(rest);
        });
    }
}

void Closure::solve() {
    stats_.variables = n_;
    stats_.arcs = std::ssize(pairs_);
    state_.assign(static_cast<std::size_t>(n_), kOpen);
    round_coefficients();
    build_adjacency();
    if (keep_split) {
        clock_ = 0;
        joined_.assign(static_cast<std::size_t>(n_), 0);
        passed_on_.assign(joined_.size(), 0);
        kept_.assign(neighbours_.size(), 0);
    }
    if (use_persistency) {
        grow_lower();
        shrink_upper();
    }
    solve_components();
    state_.resize(static_cast<std::size_t>(n_given_));
}

}  // namespace gapcut
