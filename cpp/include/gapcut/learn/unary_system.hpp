// The metric of the unary weights (mathematics.md, Saddle problem): for label k L_k = f_k A, A = X' diag(weight) X,
// and the step that solves (L_k + I/c) x = r.
//
// Three ways, one interface. Dense: A and a Cholesky factor for each distinct f. Iterative, for thousands of columns: A
// is applied through X and the steps are solved by conjugate gradients from the old weights, all labels at once.
// Diagonal: A is replaced by the diagonal of row sums of |X|' diag(weight) |X|, which is never below it; each column
// then moves alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/linear/cholesky.hpp"
#include "gapcut/linear/symmetric.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

class UnarySystem {
  public:
    enum class Way { dense, iterative, diagonal };
    static constexpr std::int64_t kDenseColumns =
        1024;  // above, a factor would cost more than the iterations it serves

    // weight (N,): of each node in A. Keeps a reference to the problem.
    UnarySystem(const Problem& problem, std::vector<double> weight, Way way, int threads);

    static Way fitting(const Problem& p) { return p.node_dim() <= kDenseColumns ? Way::dense : Way::iterative; }

    // factor (K,): f_k; inverse_c = 1/c.
    void update(std::span<const double> factor, double inverse_c);

    // out_k = f_k A x_k, all (K, Dn).
    void multiply(std::span<const double> x, std::span<double> out) const;

    // x_k: the solution for r_k, clipped to the box where bounded[k]; on entry x holds the old weights. The box is
    // respected in every way, optimally so for dense and diagonal; in iterative, a bounded label moves by the diagonal.
    void solve(std::span<const double> right, std::span<const std::uint8_t> bounded, std::span<const double> lower,
               std::span<const double> upper, std::span<double> x) const;

  private:
    void solve_bounded(int label, const double* right, const double* lower, const double* upper, double* x) const;
    void solve_diagonal(int label, const double* right, const double* metric_x, const double* lower,
                        const double* upper, double* x) const;
    void conjugate_gradients(std::span<const double> right, std::vector<std::uint8_t> open, std::span<double> x) const;
    void apply(const std::vector<std::uint8_t>& labels, std::span<const double> x, std::span<double> out) const;

    const Problem& problem_;
    std::vector<double> weight_;
    Way way_;
    int threads_;
    double inverse_c_ = 0.0;
    Symmetric gram_;                // dense
    std::vector<double> diagonal_;  // of A (iterative: the preconditioner)
    std::vector<double> row_sums_;  // of |X|' diag(weight) |X| (iterative and diagonal)
    std::vector<double> factor_;
    std::vector<Cholesky> solver_;  // dense: one for each distinct factor
    std::vector<std::size_t> which_;
};

// sum_r weight_r row_r row_r'; no weights: all 1.
Symmetric gram(const RowMatrix& rows, std::span<const double> weight);

// sum_r weight_r |x_rj| sum_d |x_rd|: diag of it is never below the Gram matrix.
std::vector<double> gram_row_sums(const RowMatrix& rows, std::span<const double> weight);

}  // namespace gapcut
