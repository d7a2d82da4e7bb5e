#include "gapcut/infer/min_marginals.hpp"

#include <algorithm>

#include "gapcut/rounding.hpp"

namespace gapcut::infer {
namespace {

// One component: the backward half-sweep that keeps what it gives away, then the sums of what it kept.
class Pass {
  public:
    Pass(Packed& packed, std::int64_t first, std::int64_t last)
        : p_(packed), first_(first), last_(last), first_edge_(packed.forward_at[first]),
          kept_(static_cast<std::size_t>(end_of_unary() - packed.unary_at[first]), 0.0),
          least_(static_cast<std::size_t>(packed.forward_at[last] - first_edge_), 0.0), sent_at_(least_.size() + 1, 0) {
        for (std::size_t e = 0; e < least_.size(); ++e)
            sent_at_[e + 1] = sent_at_[e] + p_.labels[p_.target[first_edge_ + static_cast<std::int64_t>(e)]];
        sent_.resize(static_cast<std::size_t>(sent_at_.back()));
    }

    // C; +inf if everything is forbidden.
    double give_away() {
        LowerSum bound;
        for (std::int64_t i = last_ - 1; i >= first_; --i)
            if (!give_away(i, bound)) return kInfinity;
        return bound.value();
    }

    // G of every node into kept(i).
    void add_up() {
        for (std::int64_t i = first_; i < last_; ++i) {
            double* total = kept(i);
            for (std::int64_t q = p_.backward_at[i]; q < p_.backward_at[i + 1]; ++q) add_edge(p_.backward[q], total);
        }
    }

    double* kept(std::int64_t i) { return kept_.data() + (p_.unary_at[i] - p_.unary_at[first_]); }

  private:
    std::int64_t end_of_unary() const { return p_.unary_at[last_ - 1] + p_.width[last_ - 1]; }
    std::int64_t later(std::int64_t i) const { return p_.forward_at[i + 1] - p_.forward_at[i]; }
    double* sent(std::int64_t e) { return sent_.data() + sent_at_[static_cast<std::size_t>(e - first_edge_)]; }
    double* message(std::int64_t e) { return p_.messages.data() + p_.message_at[e]; }

    bool give_away(std::int64_t i, LowerSum& bound) {
        const std::int32_t labels = p_.labels[i];
        double* own = kept(i);
        std::copy_n(p_.unary.data() + p_.unary_at[i], labels, own);
        const auto hear = [&](const double* m) {
            for (std::int32_t l = 0; l < labels; ++l) own[l] = down(own[l] + m[l]);
        };
        for (std::int64_t e = p_.forward_at[i]; e < p_.forward_at[i + 1]; ++e) hear(message(e));
        for (std::int64_t q = p_.backward_at[i]; q < p_.backward_at[i + 1]; ++q) hear(message(p_.backward[q]));
        const double least = *std::min_element(own, own + labels);
        if (least == kInfinity) return false;
        bound.add(least);
        for (std::int32_t l = 0; l < labels; ++l) own[l] = std::max(0.0, down(own[l] - least));

        const std::int64_t earlier = p_.backward_at[i + 1] - p_.backward_at[i], chains = std::max(later(i), earlier);
        if (earlier == 0) return true;
        for (std::int64_t q = p_.backward_at[i]; q < p_.backward_at[i + 1]; ++q) {
            const double m = send(p_.backward[q], own);
            if (m == kInfinity) return false;
            bound.add(m);
        }
        const double rest = down(static_cast<double>(chains - earlier) / static_cast<double>(chains));
        for (std::int32_t l = 0; l < labels; ++l)
            if (own[l] < kInfinity) own[l] = own[l] < kTiny ? 0.0 : down(own[l] * rest);
        return true;
    }

    // The message to the earlier node of e, from the excess `own` of its later node; returns m_e.
    double send(std::int64_t e, const double* own) {
        const std::int32_t a = p_.source[e], i = p_.target[e], rows = p_.labels[a], columns = p_.labels[i];
        const double weight = p_.chain_weight[i];
        double *sending = sent(e), *told = message(e);
        for (std::int32_t l = 0; l < columns; ++l) {
            const double share = own[l] < kTiny ? 0.0 : own[l] * weight;
            sending[l] = share < kInfinity ? down(down(share) - told[l]) : kInfinity;
        }
        const double* row = p_.tables.data() + p_.table_at[e];
        double least = kInfinity;
        for (std::int32_t k = 0; k < rows; ++k, row += columns) {
            double best = kInfinity;
            for (std::int32_t l = 0; l < columns; ++l) best = std::min(best, sending[l] + row[l]);
            told[k] = down(best);
            least = std::min(least, told[k]);
        }
        if (least == kInfinity) return least;
        for (std::int32_t k = 0; k < rows; ++k) told[k] = down(told[k] - least);
        return least_[static_cast<std::size_t>(e - first_edge_)] = least;
    }

    // total(l) += min_k E_e(k, l) + G_a(k) / C_a.
    void add_edge(std::int64_t e, double* total) {
        const std::int32_t a = p_.source[e], i = p_.target[e], rows = p_.labels[a], columns = p_.labels[i];
        const double share = down(1.0 / static_cast<double>(later(a)));
        const double *before = kept(a), *sending = sent(e), *told = message(e);
        const double least = least_[static_cast<std::size_t>(e - first_edge_)];
        const double* row = p_.tables.data() + p_.table_at[e];
        best_.assign(static_cast<std::size_t>(columns), kInfinity);
        for (std::int32_t k = 0; k < rows; ++k, row += columns) {
            if (told[k] == kInfinity || before[k] == kInfinity) continue;
            const double gone = -down(-(least + told[k])), gain = before[k] < kTiny ? 0.0 : down(before[k] * share);
            for (std::int32_t l = 0; l < columns; ++l) {
                const double left = std::max(0.0, down(down(sending[l] + row[l]) - gone));
                best_[static_cast<std::size_t>(l)] = std::min(best_[static_cast<std::size_t>(l)], down(left + gain));
            }
        }
        for (std::int32_t l = 0; l < columns; ++l) total[l] = down(total[l] + best_[static_cast<std::size_t>(l)]);
    }

    Packed& p_;
    std::int64_t first_, last_, first_edge_;
    std::vector<double> kept_;   // shaped as the unaries: R, then G
    std::vector<double> least_;  // m_e
    std::vector<std::int64_t> sent_at_;
    std::vector<double> sent_, best_;
};

}  // namespace

bool core_excess(const Reduction& reduced, Packed& packed, std::int64_t first, std::int64_t last, double bound,
                 std::span<const std::int64_t> unary_at, std::span<double> excess) {
    Pass pass(packed, first, last);
    const double c = pass.give_away();
    if (c == kInfinity) return false;
    pass.add_up();
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t u = packed.node[i];
        for (std::int32_t k = 0; k < reduced.n_labels(u); ++k)
            excess[unary_at[u] + k] = std::max(0.0, down(down(c - bound) + pass.kept(i)[k]));
    }
    return true;
}

}  // namespace gapcut::infer
