// Loss-augmented inference on any graph by TRW-S: a labeling, and an upper bound of the maximum.
#pragma once

#include <memory>

#include "gapcut/infer/trws.hpp"
#include "gapcut/oracle/labeler.hpp"

namespace gapcut {

// Labelings are polished by ICM where the bound leaves a gap.
std::unique_ptr<GraphSolver> make_message_solver(const infer::TrwsSettings& settings);

// The energy -(gains, tables) of one graph, over memory that this object owns.
struct GraphEnergy {
    std::vector<std::int32_t> labels, tail, head;
    std::vector<std::int64_t> unary_at, table_at;
    std::vector<double> unary, tables;

    void set(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph, const std::vector<double>& gains);
    infer::EnergyView view() const { return {labels, unary_at, unary, tail, head, table_at, tables}; }

private:
    std::vector<double> padded_;
};

}  // namespace gapcut
