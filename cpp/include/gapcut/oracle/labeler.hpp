// Loss-augmented inference on the one-hot problem: what its native oracles share, which differ in the solver of one
// graph (dynamic programming, message passing).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gapcut/oracle/driver.hpp"
#include "gapcut/oracle/one_hot.hpp"

namespace gapcut {

// Solves one graph; one a thread, with its scratch memory.
class GraphSolver {
  public:
    virtual ~GraphSolver() = default;

    // Writes V labels and returns an upper bound of the maximum of sum gain + sum table over all labelings, up to
    // OneHotProblem::rounding. May end early, with a valid bound, when stop() turns true.
    virtual double solve(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
                         const std::vector<double>& gains, std::int32_t* labels) = 0;
};

class OneHotMaximiser {
  public:
    using Weights = OneHotWeights;
    using Label = std::int32_t;  // one a node
    using Factory = std::function<std::unique_ptr<GraphSolver>()>;
    struct Scratch {
        std::unique_ptr<GraphSolver> solver;
        std::vector<double> gains;
        std::vector<std::int32_t> labels;
    };

    // Keeps a reference: the problem must outlive the oracle and stay as it is.
    OneHotMaximiser(const Problem& problem, Factory make) : one_hot_(problem), make_(std::move(make)) {}

    const Problem& problem() const { return one_hot_.problem(); }
    Scratch scratch() const { return {make_(), {}, {}}; }
    Weights prepare(std::span<const double> compact) const { return one_hot_.prepare(compact); }
    GraphAnswer solve(const Weights& w, std::int64_t graph, Scratch& s, double* plane) const;
    const std::vector<std::int32_t>& labels(const Scratch& s) const { return s.labels; }

  private:
    OneHotProblem one_hot_;
    Factory make_;
};

using Labeler = Oracle<OneHotMaximiser>;

}  // namespace gapcut
