#include "gapcut/learn/unary_system.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gapcut/kernels.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut {
namespace {

constexpr std::int64_t kShards = 16;  // fixed, so that sums do not depend on the number of threads
constexpr int kGradientSteps = 30;
constexpr double kTolerance = 0.1;         // of the residual, in the norm of the preconditioner, relative to the start
constexpr std::int64_t kCached = 1 << 18;  // floats of rows that are read twice
constexpr int kBoxSweeps = 100;
constexpr std::int64_t kGramRows = 64;  // taken together, so that they stay in the cache

}  // namespace

namespace {

Symmetric sparse_gram(const RowMatrix& rows, std::span<const double> weight) {
    const auto dims = rows.cols();
    Symmetric sum(dims);
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
        const double factor = weight.empty() ? 1.0 : weight[r];
        rows.for_row(r, [&](std::int32_t i, double x) {
            double* out = sum.values.data() + i * dims;
            rows.for_row(r, [&](std::int32_t j, double y) { out[j] += factor * x * y; });
        });
    }
    return sum;
}

}  // namespace

Symmetric gram(const RowMatrix& rows, std::span<const double> weight) {
    if (rows.sparse()) return sparse_gram(rows, weight);
    const auto dims = rows.cols(), tile = kernels().tile, width = (dims + tile - 1) / tile * tile;
    std::vector<double> left(static_cast<std::size_t>(kGramRows * width), 0.0), right(left);
    std::vector<double> padded(static_cast<std::size_t>(width * width), 0.0);
    for (std::int64_t begin = 0; begin < rows.rows(); begin += kGramRows) {
        const auto n = std::min(kGramRows, rows.rows() - begin);
        for (std::int64_t r = 0; r < n; ++r) {
            const double factor = weight.empty() ? 1.0 : weight[begin + r], *x = rows.dense_row(begin + r);
            for (std::int64_t d = 0; d < dims; ++d) {
                left[r * width + d] = factor * x[d];
                right[r * width + d] = x[d];
            }
        }
        for (std::int64_t i = 0; i < width; i += tile)  // the upper triangle, and what tiles add to it
            kernels().add_products(n, tile, left.data() + i, width, width - i, right.data() + i, width,
                                   padded.data() + i * width + i, width);
    }
    Symmetric sum(dims);
    for (std::int64_t i = 0; i < dims; ++i)
        for (auto j = i; j < dims; ++j) sum(i, j) = sum(j, i) = padded[i * width + j];
    return sum;
}

std::vector<double> gram_row_sums(const RowMatrix& rows, std::span<const double> weight) {
    std::vector<double> sum(static_cast<std::size_t>(rows.cols()), 0.0);
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
        double total = 0.0;
        rows.for_row(r, [&](std::int32_t, double x) { total += std::abs(x); });
        if (!weight.empty()) total *= weight[r];
        rows.for_row(r, [&](std::int32_t j, double x) { sum[j] += total * std::abs(x); });
    }
    return sum;
}

UnarySystem::UnarySystem(const Problem& p, std::vector<double> weight, Way way, int threads, FloatRows rows)
    : problem_(p), weight_(std::move(weight)), way_(way), threads_(std::max(1, threads)), rows_(rows) {
    if (way_ == Way::dense) {
        gram_ = gram(p.nodes, weight_);
        pack_gram();
        return;
    }
    row_sums_ = gram_row_sums(p.nodes, weight_);
    diagonal_.assign(row_sums_.size(), 0.0);
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u)
        p.nodes.for_row(u, [&](std::int32_t j, double x) { diagonal_[j] += weight_[u] * x * x; });
}

// The Gram matrix by panels of as many columns as a kernel takes, so that it is read once, in order, for all labels.
void UnarySystem::pack_gram() {
    const auto tile = kernels().tile, panels = (gram_.n + tile - 1) / tile;
    panels_.assign(static_cast<std::size_t>(gram_.n * panels * tile), 0.0);
    double* to = panels_.data();
    for (std::int64_t first = 0; first < gram_.n; first += tile)
        for (std::int64_t r = 0; r < gram_.n; ++r, to += tile)
            std::copy_n(gram_.row(r) + first, std::min(tile, gram_.n - first), to);
}

