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
constexpr double kTolerance = 1e-5;  // of the residual, in the norm of the preconditioner, relative to the start
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

UnarySystem::UnarySystem(const Problem& p, std::vector<double> weight, Way way, int threads)
    : problem_(p), weight_(std::move(weight)), way_(way), threads_(std::max(1, threads)) {
    if (way_ == Way::dense) {
        gram_ = gram(p.nodes, weight_);
        return;
    }
    row_sums_ = gram_row_sums(p.nodes, weight_);
    diagonal_.assign(row_sums_.size(), 0.0);
    for (std::int64_t u = 0; u < p.nodes.rows(); ++u)
        p.nodes.for_row(u, [&](std::int32_t j, double x) { diagonal_[j] += weight_[u] * x * x; });
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
    std::vector<std::vector<double>> part(kShards);
    parallel_for(kShards, threads_, [&](std::int64_t shard, int) {
        auto& sum = part[shard];
        sum.assign(x.size(), 0.0);
        for (auto u = shard * N / kShards; u < (shard + 1) * N / kShards; ++u)
            for (int k = 0; k < K; ++k) {
                if (!labels[k]) continue;
                double s = 0.0;
                problem_.nodes.for_row(u, [&](std::int32_t d, double y) { s += y * x[k * Dn + d]; });
                s *= weight_[u] * factor_[k];
                problem_.nodes.for_row(u, [&](std::int32_t d, double y) { sum[k * Dn + d] += s * y; });
            }
    });
    std::fill(out.begin(), out.end(), 0.0);
    for (const auto& sum : part)
        for (std::size_t j = 0; j < sum.size(); ++j) out[j] += sum[j];
}

void UnarySystem::multiply(std::span<const double> x, std::span<double> out) const {
    const auto Dn = problem_.node_dim();
    const auto K = problem_.n_labels;
    if (way_ == Way::iterative) return apply(std::vector<std::uint8_t>(static_cast<std::size_t>(K), 1), x, out);
    for (int k = 0; k < K; ++k) {
        const double* from = x.data() + k * Dn;
        double* to = out.data() + k * Dn;
        if (way_ == Way::dense)
            gram_.multiply(from, to);
        else
            for (std::int64_t d = 0; d < Dn; ++d) to[d] = row_sums_[d] * from[d];
        for (std::int64_t d = 0; d < Dn; ++d) to[d] *= factor_[k];
    }
}

void UnarySystem::solve_bounded(int label, const double* right, const double* lower, const double* upper,
                                double* x) const {
    std::vector<double> scratch;
    box_descent(scaled(gram_, factor_[label], inverse_c_), right, lower, upper, kBoxSweeps, x, scratch);
}

// min 1/2 (x - old)' f diag(row sums) (x - old) + |x|^2/(2c) - g'x over the box, with right = metric_x + g.
void UnarySystem::solve_diagonal(int label, const double* right, const double* metric_x, const double* lower,
                                 const double* upper, double* x) const {
    for (std::int64_t d = 0; d < problem_.node_dim(); ++d) {
        const double metric = factor_[label] * row_sums_[d];
        x[d] = std::clamp((metric * x[d] + right[d] - metric_x[d]) / (metric + inverse_c_), lower[d], upper[d]);
    }
}

void UnarySystem::solve(std::span<const double> right, std::span<const std::uint8_t> bounded,
                        std::span<const double> lower, std::span<const double> upper, std::span<double> x) const {
    const auto Dn = problem_.node_dim();
    const auto K = problem_.n_labels;
    std::vector<double> metric_x;
    const bool any_bounded = std::ranges::any_of(bounded, [](auto b) { return b != 0; });
    if (way_ == Way::diagonal || (way_ == Way::iterative && any_bounded)) {
        metric_x.resize(x.size());
        multiply(x, metric_x);
    }
    std::vector<std::uint8_t> open(static_cast<std::size_t>(K), 0);
    for (int k = 0; k < K; ++k) {
        const auto at = k * Dn;
        if (way_ == Way::diagonal || (way_ == Way::iterative && bounded[k])) {
            solve_diagonal(k, right.data() + at, metric_x.data() + at, lower.data() + at, upper.data() + at,
                           x.data() + at);
        } else if (way_ == Way::iterative) {
            open[k] = 1;
        } else if (bounded[k]) {
            solve_bounded(k, right.data() + at, lower.data() + at, upper.data() + at, x.data() + at);
        } else {
            std::copy_n(right.data() + at, Dn, x.data() + at);
            solver_[which_[k]].solve(x.data() + at);
        }
    }
    if (way_ == Way::iterative) conjugate_gradients(right, std::move(open), x);
}

// Jacobi-preconditioned, one system a label, each ending on its own.
void UnarySystem::conjugate_gradients(std::span<const double> right, std::vector<std::uint8_t> open,
                                      std::span<double> x) const {
    const auto Dn = static_cast<std::size_t>(problem_.node_dim());
    const auto K = static_cast<std::size_t>(problem_.n_labels);
    std::vector<double> residual(x.size(), 0.0), ahead(x.size(), 0.0), image(x.size()), preconditioned(x.size(), 0.0);
    std::vector<double> rho(K, 0.0), target(K, 0.0);
    const auto precondition = [&](std::size_t k) {
        double sum = 0.0;
        for (std::size_t d = 0, j = k * Dn; d < Dn; ++d, ++j) {
            preconditioned[j] = residual[j] / (factor_[k] * diagonal_[d] + inverse_c_);
            sum += residual[j] * preconditioned[j];
        }
        return sum;
    };
    apply(open, x, image);
    for (std::size_t k = 0; k < K; ++k) {
        if (!open[k]) continue;
        for (std::size_t j = k * Dn; j < (k + 1) * Dn; ++j) residual[j] = right[j] - image[j] - inverse_c_ * x[j];
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
                residual[j] -= length * (image[j] + inverse_c_ * ahead[j]);
            }
            const double next = precondition(k), turn = next / rho[k];
            rho[k] = next;
            for (auto j = begin; j < end; ++j) ahead[j] = preconditioned[j] + turn * ahead[j];
            if (!(rho[k] > target[k])) open[k] = 0;
        }
    }
}

}  // namespace gapcut
