// The metric of the primal-dual iteration (formulation, section 3b): step sizes of labels and arcs, and the quadratic
// forms in which the weights move. Loss is normalised: its mean over graphs is 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/learn/unary_system.hpp"
#include "gapcut/linear/symmetric.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

class Metric {
  public:
    // theta splits the step between w and the shares d; step is s0. diagonal: columns move alone, for comparison.
    Metric(const Problem& problem, double theta, double step, bool diagonal, int threads);

    // Another s0, in force from the next update().
    void set_step(double step);
    double step() const { return step_; }

    // kappa (K,): how much smaller the label steps of each class are; c = C / n in normalised units.
    void update(std::span<const double> kappa, double c);

    float label_sigma(std::int64_t node, int label) const {
        return static_cast<float>(s_ / kappa_[label] * inverse_degree_[node]);
    }
    double arc_sigma() const { return s_ / 2.0; }
    double arc_tau() const { return (1.0 - theta_) / (2.0 * s_); }

    // L_k and its steps.
    const UnarySystem& unary() const { return unary_; }

    // Ge and He = Ge + I/c of the pairwise weights of one label pair.
    const Symmetric& pair_gram() const { return pair_metric_; }
    const Symmetric& pair_hessian() const { return pair_hessian_; }

  private:
    double theta_, step_ = 0.0, s_ = 0.0, mean_degree_ = 0.0;
    std::vector<double> inverse_degree_;  // 1 / max(deg_u, mean degree of its graph / 2)
    UnarySystem unary_;
    Symmetric pair_form_, pair_metric_, pair_hessian_;
    std::vector<double> kappa_;
};

}  // namespace gapcut
