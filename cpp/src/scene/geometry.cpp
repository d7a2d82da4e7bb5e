#include "gapcut/scene/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace gapcut::scene {

Eigen3 eigen(const Scatter& s) {
    double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    constexpr int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int sweep = 0; sweep < 32; ++sweep) {
        const double off = std::abs(a[0][1]) + std::abs(a[0][2]) + std::abs(a[1][2]);
        const double trace = std::abs(a[0][0]) + std::abs(a[1][1]) + std::abs(a[2][2]);
        if (!(off > 1e-17 * trace)) break;
        for (const auto& [p, q] : pairs) {
            if (a[p][q] == 0.0) continue;
            const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            // a theta whose square overflows is a rotation by nothing
            const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
            const double c = 1.0 / std::sqrt(t * t + 1.0), sine = t * c;
            const int r = 3 - p - q;
            const double apq = a[p][q], arp = a[r][p], arq = a[r][q];
            a[p][p] -= t * apq;
            a[q][q] += t * apq;
            a[p][q] = a[q][p] = 0.0;
            a[r][p] = a[p][r] = c * arp - sine * arq;
            a[r][q] = a[q][r] = sine * arp + c * arq;
            for (auto& row : v) {
                const double vp = row[p], vq = row[q];
                row[p] = c * vp - sine * vq;
                row[q] = sine * vp + c * vq;
            }
        }
    }
    std::array<int, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return a[i][i] < a[j][j]; });
    Eigen3 result{};
    for (std::size_t i = 0; i < 3; ++i) {
        const int k = order[i];
        result.values[i] = a[k][k];
        result.vectors[i] = {v[0][k], v[1][k], v[2][k]};
    }
    return result;
}

}  // namespace gapcut::scene
