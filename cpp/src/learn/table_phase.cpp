#include "table_phase.hpp"

#include <algorithm>
#include <bit>

namespace gapcut {
namespace {

constexpr std::int64_t kEntries = 24'000;   // of tables and gains in one chunk, each
constexpr std::int64_t kFeatures = 30'000;  // of its edges
constexpr std::int64_t kShortRow = 4;
constexpr std::int64_t kFewColumns = 8;  // of features, whose sums are made column by column
constexpr std::int64_t kRows = 16;       // of edges at a time

}  // namespace

TablePhase::TablePhase(const Problem& p, bool at_most, std::span<const std::int32_t> pairs)
    : EdgePhase(p), at_most_(at_most) {
    const auto K = static_cast<std::size_t>(p.n_labels);
    const auto M = static_cast<std::size_t>(p.edges.rows());
    in_row_.assign(K, 0);
    in_column_.assign(K, 0);
    d_tail_.resize(K);
    d_head_.resize(K);
    for (auto* d : {&d_tail_, &d_head_})
        for (auto& of_label : *d) of_label.assign(M, 0.0F);
    sums_.resize(kShards);
    out_.resize(kShards);
    for (const auto pair : pairs) {
        m_[pair].assign(M, 0.0F);
        ++in_row_[pair / p.n_labels];
        ++in_column_[pair % p.n_labels];
        list(pair);
    }
    for (std::size_t e = 0; e < M; ++e) {
        auto& m = m_[p.labels[p.tail[e]] * p.n_labels + p.labels[p.head[e]]];
        if (!m.empty()) m[e] = 1.0F;
    }
    const auto cached = std::min(kEntries / std::max<std::int64_t>(1, std::ssize(pairs)),
                                 kFeatures / std::max<std::int64_t>(1, p.edge_dim()));
    chunk_ = std::clamp(cached / 16 * 16, std::int64_t{64}, kChunk);
}

void TablePhase::activate(std::int32_t, std::span<const float>) {}

void TablePhase::step_messages(Shard& s, std::int64_t begin, std::int64_t n, ArcSteps steps) {
    const auto K = problem_.n_labels;
    const auto shard = &s - shards_.data();
    std::vector<float>&sums = sums_[shard], &out = out_[shard];
    sums.resize(static_cast<std::size_t>(2 * K * kStride));
    out.resize(sums.size());
    std::vector<const float*> m(m_.size());
    for (std::size_t pair = 0; pair < m.size(); ++pair) m[pair] = m_[pair].empty() ? nullptr : m_[pair].data() + begin;
    kernels().table_sums(K, n, m.data(), sums.data(), sums.data() + K * kStride, kStride);
    const auto step = kernels().message_step[at_most_];
    for (int k = 0; k < K; ++k) {
        const auto row = k * kStride, column = (K + k) * kStride;
        s.residual += static_cast<double>(step(n, steps.tau * relative_step(in_row_[k]), steps.over_relaxation,
                                               s.z_tail.data() + row, sums.data() + row, d_tail_[k].data() + begin,
                                               out.data() + row, s.sums.tail(k)));
        s.residual += static_cast<double>(step(n, steps.tau * relative_step(in_column_[k]), steps.over_relaxation,
                                               s.z_head.data() + row, sums.data() + column, d_head_[k].data() + begin,
                                               out.data() + column, s.sums.head(k)));
    }
}

void TablePhase::step(std::int64_t shard, ArcSteps steps, std::span<const float> z) {
    Shard& s = shards_[shard];
    const auto K = problem_.n_labels;
    begin_step(s);
    s.range.for_chunks(chunk_, [&](std::int64_t begin, std::int64_t n) {
        const Features features = features_of(begin);
        gather(s, begin, n, z);
        table_gains(s, begin, n, features);
        s.sums.start_chunk();
        step_messages(s, begin, n, steps);
        const float* out = out_[shard].data();
        for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
            const auto pair = active_list_[slot];
            s.residual += static_cast<double>(kernels().table_step(
                n, steps.sigma, steps.over_relaxation, s.gain.data() + slot * kStride, out + pair / K * kStride,
                out + (K + pair % K) * kStride, m_[pair].data() + begin));
        }
        s.sums.scatter(begin, n);
        add_gradient(s, begin, n, features);
    });
}

// Weights of any sign are seldom zero: pairs then stand side by side, and the rows that make their gains are still in
// the cache when they make the gradient.
void TablePhase::set_weights(std::span<const double> weights) {
    EdgePhase::set_weights(weights);
    beside_.clear();
    const auto De = problem_.edge_dim(), slots = std::ssize(active_list_);
    if (problem_.edges.sparse() || De < kFewColumns || 2 * std::ssize(values_) < slots * De) return;
    const auto width = SparsePairs::padded(slots);
    beside_.assign(static_cast<std::size_t>(De * width), 0.0F);
    for (const Entry& entry : by_pair_) beside_[entry.feature * width + entry.slot] = entry.weight;
}

