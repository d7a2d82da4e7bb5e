// Cholesky factors of positive definite matrices in double precision: of a whole matrix, and of one that grows and
// shrinks a row at a time (active sets).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/linear/symmetric.hpp"
#include "gapcut/linear/vectors.hpp"

namespace gapcut {

class Cholesky {
  public:
    Cholesky() = default;
    // Throws std::domain_error if the matrix is not positive definite.
    explicit Cholesky(const Symmetric& matrix);
    // In place, for each of the right-hand sides: together they cost less.
    void solve(std::span<double* const> x) const;

  private:
    void eliminate(std::int64_t first);
    void solve(double* x) const;
    void solve_rows(std::int64_t width, double* x) const;
    double& at(std::int64_t i, std::int64_t j) { return values_[i * stride_ + j]; }
    const double& at(std::int64_t i, std::int64_t j) const { return values_[i * stride_ + j]; }

    std::int64_t n_ = 0, stride_ = 0;
    std::vector<double> values_;  // U with U'U = matrix, and below the diagonal U'
};

class GrowingCholesky {
  public:
    // No rows, room for `most`; memory is kept.
    void reset(std::int64_t most) {
        stride_ = most;
        lower_.resize(static_cast<std::size_t>(most * most));
        size_ = 0;
    }

    std::int64_t size() const { return size_; }

    // Keeps the leading rows only.
    void truncate(std::int64_t rows) { size_ = rows < size_ ? rows : size_; }

    // Adds the row with entry(j), j < size(), and `diagonal`. A pivot below `least` > 0 becomes it.
    template <class Entry>
    void append(Entry&& entry, double diagonal, double least) {
        double* own = lower_.data() + size_ * stride_;
        for (std::int64_t j = 0; j < size_; ++j) own[j] = (entry(j) - dot(own, row(j), j)) / row(j)[j];
        const double pivot = diagonal - dot(own, own, size_);
        own[size_++] = std::sqrt(pivot > least ? pivot : least);
    }

    void solve(double* x) const;  // in place

  private:
    const double* row(std::int64_t i) const { return lower_.data() + i * stride_; }

    std::int64_t stride_ = 0, size_ = 0;
    std::vector<double> lower_;  // L with LL' = matrix, lower triangle
};

}  // namespace gapcut
