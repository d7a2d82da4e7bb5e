#include "edge_phase.hpp"

#include <algorithm>

#include "operations.hpp"

namespace gapcut {
namespace {

// Label pairs stand side by side where so many of the features are not zero and columns are at most so many.
constexpr double kLeastDensity = 1.0 / 16.0;
constexpr std::int64_t kMostColumns = 1024;

}  // namespace

EdgePhase::EdgePhase(const Problem& p) : problem_(p), pairs_(p.edges) {
    const auto pairs = static_cast<std::size_t>(p.n_labels) * p.n_labels;
    const auto M = p.edges.rows(), De = p.edge_dim();
    active_.assign(pairs, 0);
    m_.resize(pairs);
    const auto size = kernels().floats;
    width_ = (De + size - 1) / size * size;
    const double density = entries_a_row(p.edges) / static_cast<double>(std::max<std::int64_t>(1, De));
    side_by_side_ = p.edges.sparse() && De <= kMostColumns && density >= kLeastDensity;
    by_entry_ = p.edges.sparse() && !side_by_side_;
    if (!p.edges.sparse()) {
        rows_.assign(static_cast<std::size_t>((M + 3) * width_), 0.0F);  // scores_of reads four at a time
        columns_.resize(static_cast<std::size_t>(M * De));
        for (std::int64_t e = 0; e < M; ++e)
            for (std::int64_t d = 0; d < De; ++d) {
                const auto x = static_cast<float>(p.edges.dense_row(e)[d]);
                rows_[e * width_ + d] = x;
                columns_[d * M + e] = x;
            }
    }
    const auto ranges = edge_shards(p, true);
    shards_.resize(ranges.size());
    for (std::size_t i = 0; i < ranges.size(); ++i) shards_[i].range = ranges[i];
}

ArcPhase::ArcPhase(const Problem& p) : EdgePhase(p) {
    d1_.resize(m_.size());
    d2_.resize(m_.size());
}

void EdgePhase::list(std::int32_t pair) {
    active_[pair] = 1;
    active_list_.insert(std::upper_bound(active_list_.begin(), active_list_.end(), pair), pair);
}

void ArcPhase::activate(std::int32_t pair, std::span<const float> z) {
    const auto M = problem_.edges.rows(), width = row_width(problem_.n_labels);
    const auto k = pair / problem_.n_labels, l = pair % problem_.n_labels;
    m_[pair].assign(static_cast<std::size_t>(M), 0.0F);
    d1_[pair].assign(static_cast<std::size_t>(M), 0.0F);
    d2_[pair].assign(static_cast<std::size_t>(M), 0.0F);
    float* const m = m_[pair].data();
    for (std::int64_t e = 0; e < M; ++e)
        m[e] = std::min(z[problem_.tail[e] * width + k], z[problem_.head[e] * width + l]);
    list(pair);
}

void ArcPhase::deactivate(std::int32_t pair) {
    active_[pair] = 0;
    std::erase(active_list_, pair);
    for (auto* state : {&m_[pair], &d1_[pair], &d2_[pair]}) state->clear();
}

bool ArcPhase::needed(std::int32_t pair) const {
    const auto positive = [](float x) { return x > 0.0F; };
    return std::ranges::any_of(d1_[pair], positive) || std::ranges::any_of(d2_[pair], positive);
}

double ArcPhase::crowding(int label) const {
    const auto K = problem_.n_labels;
    int out = 0, in = 0;
    for (int l = 0; l < K; ++l) {
        out += active(label * K + l);
        in += active(l * K + label);
    }
    return std::max(out, in);
}

void EdgePhase::set_weights(std::span<const double> weights) {
    if (side_by_side_) return pairs_.set_weights(weights, active_list_);
    const auto De = problem_.edge_dim();
    by_pair_.clear();
    features_.clear();
    values_.clear();
    first_of_pair_.assign(1, 0);
    first_of_feature_.assign(static_cast<std::size_t>(De) + 1, 0);
    for (std::int32_t slot = 0; slot < std::ssize(active_list_); ++slot) {
        const double* w = weights.data() + active_list_[slot] * De;
        for (std::int32_t d = 0; d < De; ++d)
            if (w[d] != 0.0) {
                by_pair_.push_back({d, slot, static_cast<float>(w[d])});
                features_.push_back(d);
                values_.push_back(static_cast<float>(w[d]));
                ++first_of_feature_[d + 1];
            }
        first_of_pair_.push_back(std::ssize(by_pair_));
    }
    for (std::int64_t d = 0; d < De; ++d) first_of_feature_[d + 1] += first_of_feature_[d];
    by_feature_.resize(by_pair_.size());
    auto next = first_of_feature_;
    for (const Entry& entry : by_pair_) by_feature_[next[entry.feature]++] = entry;
}

void EdgePhase::gather(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const {
    const auto width = row_width(problem_.n_labels);
    s.z_tail.resize(static_cast<std::size_t>(width * kStride));
    s.z_head.resize(static_cast<std::size_t>(width * kStride));
    kernels().gather_rows(n, width, problem_.tail.data() + begin, 0, z.data(), s.z_tail.data(), kStride);
    kernels().gather_rows(n, width, problem_.head.data() + begin, 0, z.data(), s.z_head.data(), kStride);
}

void EdgePhase::gains(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const {
    if (side_by_side_) return pairs_.gains(begin, n, s.sparse, s.gain.data(), kStride);
    if (!by_entry_) {
        for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
            const auto at = first_of_pair_[slot];
            kernels().sum_columns(n, first_of_pair_[slot + 1] - at, features_.data() + at, values_.data() + at,
                                  features.columns, features.stride, s.gain.data() + slot * kStride);
        }
        return;
    }
    std::fill(s.gain.begin(), s.gain.end(), 0.0F);
    for (std::int64_t i = 0; i < n; ++i)
        problem_.edges.for_row(begin + i, [&](std::int32_t d, double x) {
            for (auto q = first_of_feature_[d]; q < first_of_feature_[d + 1]; ++q)
                s.gain[by_feature_[q].slot * kStride + i] += static_cast<float>(x) * by_feature_[q].weight;
        });
}

void EdgePhase::add_sparse_gradient(Shard& s, std::int64_t begin, std::int64_t n) const {
    const auto De = problem_.edge_dim();
    for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
        const float* m = m_[active_list_[slot]].data() + begin;
        double* sum = s.gradient.data() + slot * De;
        for (std::int64_t i = 0; i < n; ++i)
            if (m[i] != 0.0F) problem_.edges.add_row(begin + i, static_cast<double>(m[i]), sum);
    }
}

void EdgePhase::add_gradient(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const {
    const auto De = problem_.edge_dim();
    const auto slots = std::ssize(active_list_);
    if (by_entry_) return add_sparse_gradient(s, begin, n);
    if (side_by_side_) {
        std::vector<const float*> m;
        std::vector<double*> sums;
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            m.push_back(m_[active_list_[slot]].data() + begin);
            sums.push_back(s.gradient.data() + slot * De);
        }
        return pairs_.add_weighted(begin, n, m, sums, s.sparse);
    }
    s.weighted.assign(static_cast<std::size_t>((slots + 3) / 4 * 4 * width_), 0.0F);
    const auto block = rows_at_once(width_);
    for (std::int64_t from = 0; from < n; from += block)
        for (std::int64_t slot = 0; slot < slots; slot += 4) {
            const float* m[4];
            for (std::int64_t j = 0; j < 4; ++j)  // a group that is not full repeats its last pair, for nothing
                m[j] = m_[active_list_[std::min(slot + j, slots - 1)]].data() + begin + from;
            kernels().add_weighted_rows(std::min(block, n - from), width_, m, features.rows + from * width_,
                                        s.weighted.data() + slot * width_);
        }
    for (std::int64_t slot = 0; slot < slots; ++slot)
        for (std::int64_t d = 0; d < De; ++d)
            s.gradient[slot * De + d] += static_cast<double>(s.weighted[slot * width_ + d]);
}

// sums[j] += sum_e weight[j][e] phi_e for as many lists of weights as are taken at once.
void EdgePhase::add_weighted_features(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float*> weight,
                                      std::span<double* const> sums) const {
    if (side_by_side_) return pairs_.add_weighted(begin, n, weight, sums, s.sparse);
    const auto De = problem_.edge_dim();
    const float* const four[4] = {weight[0], weight[std::min<std::size_t>(1, weight.size() - 1)],
                                  weight[std::min<std::size_t>(2, weight.size() - 1)], weight.back()};
    s.weighted.assign(static_cast<std::size_t>(4 * width_), 0.0F);
    kernels().add_weighted_rows(n, width_, four, features_of(begin).rows, s.weighted.data());
    for (std::size_t j = 0; j < weight.size(); ++j)
        for (std::int64_t d = 0; d < De; ++d) sums[j][d] += static_cast<double>(s.weighted[j * width_ + d]);
}

void EdgePhase::begin_step(Shard& s) const {
    s.sums.clear(problem_, s.range);
    s.gradient.assign(active_list_.size() * static_cast<std::size_t>(problem_.edge_dim()), 0.0);
    s.gain.resize(static_cast<std::size_t>(SparsePairs::padded(std::ssize(active_list_)) * kStride));
    s.residual = 0.0;
}

void ArcPhase::step(std::int64_t shard, ArcSteps steps, std::span<const float> z) {
    Shard& s = shards_[shard];
    const auto K = problem_.n_labels;
    begin_step(s);
    s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
        const Features features = features_of(begin);
        gather(s, begin, n, z);
        gains(s, begin, n, features);
        s.sums.start_chunk();
        for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
            const auto pair = active_list_[slot], k = pair / K, l = pair % K;
            s.residual += static_cast<double>(
                kernels().arc_step(n, steps, s.gain.data() + slot * kStride, s.z_tail.data() + k * kStride,
                                   s.z_head.data() + l * kStride, m_[pair].data() + begin, d1_[pair].data() + begin,
                                   d2_[pair].data() + begin, s.sums.tail(k), s.sums.head(l)));
        }
        s.sums.scatter(begin, n);
        add_gradient(s, begin, n, features);
    });
}