void TablePhase::table_gains(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const {
    if (beside_.empty()) return gains(s, begin, n, features);
    const auto De = problem_.edge_dim(), width = std::ssize(beside_) / De;
    std::fill_n(s.gain.begin(), width * kStride, 0.0F);
    s.weighted.resize(static_cast<std::size_t>(kRows * width));
    for (std::int64_t i = 0; i < n; i += kRows) {
        const auto count = std::min(kRows, n - i);
        for (std::int64_t j = 0; j < count; j += 4)
            kernels().scores_of(De, width, width_, features.rows + (i + j) * width_, beside_.data(),
                                s.weighted.data() + j * width);
        kernels().add_transposed(count, width, s.weighted.data(), s.gain.data() + i, kStride);
    }
}

// Most entries are exactly zero: labels that are sure leave one in K^2. Finding the others costs as much as `kShortRow`
// registers of features.
void TablePhase::add_gradient(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const {
    if (problem_.edges.sparse()) return add_sparse_gradient(s, begin, n);
    if (width_ <= kShortRow * kernels().floats) return EdgePhase::add_gradient(s, begin, n, features);
    const auto De = problem_.edge_dim();
    std::vector<std::int32_t> at(static_cast<std::size_t>(n));
    for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
        const float* m = m_[active_list_[slot]].data() + begin;
        std::int64_t count = 0;
        for (std::int64_t first = 0; first < n; first += kRows) {
            const auto last = std::min(n, first + kRows);
            std::uint32_t any = 0;
            for (auto i = first; i < last; ++i) any |= std::bit_cast<std::uint32_t>(m[i]);
            for (auto i = first; any != 0 && i < last; ++i) {
                at[count] = static_cast<std::int32_t>(i);
                count += m[i] != 0.0F;
            }
        }
        if (count == 0) continue;
        s.weighted.assign(static_cast<std::size_t>(4 * width_), 0.0F);
        kernels().add_listed_rows(count, at.data(), m, width_, features.rows, s.weighted.data());
        for (std::int64_t d = 0; d < De; ++d) s.gradient[slot * De + d] += static_cast<double>(s.weighted[d]);
    }
}

// Pairs without a table have no weights to learn.
void TablePhase::compute_inactive_gradient(std::int64_t shard, std::span<const float>) {
    shards_[shard].inactive.assign(active_.size() * static_cast<std::size_t>(problem_.edge_dim()), 0.0);
}

std::size_t TablePhase::saved_size(std::size_t pairs) const {
    return (pairs + 2 * d_tail_.size()) * static_cast<std::size_t>(problem_.edges.rows());
}

std::vector<float> TablePhase::save() const {
    std::vector<float> saved(saved_size(active_list_.size()));
    auto at = saved.begin();
    for (const auto pair : active_list_) at = std::ranges::copy(m_[pair], at).out;
    for (const auto* d : {&d_tail_, &d_head_})
        for (const auto& of_label : *d) at = std::ranges::copy(of_label, at).out;
    return saved;
}

void TablePhase::load(std::span<const std::int32_t> pairs, std::span<const float> saved) {
    if (!std::ranges::equal(pairs, active_list_)) throw std::invalid_argument("the snapshot is of another problem");
    const auto M = problem_.edges.rows();
    const float* at = saved.data();
    const auto take = [&](FloatColumn& to) {
        to.assign(at, at + M);
        at += M;
    };
    for (const auto pair : active_list_) take(m_[pair]);
    for (auto* d : {&d_tail_, &d_head_})
        for (auto& of_label : *d) take(of_label);
}

void TablePhase::move_to(PageFile& file) {
    EdgePhase::move_to(file);
    for (auto* d : {&d_tail_, &d_head_})
        for (auto& of_label : *d) of_label.move_to(file);
}

ArcMultipliers TablePhase::multipliers() const {
    return {{d_tail_.begin(), d_tail_.end()}, {d_head_.begin(), d_head_.end()}};
}

double TablePhase::multiplier_norm(const Shard& s) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < d_tail_.size(); ++k)
        s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
            sum += static_cast<double>(kernels().square(n, d_tail_[k].data() + begin) / relative_step(in_row_[k]) +
                                       kernels().square(n, d_head_[k].data() + begin) / relative_step(in_column_[k]));
        });
    return sum;
}

}  // namespace gapcut
