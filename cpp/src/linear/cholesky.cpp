#include "gapcut/linear/cholesky.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "gapcut/kernels.hpp"

namespace gapcut {

namespace {

constexpr std::int64_t kBlock = 16;       // rows eliminated together; every target's tile divides it
constexpr std::size_t kWorthPacking = 3;  // right-hand sides

}  // namespace

// Right-looking on the upper triangle: a block of rows of the factor, then their products off the rows below. Rows and
// columns are padded with those of the identity; in the end the lower triangle is the transpose of the upper.
Cholesky::Cholesky(const Symmetric& matrix)
    : n_(matrix.n), stride_((n_ + kBlock - 1) / kBlock * kBlock), values_(static_cast<std::size_t>(stride_ * stride_)) {
    for (std::int64_t i = 0; i < n_; ++i) std::copy_n(matrix.row(i), n_, values_.data() + i * stride_);
    for (auto i = n_; i < stride_; ++i) at(i, i) = 1.0;
    std::vector<double> negative(static_cast<std::size_t>(kBlock * stride_));
    for (std::int64_t first = 0; first < stride_; first += kBlock) {
        const auto next = first + kBlock;
        eliminate(first);
        std::transform(&at(first, 0), &at(first, 0) + kBlock * stride_, negative.begin(), std::negate());
        for (auto j = next; j < stride_; j += kBlock)
            kernels().add_products(kBlock, kBlock, negative.data() + j, stride_, stride_ - j, &at(first, j), stride_,
                                   &at(j, j), stride_);
    }
    for (std::int64_t i = 0; i < stride_; ++i)
        for (std::int64_t j = 0; j < i; ++j) at(i, j) = at(j, i);
}

// The rows of one block.
void Cholesky::eliminate(std::int64_t first) {
    for (auto i = first; i < first + kBlock; ++i) {
        if (!(at(i, i) > 0.0)) throw std::domain_error("a matrix is not positive definite");
        const double inverse = 1.0 / std::sqrt(at(i, i));
        for (auto j = i; j < stride_; ++j) at(i, j) *= inverse;
        for (auto r = i + 1; r < first + kBlock; ++r)
            if (at(i, r) != 0.0) add_scaled(&at(r, r), -at(i, r), &at(i, r), stride_ - r);
    }
}

void Cholesky::solve(std::span<double* const> x) const {
    if (x.size() < kWorthPacking) {
        for (double* one : x) solve(one);
        return;
    }
    const auto tile = kernels().tile, width = (std::ssize(x) + tile - 1) / tile * tile;
    std::vector<double> rows(static_cast<std::size_t>(stride_ * width), 0.0);
    for (std::size_t c = 0; c < x.size(); ++c)
        for (std::int64_t i = 0; i < n_; ++i) rows[i * width + c] = x[c][i];
    solve_rows(width, rows.data());
    for (std::size_t c = 0; c < x.size(); ++c)
        for (std::int64_t i = 0; i < n_; ++i) x[c][i] = rows[i * width + c];
}

// Forward, then back, a block of rows at a time: x is (stride, width).
void Cholesky::solve_rows(std::int64_t width, double* x) const {
    const auto divide = [&](std::int64_t i) {
        for (std::int64_t c = 0; c < width; ++c) x[i * width + c] /= at(i, i);
    };
    std::vector<double> sums(static_cast<std::size_t>(kBlock * width));
    for (std::int64_t first = 0; first < stride_; first += kBlock) {
        const auto next = first + kBlock;
        for (auto i = first; i < next; ++i) {
            divide(i);
            for (auto j = i + 1; j < next; ++j) add_scaled(x + j * width, -at(i, j), x + i * width, width);
        }
        std::transform(x + first * width, x + next * width, sums.begin(), std::negate());
        kernels().add_products(kBlock, stride_ - next, &at(first, 0) + next, stride_, width, sums.data(), width,
                               x + next * width, width);
    }
    for (auto next = stride_; next > 0; next -= kBlock) {
        const auto first = next - kBlock;
        std::ranges::fill(sums, 0.0);
        if (next < stride_)
            kernels().add_products(stride_ - next, kBlock, values_.data() + next * stride_ + first, stride_, width,
                                   x + next * width, width, sums.data(), width);
        for (std::int64_t p = 0; p < kBlock * width; ++p) x[first * width + p] -= sums[p];
        for (auto i = next - 1; i >= first; --i) {
            for (auto j = i + 1; j < next; ++j) add_scaled(x + i * width, -at(i, j), x + j * width, width);
            divide(i);
        }
    }
}

void Cholesky::solve(double* x) const {
    for (std::int64_t i = 0; i < n_; ++i) {
        x[i] /= at(i, i);
        add_scaled(x + i + 1, -x[i], &at(i, i) + 1, n_ - i - 1);
    }
    for (auto i = n_ - 1; i >= 0; --i) x[i] = (x[i] - dot(&at(i, i) + 1, x + i + 1, n_ - i - 1)) / at(i, i);
}

void GrowingCholesky::solve(double* x) const {
    for (std::int64_t i = 0; i < size_; ++i) x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
    for (std::int64_t i = size_ - 1; i >= 0; --i) {
        x[i] /= row(i)[i];
        add_scaled(x, -x[i], row(i), i);
    }
}

}  // namespace gapcut
