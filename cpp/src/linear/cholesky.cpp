#include "gapcut/linear/cholesky.hpp"

#include <stdexcept>

namespace gapcut {

// Right-looking on the upper triangle: row i of the factor, then its outer product off the rows below.
Cholesky::Cholesky(const Symmetric& matrix) : upper_(matrix) {
    const auto n = upper_.n;
    for (std::int64_t i = 0; i < n; ++i) {
        double* row = upper_.values.data() + i * n;
        if (!(row[i] > 0.0)) throw std::domain_error("a matrix is not positive definite");
        const double inverse = 1.0 / std::sqrt(row[i]);
        for (std::int64_t j = i; j < n; ++j) row[j] *= inverse;
        for (std::int64_t r = i + 1; r < n; ++r)
            if (row[r] != 0.0) add_scaled(upper_.values.data() + r * n + r, -row[r], row + r, n - r);
    }
}

void Cholesky::solve(double* x) const {
    const auto n = upper_.n;
    for (std::int64_t i = 0; i < n; ++i) {
        x[i] /= upper_(i, i);
        add_scaled(x + i + 1, -x[i], upper_.row(i) + i + 1, n - i - 1);
    }
    for (std::int64_t i = n - 1; i >= 0; --i)
        x[i] = (x[i] - dot(upper_.row(i) + i + 1, x + i + 1, n - i - 1)) / upper_(i, i);
}

void GrowingCholesky::solve(double* x) const {
    for (std::int64_t i = 0; i < size_; ++i) x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
    for (std::int64_t i = size_ - 1; i >= 0; --i) {
        x[i] /= row(i)[i];
        add_scaled(x, -x[i], row(i), i);
    }
}

}  // namespace gapcut