// out_k = A x_k
void UnarySystem::multiply_gram(std::span<const double> x, std::span<double> out) const {
    const auto Dn = gram_.n, tile = kernels().tile, width = (Dn + tile - 1) / tile * tile;
    const auto K = std::int64_t{problem_.n_labels}, labels = (K + 3) / 4 * 4;
    std::vector<double> columns(static_cast<std::size_t>(Dn * labels), 0.0);
    std::vector<double> sums(static_cast<std::size_t>(labels * width), 0.0);
    for (std::int64_t k = 0; k < K; ++k)
        for (std::int64_t d = 0; d < Dn; ++d) columns[d * labels + k] = x[k * Dn + d];
    for (std::int64_t first = 0; first < Dn; first += tile)
        kernels().add_products(Dn, labels, columns.data(), labels, tile, panels_.data() + first * Dn, tile,
                               sums.data() + first, width);
    for (std::int64_t k = 0; k < K; ++k) std::copy_n(sums.data() + k * width, Dn, out.data() + k * Dn);
}

void UnarySystem::update(std::span<const double> factor, double inverse_c) {
    factor_.assign(factor.begin(), factor.end());
    inverse_c_ = inverse_c;
    if (way_ != Way::dense) return;
    solver_.clear();
    which_.resize(factor_.size());
    std::map<double, std::size_t> seen;
    for (std::size_t k = 0; k < factor_.size(); ++k) {
        const auto [place, fresh] = seen.try_emplace(factor_[k], solver_.size());
        if (fresh) solver_.emplace_back(scaled(gram_, factor_[k], inverse_c_));
        which_[k] = place->second;
    }
}

// out_k = f_k A x_k for the labels chosen, through X.
void UnarySystem::apply(const std::vector<std::uint8_t>& labels, std::span<const double> x,
                        std::span<double> out) const {
    const auto Dn = problem_.node_dim(), N = problem_.nodes.rows();
    const auto K = problem_.n_labels;
    std::vector<float> by_feature;
    if (rows_.values != nullptr) {
        const auto size = kernels().floats, width = (K + size - 1) / size * size;
        by_feature.assign(static_cast<std::size_t>(Dn * width), 0.0F);
        for (int k = 0; k < K; ++k)
            for (std::int64_t d = 0; d < Dn && labels[k]; ++d)
                by_feature[d * width + k] = static_cast<float>(x[k * Dn + d]);
    }
    std::vector<std::vector<double>> part(kShards);
    parallel_for(kShards, threads_, [&](std::int64_t shard, int) {
        part[shard].assign(x.size(), 0.0);
        const auto begin = shard * N / kShards, end = (shard + 1) * N / kShards;
        if (by_feature.empty())
            add_rows(begin, end, labels, x, part[shard]);
        else
            add_float_rows(begin, end, by_feature, part[shard]);
    });
    std::fill(out.begin(), out.end(), 0.0);
    for (const auto& sum : part)
        for (std::size_t j = 0; j < sum.size(); ++j) out[j] += sum[j];
}

void UnarySystem::add_rows(std::int64_t begin, std::int64_t end, const std::vector<std::uint8_t>& labels,
                           std::span<const double> x, std::span<double> sum) const {
    const auto Dn = problem_.node_dim();
    for (auto u = begin; u < end; ++u)
        for (int k = 0; k < problem_.n_labels; ++k) {
            if (!labels[k]) continue;
            double s = 0.0;
            problem_.nodes.for_row(u, [&](std::int32_t d, double y) { s += y * x[k * Dn + d]; });
            s *= weight_[u] * factor_[k];
            problem_.nodes.for_row(u, [&](std::int32_t d, double y) { sum[k * Dn + d] += s * y; });
        }
}

