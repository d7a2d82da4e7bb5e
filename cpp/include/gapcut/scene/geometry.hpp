// Vectors of three and the eigen-decomposition of a symmetric 3 x 3 matrix.
#pragma once

#include <array>

namespace gapcut::scene {

using Vec3 = std::array<double, 3>;

inline double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

// A sum of w v v', upper triangle.
struct Scatter {
    double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

    void add(const Vec3& v, double w) {
        const double x = w * v[0], y = w * v[1];
        xx += x * v[0], xy += x * v[1], xz += x * v[2];
        yy += y * v[1], yz += y * v[2];
        zz += w * v[2] * v[2];
    }
};

struct Eigen3 {
    Vec3 values;  // ascending
    std::array<Vec3, 3>
        vectors;  // unit, vectors[i] belongs to values[i]; signs and equal values: arbitrary, repeatable
};

// Cyclic Jacobi rotations until the off-diagonal vanishes to double precision.
Eigen3 eigen(const Scatter& s);

}  // namespace gapcut::scene
