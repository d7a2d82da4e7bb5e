#include "gapcut/linear/symmetric.hpp"

#include <algorithm>
#include <cmath>

#include "gapcut/kernels.hpp"
#include "gapcut/linear/vectors.hpp"

namespace gapcut {
void Symmetric::multiply(const double* x, double* out) const {
    std::fill(out, out + n, 0.0);
    if (2 * std::count(x, x + n, 0.0) < n) return kernels().add_rows(n, n, x, values.data(), out);
    for (std::int64_t i = 0; i < n; ++i)
        if (x[i] != 0.0) add_scaled(out, x[i], row(i), n);
}

Symmetric scaled(const Symmetric& matrix, double factor, double shift) {
    Symmetric result(matrix.n);
    for (std::size_t p = 0; p < matrix.values.size(); ++p) result.values[p] = factor * matrix.values[p];
    for (std::int64_t i = 0; i < matrix.n; ++i) result(i, i) += shift;
    return result;
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
