// The inner loops of TRW-S: one half-sweep over a range of nodes.
//
// What makes the bounds rigorous. Write M for the messages in the buffers, in the reals. For every labeling
//   U(y) = sum_i H_i(y_i) + sum_{e=(i,j)} [T_e(y_i, y_j) - M_{j->i}(y_i) - M_{i->j}(y_j)],
//   H_i = unary_i + all messages into i,
// whatever the messages are. A sweep visits every node once and rewrites the messages along its outgoing edges
// (backward sweep: those to earlier nodes) after it has read its own. With h_i <= H_i, d_i = min h_i,
// b_i <= gamma_i * (h_i - d_i), and gamma_i times the number of outgoing edges at most 1,
//   H_i(y_i) >= d_i + sum over outgoing edges of b_i(y_i),
// so if the new message satisfies M(x') <= min_x [b_i(x) - M_incoming(x) + T_e] - m_e, then U(y) >= sum d_i + sum m_e.
// Each of these inequalities is kept by rounding down, so the sum is a lower bound of U for every half-sweep, and that
// is the bound of Kolmogorov (2006) up to rounding. Labels with +inf are excluded from every minimum.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/packed.hpp"

namespace gapcut::infer {

// Scratch memory and sums of a sweep in progress over one component.
struct Sweep {
    explicit Sweep(std::int32_t widest);

    LowerSum bound;
    double energy = 0.0, magnitude = 0.0;  // of the labeling a forward sweep makes, and the same of its terms
    bool infeasible = false;               // some node has no allowed label left: proven

    // widest entries each, on a cache line
    double* own;       // h_i, then b_i
    double* absolute;  // sums of magnitudes
    double* decode;
    double* sent;  // b_i - M
    double* out;

  private:
    Buffer memory_;
};

// Kernels::forward_sweep takes nodes [first, last) in rising order and sets labels[i] by the sequential rule of
// Kolmogorov (2006, section 3.5): the earlier neighbours' labels count, the later neighbours' messages. It requires
// packed.chosen zero for the component at its start (and leaves it zero). Kernels::backward_sweep takes them in falling
// order.

}  // namespace gapcut::infer