void EdgePhase::compute_gradient(std::int64_t shard) {
    Shard& s = shards_[shard];
    s.gradient.assign(active_list_.size() * static_cast<std::size_t>(problem_.edge_dim()), 0.0);
    s.range.for_chunks(kChunk,
                       [&](std::int64_t begin, std::int64_t n) { add_gradient(s, begin, n, features_of(begin)); });
}

void EdgePhase::move_to(PageFile& file) {
    for (auto& column : m_) column.move_to(file);
}

void ArcPhase::move_to(PageFile& file) {
    EdgePhase::move_to(file);
    for (auto* columns : {&d1_, &d2_})
        for (auto& column : *columns) column.move_to(file);
}

std::size_t ArcPhase::saved_size(std::size_t pairs) const {
    return pairs * static_cast<std::size_t>(3 * problem_.edges.rows());
}

std::vector<float> ArcPhase::save() const {
    std::vector<float> saved(saved_size(active_list_.size()));
    auto at = saved.begin();
    for (const auto pair : active_list_)
        for (const auto* state : {&m_[pair], &d1_[pair], &d2_[pair]}) at = std::ranges::copy(*state, at).out;
    return saved;
}

void ArcPhase::load(std::span<const std::int32_t> pairs, std::span<const float> saved) {
    for (const auto pair : std::vector<std::int32_t>(active_list_)) deactivate(pair);
    const auto* at = saved.data();
    for (const auto pair : pairs) {
        for (auto* state : {&m_[pair], &d1_[pair], &d2_[pair]}) {
            state->assign(at, at + problem_.edges.rows());
            at += problem_.edges.rows();
        }
        list(pair);
    }
}

