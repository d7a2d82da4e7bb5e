#include "node_phase.hpp"

#include <algorithm>

#include "operations.hpp"

namespace gapcut {

NodePhase::NodePhase(const Problem& p, double loss_scale, bool simplex)
    : problem_(p), simplex_(simplex), inverse_degree_(inverse_degrees(p)) {
    const auto N = p.nodes.rows(), Dn = p.node_dim();
    const auto K = p.n_labels;
    const auto padded = [size = kernels().floats](std::int64_t n) { return (n + size - 1) / size * size; };
    width_ = padded(Dn);
    label_width_ = padded(K);
    if (!p.nodes.sparse()) {
        rows_.assign(static_cast<std::size_t>((N + 3) * width_), 0.0F);  // scores_of reads four at a time
        for (std::int64_t u = 0; u < N; ++u)
            for (std::int64_t d = 0; d < Dn; ++d) rows_[u * width_ + d] = static_cast<float>(p.nodes.dense_row(u)[d]);
    }
    loss_.resize(static_cast<std::size_t>(N));
    costs_.assign(static_cast<std::size_t>(K) * static_cast<std::size_t>(K), 1.0F);
    std::ranges::transform(p.costs, costs_.begin(), [](double x) { return static_cast<float>(x); });
    z_.assign(static_cast<std::size_t>(N * K), 0.0F);
    for (std::int64_t u = 0; u < N; ++u) {
        loss_[u] = static_cast<float>(p.loss[u] / loss_scale);
        z_[p.labels[u] * N + u] = 1.0F;
    }
    z_step_ = z_;
    z_rows_.assign(static_cast<std::size_t>(N * row_width(K)), 0.0F);
    copy_rows(0, N);
    sigma_.resize(z_.size());
    shards_.resize(kShards);
    for (std::int64_t i = 0; i < kShards; ++i) {
        shards_[i].begin = i * N / kShards;
        shards_[i].end = (i + 1) * N / kShards;
    }
}

void NodePhase::set_labels(std::vector<float> z, std::vector<float> z_step) {
    z_ = std::move(z);
    z_step_ = std::move(z_step);
    copy_rows(0, problem_.nodes.rows());
}

void NodePhase::copy_rows(std::int64_t begin, std::int64_t end) {
    const auto N = problem_.nodes.rows();
    const auto K = problem_.n_labels;
    const auto width = row_width(K);
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < K; ++k) z_rows_[u * width + k] = z_[k * N + u];
}

void NodePhase::set_sigma(double sigma, std::span<const double> kappa) {
    const auto N = problem_.nodes.rows();
    for (int k = 0; k < problem_.n_labels; ++k)
        for (std::int64_t u = 0; u < N; ++u)
            sigma_[k * N + u] = static_cast<float>(sigma / kappa[k] * inverse_degree_[u]);
}

void NodePhase::set_weights(std::span<const double> unary) {
    const auto Dn = problem_.node_dim();
    by_feature_.assign(static_cast<std::size_t>(Dn * label_width_), 0.0F);
    for (int k = 0; k < problem_.n_labels; ++k)
        for (std::int64_t d = 0; d < Dn; ++d) by_feature_[d * label_width_ + k] = static_cast<float>(unary[k * Dn + d]);
}

// score[k][i] = loss_k (1 - 2 y) + phi . w^k, label-major
void NodePhase::scores(Shard& s, std::int64_t begin, std::int64_t n) const {
    const auto K = problem_.n_labels;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto u = begin + i;
        const float* row = s.row.data() + (i % 4) * label_width_;
        if (problem_.nodes.sparse()) {
            float* sum = s.row.data() + (i % 4) * label_width_;
            std::fill(sum, sum + label_width_, 0.0F);
            problem_.nodes.for_row(u, [&](std::int32_t d, double x) {
                kernels().add_scaled_floats(label_width_, static_cast<float>(x), by_feature_.data() + d * label_width_,
                                            sum);
            });
        } else if (i % 4 == 0) {
            kernels().scores_of(problem_.node_dim(), label_width_, width_, rows_.data() + u * width_,
                                by_feature_.data(), s.row.data());
        }
        const float* factor = costs_.data() + std::ptrdiff_t{problem_.labels[u]} * K;
        for (int k = 0; k < K; ++k) s.score[k * kChunk + i] = row[k] + loss_[u] * factor[k];
        s.score[problem_.labels[u] * kChunk + i] -= 2.0F * loss_[u] * factor[problem_.labels[u]];
    }
}

