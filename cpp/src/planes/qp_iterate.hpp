// The current point of a working-set dual, shared by its solvers.
#pragma once

#include "gapcut/linear/vectors.hpp"
#include "gapcut/planes/plane_qp.hpp"

namespace gapcut {

class QPIterate {
  public:
    QPIterate(const PlaneSet& set, const Box& box, double C, std::vector<double> start);

    // From alpha anew: x, weights, gradients of all planes, value and gap.
    void refresh();

    // alpha_t += amount for one plane, mass from or to the slack; x and weights follow, gradients do not.
    void shift(std::int64_t plane, double amount);

    double gradient_of(std::int64_t t) const { return set.losses[t] - dot(set.row(t), weights.data(), set.dim); }
    double primal() const { return value + gap; }
    QPSolution solution(std::int64_t iterations) const { return {alpha, weights, value, gap, iterations}; }

    const PlaneSet& set;
    const Box& box;
    const double C;
    std::vector<double> alpha, x, weights, gradient;
    double room = 0;  // C - sum alpha, >= 0: the mass of the plane z = y
    double value = 0, gap = 0;

  private:
    void keep_mass();
};

}  // namespace gapcut