ArcMultipliers ArcPhase::multipliers() const { return {{d1_.begin(), d1_.end()}, {d2_.begin(), d2_.end()}}; }

void ArcPhase::compute_inactive_gradient(std::int64_t shard, std::span<const float> z) {
    Shard& s = shards_[shard];
    s.inactive.assign(active_.size() * static_cast<std::size_t>(problem_.edge_dim()), 0.0);
    if (active_list_.size() == active_.size()) return;
    s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
        if (by_entry_ || mostly_zero(begin, n, z))
            add_inactive_by_edge(s, begin, n, z);
        else
            add_inactive_by_pair(s, begin, n, z);
    });
}

// Whether going through the labels that are not zero costs less than going through all pairs, in cycles, roughly.
bool ArcPhase::mostly_zero(std::int64_t begin, std::int64_t n, std::span<const float> z) const {
    const auto K = problem_.n_labels;
    const auto width = row_width(K);
    const auto inactive = static_cast<double>(active_.size() - active_list_.size());
    double products = 0.0;
    for (auto e = begin; e < begin + n; e += 8) {
        const float *tail = z.data() + problem_.tail[e] * width, *head = z.data() + problem_.head[e] * width;
        const auto positive = [](float x) { return x > 0.0F; };
        products +=
            static_cast<double>(std::count_if(tail, tail + K, positive) * std::count_if(head, head + K, positive));
    }
    const double fraction = inactive / static_cast<double>(active_.size()), entry = side_by_side_ ? 2.0 : 0.7,
                 rows = side_by_side_ ? entries_a_row(problem_.edges) / static_cast<double>(kernels().floats) * 1.0
                                      : static_cast<double>(width_ / kernels().floats);
    return 8.0 * products * (2.0 + entry * fraction * entries_a_row(problem_.edges)) <
           static_cast<double>(n) * inactive * (rows + 0.4);
}

