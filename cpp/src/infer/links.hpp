// The core of a reduced energy as lists of neighbours, for local search; internal to infer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "finite_entries.hpp"
#include "gapcut/infer/reduce.hpp"

namespace gapcut::infer {

// A pair at a node.
struct Link {
    std::int32_t other;
    std::int64_t pair;
};

class Links {
  public:
    explicit Links(const Reduction& reduced) : reduced_(reduced) {
        const auto& pairs = reduced.pairs();
        std::vector<std::int64_t> live;
        for (std::size_t p = 0; p < pairs.size(); ++p)
            if (reduced.alive(static_cast<std::int64_t>(p))) live.push_back(static_cast<std::int64_t>(p));
        at_.assign(reduced.component().size() + 1, 0);
        for (const std::int64_t p : live) ++at_[pairs[p].low + 1], ++at_[pairs[p].high + 1];
        std::partial_sum(at_.begin(), at_.end(), at_.begin());
        links_.resize(static_cast<std::size_t>(at_.back()));
        std::vector<std::int64_t> next(at_.begin(), at_.end() - 1);
        double total = 0.0;
        for (const std::int64_t p : live) {
            links_[next[pairs[p].low]++] = {pairs[p].high, p};
            links_[next[pairs[p].high]++] = {pairs[p].low, p};
            total += measure(pairs[p]);
        }
        double of_nodes = 0.0;
        for (const std::int32_t u : reduced.core()) {
            const FiniteEntries own = finite(u);
            total += own.magnitude();
            of_nodes += own.range() / static_cast<double>(reduced.core().size());
        }
        if (forbids_) scale_ += of_nodes;
        if (forbids_ && !(scale_ > 0.0)) scale_ = 1.0;
        most_ = penalty_ = 2.0 * total + 1.0;
    }

    std::span<const Link> of(std::int32_t u) const {
        return {links_.data() + at_[u], static_cast<std::size_t>(at_[u + 1] - at_[u])};
    }
    std::size_t size() const { return at_.size() - 1; }  // nodes of the given energy
    std::int32_t n_labels(std::int32_t u) const { return reduced_.n_labels(u); }
    const std::vector<std::int32_t>& nodes() const { return reduced_.core(); }

    // Entries; what is forbidden costs the penalty.
    double unary(std::int32_t u, std::int32_t k) const { return allowed(reduced_.unary_of(u)[k]); }

    // Entry of the pair at u's label k and the other's label l.
    double entry(const Link& link, std::int32_t u, std::int32_t k, std::int32_t l) const {
        const Pair& p = reduced_.pairs()[static_cast<std::size_t>(link.pair)];
        return allowed(p.at(p.low == u, k, l));
    }

    std::int32_t other_end(std::int64_t pair, std::int32_t u) const {
        const Pair& p = reduced_.pairs()[static_cast<std::size_t>(pair)];
        return p.low == u ? p.high : p.low;
    }

    double entries() const { return entries_; }  // of all tables
    // Mean range of the finite entries of a table; where something is forbidden with that of unaries, and never 0.
    double scale() const { return scale_; }

    bool forbids() const { return forbids_; }

    // With the full penalty, which holds at first, labelings with less of what is forbidden are always better: it is
    // more than all that is allowed can cost.
    void soften(double penalty) { penalty_ = std::min(penalty, most_); }
    void harden() { penalty_ = most_; }

  private:
    double allowed(double x) const { return x < kInfinity ? x : penalty_; }

    FiniteEntries finite(std::int32_t u) const {
        FiniteEntries out;
        for (std::int32_t k = 0; k < n_labels(u); ++k) out.add(reduced_.unary_of(u)[k]);
        return out;
    }

    // Takes a table into account; its largest magnitude.
    double measure(const Pair& p) {
        FiniteEntries table;
        for (std::int32_t k = 0; k < n_labels(p.low); ++k)
            for (std::int32_t l = 0; l < n_labels(p.high); ++l) {
                const double x = p.at(true, k, l);
                forbids_ |= x == kInfinity;
                table.add(x);
            }
        entries_ += static_cast<double>(n_labels(p.low)) * n_labels(p.high);
        scale_ += table.range() / static_cast<double>(reduced_.pairs().size());
        return table.magnitude();
    }

    const Reduction& reduced_;
    std::vector<std::int64_t> at_;
    std::vector<Link> links_;
    double most_ = 1.0, penalty_ = 1.0, entries_ = 0.0, scale_ = 0.0;
    bool forbids_ = false;
};

}  // namespace gapcut::infer