// In single precision, all labels at once, a few rows at a time: they are read for their scores and, while they are in
// the cache, for the sums.
void UnarySystem::add_float_rows(std::int64_t begin, std::int64_t end, std::span<const float> by_feature,
                                 std::span<double> sum) const {
    const auto Dn = problem_.node_dim(), width = std::ssize(by_feature) / Dn;
    const auto K = problem_.n_labels;
    const auto chunk = std::max<std::int64_t>(
        4, std::min<std::int64_t>(256, kCached / std::max<std::int64_t>(1, rows_.width)) / 4 * 4);
    std::vector<float> scores(static_cast<std::size_t>(4 * width)), scaled(static_cast<std::size_t>(K * chunk));
    std::vector<float> sums(static_cast<std::size_t>(4 * rows_.width));
    for (auto first = begin; first < end; first += chunk) {
        const auto n = std::min(chunk, end - first);
        for (std::int64_t i = 0; i < n; ++i) {
            if (i % 4 == 0)
                kernels().scores_of(Dn, width, rows_.width, rows_.values + (first + i) * rows_.width, by_feature.data(),
                                    scores.data());
            for (int k = 0; k < K; ++k)
                scaled[k * chunk + i] = static_cast<float>(weight_[first + i] * factor_[k]) * scores[i % 4 * width + k];
        }
        for (int k = 0; k < K; k += 4) {
            const float* weights[4];
            for (int j = 0; j < 4; ++j) weights[j] = scaled.data() + std::min(k + j, K - 1) * chunk;
            std::ranges::fill(sums, 0.0F);
            kernels().add_weighted_rows(n, rows_.width, weights, rows_.values + first * rows_.width, sums.data());
            for (int j = 0; j < std::min(4, K - k); ++j)
                for (std::int64_t d = 0; d < Dn; ++d)
                    sum[(k + j) * Dn + d] += static_cast<double>(sums[j * rows_.width + d]);
        }
    }
}

void UnarySystem::multiply(std::span<const double> x, std::span<double> out) const {
    const auto Dn = problem_.node_dim();
    const auto K = problem_.n_labels;
    if (way_ == Way::iterative) return apply(std::vector<std::uint8_t>(static_cast<std::size_t>(K), 1), x, out);
    if (way_ == Way::dense) multiply_gram(x, out);
    for (int k = 0; k < K; ++k)
        for (std::int64_t d = 0, j = k * Dn; d < Dn; ++d, ++j)
            out[j] = factor_[k] * (way_ == Way::dense ? out[j] : row_sums_[d] * x[j]);
}

double UnarySystem::step(std::span<const double> gradient, std::span<const std::uint8_t> bounded,
                         std::span<const double> lower, std::span<const double> upper, std::span<const double> w,
                         std::span<double> x) const {
    if (way_ == Way::dense) return dense_step(gradient, bounded, lower, upper, w, x);
    std::vector<std::uint8_t> open(static_cast<std::size_t>(problem_.n_labels), 0);
    double length = 0.0;
    for (int k = 0; k < problem_.n_labels; ++k)
        if (way_ == Way::diagonal || bounded[k])
            length += diagonal_step(k, gradient, lower, upper, w, x);
        else
            open[k] = 1;
    return length + conjugate_gradients(gradient, std::move(open), w, x);
}

double UnarySystem::dense_step(std::span<const double> gradient, std::span<const std::uint8_t> bounded,
                               std::span<const double> lower, std::span<const double> upper, std::span<const double> w,
                               std::span<double> x) const {
    const auto Dn = problem_.node_dim();
    std::vector<double> right(x.size()), moved(x.size()), scratch;
    multiply(w, right);
    for (std::size_t j = 0; j < x.size(); ++j) right[j] -= gradient[j];
    std::vector<std::vector<double*>> solved(solver_.size());
    for (int k = 0; k < problem_.n_labels; ++k) {
        const auto at = k * Dn;
        std::copy_n((bounded[k] ? w.data() : right.data()) + at, Dn, x.data() + at);
        if (bounded[k])
            box_descent(scaled(gram_, factor_[k], inverse_c_), right.data() + at, lower.data() + at, upper.data() + at,
                        kBoxSweeps, x.data() + at, scratch);
        else
            solved[which_[k]].push_back(x.data() + at);
    }
    for (std::size_t i = 0; i < solver_.size(); ++i) solver_[i].solve(solved[i]);
    for (std::size_t j = 0; j < x.size(); ++j) moved[j] = x[j] - w[j];
    multiply(moved, right);
    return std::inner_product(moved.begin(), moved.end(), right.begin(), 0.0);
}

