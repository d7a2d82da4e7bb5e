// The Newton model of the dual on a few planes: a small dense quadratic program over a capped simplex.
#pragma once

#include <cstdint>
#include <vector>

namespace gapcut {

// Solves  max_p  gradient'p - 1/2 p'(gram + ridge I)p   s.t.  value + p >= 0,  sum p <= room
// by a primal active-set method; ridge is small and relative, so that nearly dependent planes do no harm.
//
// Reusable: keeps its scratch memory between calls. Exact zeros: a plane that leaves has value + p == 0 exactly.
class SimplexStep {
public:
    static constexpr double kRidge = 1e-11;

    // gram: (m, m) row-major, symmetric, positive semidefinite up to rounding. mass: the cap C of the whole simplex,
    // > 0, sets the scale of the ridge where the gram vanishes. ridge: relative to the largest diagonal entry of gram.
    // Requires value >= 0 and room >= 0.
    // Afterwards target() holds value + p, and room_left() the room.
    void solve(const std::vector<double>& gram, const std::vector<double>& gradient, const std::vector<double>& value,
               double room, double mass, double ridge = kRidge);

    const std::vector<double>& target() const { return target_; }
    double room_left() const { return room_; }

private:
    void prepare(const std::vector<double>& gram, const std::vector<double>& gradient, const std::vector<double>& value,
                 double room, double mass, double ridge);
    void factor();
    void back_solve(std::vector<double>& rhs) const;
    void direction();
    bool advance();
    bool activate();
    void leave(std::size_t position);

    std::int64_t m_ = 0;
    const double* gram_ = nullptr;
    double ridge_ = 0, room_ = 0, tolerance_ = 0, multiplier_ = 0;
    bool capped_ = false;
    std::vector<double> target_, residual_;   // (m,) current point and model gradient there
    std::vector<std::int32_t> in_;            // planes that may move, in order of the factor's rows
    std::vector<char> member_;
    std::vector<double> factor_;              // (m, m) lower triangle of the Cholesky factor on in_
    std::size_t factored_ = 0;                // leading rows of factor_ that are valid
    std::vector<double> step_, ones_;         // per entry of in_
};

}  // namespace gapcut
