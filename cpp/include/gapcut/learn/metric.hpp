// The metric of the primal-dual iteration (mathematics.md, Saddle problem): steps of labels and arcs, and the quadratic
// forms in which the weights move. Loss is normalised: its mean over graphs is 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/learn/unary_system.hpp"
#include "gapcut/linear/cholesky.hpp"
#include "gapcut/linear/symmetric.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

// Mean over graphs of the mean loss weight of a node: the unit in which loss and weights are measured inside.
double loss_unit(const Problem& problem);

// (N,) 1 / max(deg_u, mean degree of its graph / 2).
std::vector<double> inverse_degrees(const Problem& problem);

class Metric {
  public:
    // theta splits the primal step between w and the multipliers d; primal_weight is s0. diagonal: columns move alone,
    // for comparison. rows: see UnarySystem. sharing (ascending, distinct): numbers of label pairs that share weights.
    Metric(const Problem& problem, double theta, double step, bool diagonal, int threads, FloatRows rows,
           std::vector<int> sharing);

    // Another s0, used from the next update() on.
    void set_primal_weight(double step);
    double primal_weight() const { return primal_weight_; }

    // kappa (K,): how much smaller the label steps of each class are; c = C / n in normalised units.
    void update(std::span<const double> kappa, double c);

    // The step of label k at node u is label_sigma() / kappa_k * inverse degree of u.
    double label_sigma() const { return s_; }
    double arc_sigma() const { return s_ / 2.0; }
    double arc_tau() const { return (1.0 - theta_) / (2.0 * s_); }

    // L_k and its steps.
    const UnarySystem& unary() const { return unary_; }

    // Ge, and He = Ge + I/(n c) of the weights that n label pairs share, for which gradients are means over these.
    const Symmetric& pair_gram() const { return pair_metric_; }
    const Symmetric& pair_hessian(int n) const { return pair_hessian_[place(n)]; }
    const Cholesky& pair_factor(int n) const { return pair_factor_[place(n)]; }  // of He

  private:
    std::size_t place(int n) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(sharing_, n) - sharing_.begin());
    }

    double theta_, primal_weight_ = 0.0, s_ = 0.0, mean_degree_ = 0.0;
    UnarySystem unary_;
    Symmetric pair_form_, pair_metric_;
    std::vector<int> sharing_;
    std::vector<Symmetric> pair_hessian_;
    std::vector<Cholesky> pair_factor_;
};

}  // namespace gapcut
