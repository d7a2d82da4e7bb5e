#include "gapcut/flow/closure.hpp"

namespace gapcut {

// With c of b at i, c' at j and c + c' = b,  b z_i z_j <= c z_i + c' z_j, and so the maximum is at most the sum of the
// positive parts of a_i + what pairs give to i. It is attained where, for a maximiser z, every i that is in keeps a sum
// >= 0, every i that is out a sum <= 0, and pairs with one end in give all of b to the other one. Hence, for pairs
//   - of different kinds: all to the one further out (In, then core, then Out); what In gives to the core is in low_;
//   - within In: i joined because of those that had passed on before, so it needs their pairs, and no other;
//   - within Out: i left although it could count on all but those that had passed on before, so these keep their pairs;
//   - within the core: what the flow leaves of the network's arcs.

void Closure::keep_flow() {
    flow_.residuals(residual_);
    auto left = residual_.begin();
    for (std::int32_t i = 0; i < std::ssize(member_); ++i)  // the order of for_core_pairs
        for (auto p = first_[member_[i]]; p < first_[member_[i] + 1]; ++p) {
            const Neighbour& other = neighbours_[p];
            if (state_[other.node] == kOpen && place_[other.node] > i && other.b != 0) kept_[p] = *left++;
        }
}

double Closure::decided_split(std::int32_t i, std::int32_t j) const {
    const auto kind = [this](std::int32_t v) { return place_[v] >= 0 ? 1 : (state_[v] == kIn ? 0 : 2); };
    if (kind(i) != kind(j)) return kind(i) > kind(j) ? 1.0 : 0.0;
    const bool i_first = passed_on_[i] < joined_[j], j_first = passed_on_[j] < joined_[i];
    if (i_first == j_first) return 0.5;
    return i_first == (kind(i) == 2) ? 1.0 : 0.0;
}

std::vector<double> Closure::split() const {
    std::vector<double> to_i;
    to_i.reserve(pairs_.size());
    std::vector<std::int64_t> next(first_.begin(), first_.end());
    for (const Pair& p : pairs_) {
        const auto at_i = next[p.i]++, at_j = next[p.j]++;
        const std::int64_t b = neighbours_[at_i].b;
        if (b == 0 || place_[p.i] < 0 || place_[p.j] < 0) {
            to_i.push_back(b == 0 ? 0.5 : decided_split(p.i, p.j));
            continue;
        }
        const std::int64_t mine = place_[p.i] < place_[p.j] ? kept_[at_i] : b - kept_[at_j];
        to_i.push_back(static_cast<double>(mine) / static_cast<double>(b));
    }
    return to_i;
}

}  // namespace gapcut
