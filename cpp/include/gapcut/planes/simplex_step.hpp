// The Newton model of the dual on a few planes: a small dense quadratic program over capped simplices.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/linear/cholesky.hpp"

namespace gapcut {

// Planes that share a simplex: the sum of their masses may grow by `room`.
struct SimplexModel {
    std::vector<double> gram;             // (m, m) row-major, positive semidefinite up to rounding
    std::vector<double> gradient, value;  // (m,) slope and mass of each plane, value >= 0
    std::vector<std::int32_t> group;      // (m,) which simplex it belongs to
    std::vector<double> room;             // per simplex, >= 0; 0 means that its cap is met

    void clear();
};

// Solves  max_p  gradient'p - 1/2 p'(gram + ridge I)p   s.t.  value + p >= 0,  sum of p in a group <= its room
// by a primal active-set method; ridge is small and relative, so that nearly dependent planes do no harm.
//
// Reusable: keeps its scratch memory between calls. Exact zeros: a plane that leaves has value + p == 0 exactly.
class SimplexStep {
  public:
    static constexpr double kRidge = 1e-11;

    // mass > 0: the cap of a whole simplex, sets the scale of the ridge where the gram vanishes. ridge: relative to the
    // largest diagonal entry of the gram. Afterwards target() holds value + p. The model must outlive the call only.
    void solve(const SimplexModel& model, double mass, double ridge = kRidge);

    const std::vector<double>& target() const { return target_; }

  private:
    void prepare(const SimplexModel& model, double mass, double ridge);
    void factor();
    void direction();
    void hold_sums();
    bool advance();
    void refresh(const SimplexModel& model);
    bool level() const;
    bool activate();
    double missing(std::int32_t group) const;
    void settle_sums();
    void leave(std::size_t position);

    std::int64_t m_ = 0;
    const double* gram_ = nullptr;
    const std::int32_t* group_ = nullptr;
    double ridge_ = 0, steepest_ = 0, tolerance_ = 0;
    std::vector<double> room_, cap_, multiplier_, total_;  // per group; multiplier_ of the caps that are met, else 0
    std::vector<char> capped_;                             // per group
    std::vector<double> target_, residual_;                // (m,) current point and model gradient there
    std::vector<std::int32_t> in_;                         // planes that may move, in order of the factor's rows
    std::vector<char> member_;
    GrowingCholesky factor_;  // of the gram and ridge on the leading entries of in_
    GrowingCholesky schur_factor_;
    std::vector<double> step_;                  // per entry of in_
    std::vector<std::int32_t> held_, members_;  // groups whose sum is held; per group its entries in in_
    std::vector<double> ones_, schur_, sums_;   // (held, in), (held, held), (held,)
};

}  // namespace gapcut
