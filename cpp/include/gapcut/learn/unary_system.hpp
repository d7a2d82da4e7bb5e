// The metric of the unary weights (mathematics.md, Saddle problem): for label k L_k = f_k A, A = X' diag(weight) X,
// and the step that solves (L_k + I/c) x = r.
//
// Three ways, one interface. Dense: A and a Cholesky factor for each distinct f. Iterative, for thousands of columns: A
// is applied through X and the steps are solved by conjugate gradients, all labels at once, roughly (decision 19).
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

// Dense feature rows in single precision: row r begins at values + r * width, width being a multiple of a register, and
// three more rows follow the last.
struct FloatRows {
    const float* values = nullptr;
    std::int64_t width = 0;
};

class UnarySystem {
  public:
    enum class Way { dense, iterative, diagonal };
    static constexpr std::int64_t kDenseColumns =
        1024;  // above, a factor would cost more than the iterations it serves

    // weight (N,): of each node in A. Keeps a reference to the problem, and to the rows: the same features, by which A
    // is applied faster.
    UnarySystem(const Problem& problem, std::vector<double> weight, Way way, int threads, FloatRows rows = {});

    static Way fitting(const Problem& p) { return p.node_dim() <= kDenseColumns ? Way::dense : Way::iterative; }

    // factor (K,): f_k; inverse_c = 1/c.
    void update(std::span<const double> factor, double inverse_c);

    // out_k = f_k A x_k, all (K, Dn).
    void multiply(std::span<const double> x, std::span<double> out) const;

    // x_k solves (L_k + I/c) x_k = L_k w_k - gradient_k, clipped to the box where bounded[k]; returns the squared
    // length of x - w in L. The box is respected in every way, optimally so for dense and diagonal; in iterative, a
    // bounded label moves by the diagonal, and its length is measured by it.
    double step(std::span<const double> gradient, std::span<const std::uint8_t> bounded, std::span<const double> lower,
                std::span<const double> upper, std::span<const double> w, std::span<double> x) const;

  private:
    double dense_step(std::span<const double> gradient, std::span<const std::uint8_t> bounded,
                      std::span<const double> lower, std::span<const double> upper, std::span<const double> w,
                      std::span<double> x) const;
    double diagonal_step(int label, std::span<const double> gradient, std::span<const double> lower,
                         std::span<const double> upper, std::span<const double> w, std::span<double> x) const;
    double conjugate_gradients(std::span<const double> gradient, std::vector<std::uint8_t> open,
                               std::span<const double> w, std::span<double> x) const;
    void pack_gram();
    void multiply_gram(std::span<const double> x, std::span<double> out) const;
    void apply(const std::vector<std::uint8_t>& labels, std::span<const double> x, std::span<double> out) const;
    void add_rows(std::int64_t begin, std::int64_t end, const std::vector<std::uint8_t>& labels,
                  std::span<const double> x, std::span<double> sum) const;
    void add_float_rows(std::int64_t begin, std::int64_t end, std::span<const float> by_feature,
                        std::span<double> sum) const;

    const Problem& problem_;
    std::vector<double> weight_;
    Way way_;
    int threads_;
    FloatRows rows_;
    double inverse_c_ = 0.0;
    Symmetric gram_;                // dense
    std::vector<double> panels_;    // likewise
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