void NodePhase::add_gradient(Shard& s, std::int64_t begin, std::int64_t n) const {
    const auto Dn = problem_.node_dim(), N = problem_.nodes.rows();
    const auto K = problem_.n_labels;
    if (problem_.nodes.sparse()) {
        for (int k = 0; k < K; ++k) {
            const float* z = z_.data() + k * N + begin;
            double* sum = s.gradient.data() + k * Dn;
            for (std::int64_t i = 0; i < n; ++i)
                if (z[i] != 0.0F)
                    problem_.nodes.for_row(begin + i,
                                           [&](std::int32_t d, double x) { sum[d] += static_cast<double>(z[i]) * x; });
        }
        return;
    }
    std::ranges::fill(s.sums, 0.0F);
    const auto block = rows_at_once(width_);
    for (std::int64_t from = 0; from < n; from += block)
        for (int k = 0; k < K; k += 4) {
            const float* z[4];
            for (int j = 0; j < 4; ++j) z[j] = z_.data() + std::min(k + j, K - 1) * N + begin + from;
            kernels().add_weighted_rows(std::min(block, n - from), width_, z, rows_.data() + (begin + from) * width_,
                                        s.sums.data() + k * width_);
        }
    for (int k = 0; k < K; ++k)
        for (std::int64_t d = 0; d < Dn; ++d) s.gradient[k * Dn + d] += static_cast<double>(s.sums[k * width_ + d]);
}

void NodePhase::compute_gradient(std::int64_t shard) {
    Shard& s = shards_[shard];
    s.sums.resize(static_cast<std::size_t>(row_width(problem_.n_labels) * width_));
    s.gradient.assign(static_cast<std::size_t>(problem_.unary_size()), 0.0);
    for (auto begin = s.begin; begin < s.end; begin += kChunk) add_gradient(s, begin, std::min(kChunk, s.end - begin));
}

void NodePhase::move(Shard& s, std::int64_t begin, std::int64_t n, float relax) {
    const auto N = problem_.nodes.rows();
    if (simplex_) {
        s.residual += static_cast<double>(kernels().simplex_step(n, problem_.n_labels, relax, sigma_.data() + begin,
                                                                 s.score.data(), kChunk, z_.data() + begin,
                                                                 z_step_.data() + begin, N));
        return;
    }
    for (int k = 0; k < problem_.n_labels; ++k) {
        const float* score = s.score.data() + k * kChunk;
        const auto place = k * N + begin;
        s.residual += static_cast<double>(
            kernels().label_step(n, relax, sigma_.data() + place, score, z_.data() + place, z_step_.data() + place));
    }
}

void NodePhase::step(std::int64_t shard, float relax, const EdgePhase& edges) {
    Shard& s = shards_[shard];
    s.score.resize(static_cast<std::size_t>(row_width(problem_.n_labels) * kChunk));
    s.row.resize(static_cast<std::size_t>(4 * label_width_));
    s.sums.resize(static_cast<std::size_t>(row_width(problem_.n_labels) * width_));
    s.gradient.assign(static_cast<std::size_t>(problem_.unary_size()), 0.0);
    s.residual = 0.0;
    for (auto begin = s.begin; begin < s.end; begin += kChunk) {
        const auto n = std::min(kChunk, s.end - begin);
        scores(s, begin, n);
        edges.add_node_sums(begin, begin + n, s.score.data(), kChunk);
        move(s, begin, n, relax);
        copy_rows(begin, begin + n);
        add_gradient(s, begin, n);
    }
}

void NodePhase::gradient(std::vector<double>& sum) const {
    sum.assign(static_cast<std::size_t>(problem_.unary_size()), 0.0);
    for (const Shard& s : shards_)
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += s.gradient[j];
}

double NodePhase::residual() const {
    double sum = 0.0;
    for (const Shard& s : shards_) sum += s.residual;
    return sum;
}

double NodePhase::squared_distance() const {
    const auto N = problem_.nodes.rows();
    double sum = 0.0;
    for (int k = 0; k < problem_.n_labels; ++k)
        for (std::int64_t u = 0; u < N; ++u) {
            const double away = static_cast<double>(z_[k * N + u]) - (problem_.labels[u] == k ? 1.0 : 0.0);
            sum += away * away / static_cast<double>(sigma_[k * N + u]);
        }
    return sum;
}

}  // namespace gapcut
