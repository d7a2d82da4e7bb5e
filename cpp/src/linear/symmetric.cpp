#include "gapcut/linear/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gapcut/linear/vectors.hpp"

namespace gapcut {
void Symmetric::multiply(const double* x, double* out) const {
    std::fill(out, out + n, 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        if (x[i] != 0.0) add_scaled(out, x[i], row(i), n);
}

Symmetric scaled(const Symmetric& matrix, double factor, double shift) {
    Symmetric result(matrix.n);
    for (std::size_t p = 0; p < matrix.values.size(); ++p) result.values[p] = factor * matrix.values[p];
    for (std::int64_t i = 0; i < matrix.n; ++i) result(i, i) += shift;
    return result;
}

// Right-looking on the upper triangle: row i of the factor, then its outer product off the rows below.
Cholesky::Cholesky(const Symmetric& matrix) : upper_(matrix) {
    const auto n = upper_.n;
    for (std::int64_t i = 0; i < n; ++i) {
        double* row = upper_.values.data() + i * n;
        if (!(row[i] > 0.0)) throw std::domain_error("the metric is not positive definite");
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

void box_descent(const Symmetric& H, const double* g, const double* lower, const double* upper, int sweeps, double* x,
                 std::vector<double>& residual) {
    const auto n = H.n;
    residual.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) residual[i] = -g[i];
    for (std::int64_t i = 0; i < n; ++i)
        if (x[i] != 0.0) add_scaled(residual.data(), x[i], H.row(i), n);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double moved = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double target = std::clamp(x[i] - residual[i] / H(i, i), lower[i], upper[i]);
            const double step = target - x[i];
            if (step == 0.0) continue;
            x[i] = target;
            add_scaled(residual.data(), step, H.row(i), n);
            moved = std::max(moved, std::abs(step) * H(i, i));
        }
        if (moved < 1e-7) break;
    }
}

}  // namespace gapcut