void ArcPhase::add_inactive_by_edge(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const {
    const auto K = problem_.n_labels;
    const auto De = problem_.edge_dim(), width = row_width(K);
    std::vector<std::pair<int, float>> at_tail, at_head;
    const auto support = [&](std::int64_t u, auto& out) {
        out.clear();
        for (int k = 0; k < K; ++k)
            if (z[u * width + k] != 0.0F) out.emplace_back(k, z[u * width + k]);
    };
    for (auto e = begin; e < begin + n; ++e) {
        support(problem_.tail[e], at_tail);
        support(problem_.head[e], at_head);
        for (const auto& [k, zk] : at_tail)
            for (const auto& [l, zl] : at_head) {
                if (active_[k * K + l]) continue;
                const auto m = static_cast<double>(std::min(zk, zl));
                problem_.edges.add_row(e, m, s.inactive.data() + (k * K + l) * De);
            }
    }
}

void ArcPhase::add_inactive_by_pair(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const {
    const auto K = problem_.n_labels;
    const auto De = problem_.edge_dim(), at_once = side_by_side_ ? SparsePairs::block() : 4;
    gather(s, begin, n, z);
    s.gain.resize(std::max<std::size_t>(s.gain.size(), at_once * kChunk));
    std::vector<const float*> weight;
    std::vector<double*> sums;
    const auto flush = [&] {
        if (!weight.empty()) add_weighted_features(s, begin, n, weight, sums);
        weight.clear();
        sums.clear();
    };
    for (std::int64_t pair = 0; pair < std::ssize(active_); ++pair) {
        if (active_[pair]) continue;
        float* m = s.gain.data() + std::ssize(weight) * kChunk;
        if (!kernels().least(n, s.z_tail.data() + pair / K * kStride, s.z_head.data() + pair % K * kStride, m))
            continue;
        weight.push_back(m);
        sums.push_back(s.inactive.data() + pair * De);
        if (std::ssize(weight) == at_once) flush();
    }
    flush();
}

void EdgePhase::gradient(bool inactive, std::vector<double>& sum) const {
    const auto De = problem_.edge_dim();
    for (std::int64_t slot = 0; slot < std::ssize(active_list_); ++slot) {
        double* row = sum.data() + active_list_[slot] * De;
        std::fill(row, row + De, 0.0);
        for (const Shard& s : shards_)
            for (std::int64_t d = 0; d < De && !s.gradient.empty(); ++d) row[d] += s.gradient[slot * De + d];
    }
    if (!inactive) return;
    for (std::int64_t pair = 0; pair < std::ssize(active_); ++pair) {
        if (active_[pair]) continue;
        double* row = sum.data() + pair * De;
        std::fill(row, row + De, 0.0);
        for (const Shard& s : shards_)
            for (std::int64_t d = 0; d < De; ++d) row[d] += s.inactive[pair * De + d];
    }
}

double EdgePhase::residual() const {
    double sum = 0.0;
    for (const Shard& s : shards_) sum += s.residual;
    return sum;
}

EdgePhase::Distance EdgePhase::squared_distance(std::int64_t shard) const {
    const Shard& s = shards_[shard];
    Distance sum;
    for (const auto pair : active_list_) {
        const auto k = pair / problem_.n_labels, l = pair % problem_.n_labels;
        s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
            sum.labels += static_cast<double>(kernels().square(n, m_[pair].data() + begin));
            for (auto e = begin; e < begin + n; ++e)
                if (problem_.labels[problem_.tail[e]] == k && problem_.labels[problem_.head[e]] == l)
                    sum.labels +=
                        1.0 - 2.0 * static_cast<double>(m_[pair][static_cast<std::size_t>(e)]);  // the true m is 1
        });
    }
    sum.multipliers = multiplier_norm(s);
    return sum;
}

double ArcPhase::multiplier_norm(const Shard& s) const {
    double sum = 0.0;
    for (const auto pair : active_list_)
        s.range.for_chunks(kChunk, [&](std::int64_t begin, std::int64_t n) {
            sum += static_cast<double>(kernels().square(n, d1_[pair].data() + begin) +
                                       kernels().square(n, d2_[pair].data() + begin));
        });
    return sum;
}

void EdgePhase::add_node_sums(std::int64_t begin, std::int64_t end, float* out, std::int64_t stride) const {
    const auto width = row_width(problem_.n_labels);
    for (const Shard& s : shards_) {
        const auto from = std::max(begin, s.range.node_begin), to = std::min(end, s.range.node_end);
        if (from >= to || s.sums.empty()) continue;
        kernels().add_transposed(to - from, width, s.sums.row(from), out + from - begin, stride);
    }
}

}  // namespace gapcut
