// Half-sweeps of message passing with minima replaced by soft minima, -t log sum exp(-x / t).
//
// TRW-S is block-coordinate ascent on a function with kinks and can stop below its maximum (weak tree agreement,
// Kolmogorov 2006). With soft minima the function is smooth and the same sweeps climb to its maximum (Meltzer,
// Globerson and Weiss 2009), which tends to that of the linear relaxation as t falls. Nothing here is rounded towards a
// bound: messages are a reparametrisation whatever they are, and a sharp half-sweep from them gives a valid bound.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/packed.hpp"

namespace gapcut::infer {

// Represents the nodes [first, last) of `packed`, a component of the core with an edge at least, at one temperature.
class SoftSweep {
  public:
    // Requires `packed` to outlive this object; its messages are read and rewritten.
    SoftSweep(Packed& packed, std::int64_t first, std::int64_t last);

    // Mean of max - min of the allowed entries of a table: what temperatures are measured in. 0: nothing to pass on.
    double scale() const { return scale_; }

    // Prepares the tables of the nodes [from, to) for temperature t > 0 (energy units); all nodes must be prepared.
    void set_temperature(double t, std::int64_t from, std::int64_t to);

    // Nodes in falling (rising) order. forward adds to value().
    void backward(std::int64_t from, std::int64_t to);
    void forward(std::int64_t from, std::int64_t to);

    // The smooth function after a complete forward sweep since reset(); sweeps never lower it, up to rounding.
    double value() const { return value_; }
    void reset() { value_ = 0.0; }

    // Some node has no allowed label left. The messages then say so to the next sharp half-sweep, and nothing else here
    // may be used.
    bool infeasible() const { return infeasible_; }

    // Extrapolates the messages along their change since the last call, times `factor` (Nesterov's momentum), and keeps
    // what they were before; restore() goes back to that.
    void extrapolate(double factor);
    void restore();

  private:
    template <class F>
    void each_message(F&& f);
    double gather(std::int64_t i);
    double send(std::int64_t e, std::int64_t own_labels, std::int64_t labels, bool own_rows);
    double exact(const double* table, std::int64_t step, std::int64_t count, double low) const;

    Packed& packed_;
    std::int64_t first_edge_, end_edge_, table_base_;
    double t_ = 1.0, scale_ = 0.0, value_ = 0.0;
    bool infeasible_ = false;
    std::vector<double> previous_;         // messages to later nodes, one edge after the other
    std::vector<char> owns_;               // whether an edge is the first one with its table
    std::vector<double> weights_, least_;  // exp(-(table - its least) / t) of every entry; the least of every edge
    std::vector<double> own_, sent_, part_, out_;
};

}  // namespace gapcut::infer