// min 1/2 (x - w)' f diag(row sums) (x - w) + |x|^2/(2c) + gradient'x over the box
double UnarySystem::diagonal_step(int label, std::span<const double> gradient, std::span<const double> lower,
                                  std::span<const double> upper, std::span<const double> w, std::span<double> x) const {
    const auto Dn = problem_.node_dim();
    double length = 0.0;
    for (std::int64_t d = 0, j = label * Dn; d < Dn; ++d, ++j) {
        const double metric = factor_[label] * row_sums_[d];
        x[j] = std::clamp((metric * w[j] - gradient[j]) / (metric + inverse_c_), lower[j], upper[j]);
        length += metric * (x[j] - w[j]) * (x[j] - w[j]);
    }
    return length;
}

// Jacobi-preconditioned, one system a label, each ending on its own: (L_k + I/c) (x_k - w_k) = -gradient_k - w_k/c.
double UnarySystem::conjugate_gradients(std::span<const double> gradient, std::vector<std::uint8_t> open,
                                        std::span<const double> w, std::span<double> x) const {
    const auto Dn = static_cast<std::size_t>(problem_.node_dim());
    const auto K = static_cast<std::size_t>(problem_.n_labels);
    std::vector<double> residual(x.size(), 0.0), ahead(x.size(), 0.0), image(x.size()), preconditioned(x.size(), 0.0);
    std::vector<double> moved_image(x.size(), 0.0), rho(K, 0.0), target(K, 0.0);
    const std::vector<std::uint8_t> solved = open;
    const auto precondition = [&](std::size_t k) {
        double sum = 0.0;
        for (std::size_t d = 0, j = k * Dn; d < Dn; ++d, ++j) {
            preconditioned[j] = residual[j] / (factor_[k] * diagonal_[d] + inverse_c_);
            sum += residual[j] * preconditioned[j];
        }
        return sum;
    };
    for (std::size_t k = 0; k < K; ++k) {
        if (!open[k]) continue;
        for (std::size_t j = k * Dn; j < (k + 1) * Dn; ++j) {
            x[j] = w[j];
            residual[j] = -gradient[j] - inverse_c_ * w[j];
        }
        rho[k] = precondition(k);
        target[k] = kTolerance * kTolerance * rho[k];
        std::copy_n(preconditioned.begin() + static_cast<std::ptrdiff_t>(k * Dn), Dn,
                    ahead.begin() + static_cast<std::ptrdiff_t>(k * Dn));
        if (!(rho[k] > 0.0)) open[k] = 0;
    }
    for (int step = 0; step < kGradientSteps && std::ranges::any_of(open, [](auto o) { return o != 0; }); ++step) {
        apply(open, ahead, image);
        for (std::size_t k = 0; k < K; ++k) {
            if (!open[k]) continue;
            const auto begin = k * Dn, end = begin + Dn;
            double curvature = 0.0;
            for (auto j = begin; j < end; ++j) curvature += ahead[j] * (image[j] + inverse_c_ * ahead[j]);
            const double length = rho[k] / curvature;
            for (auto j = begin; j < end; ++j) {
                x[j] += length * ahead[j];
                moved_image[j] += length * image[j];
                residual[j] -= length * (image[j] + inverse_c_ * ahead[j]);
            }
            const double next = precondition(k), turn = next / rho[k];
            rho[k] = next;
            for (auto j = begin; j < end; ++j) ahead[j] = preconditioned[j] + turn * ahead[j];
            if (!(rho[k] > target[k])) open[k] = 0;
        }
    }
    double length = 0.0;
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t j = k * Dn; j < (k + 1) * Dn && solved[k]; ++j) length += moved_image[j] * (x[j] - w[j]);
    return length;
}

}  // namespace gapcut
