// Loss-augmented inference on any graph by TRW-S: a labeling, and an upper bound of the maximum.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "gapcut/infer/trws.hpp"
#include "gapcut/oracle/labeler.hpp"

namespace gapcut {

// What message passing left behind for every graph: calls at weights that move little go on from there. A graph is
// solved by one thread at a time.
struct MessageStore {
    struct Entry {
        std::mutex busy;
        std::vector<double> messages;
        double scale = 0.0;  // sum of the magnitudes of the energy they were made for
    };
    explicit MessageStore(std::int64_t graphs) : of_graph(static_cast<std::size_t>(graphs)) {}
    std::vector<Entry> of_graph;
};

// Labelings are polished by ICM where the bound leaves a gap. Without a store every call starts anew.
std::unique_ptr<GraphSolver> make_message_solver(const infer::TrwsSettings& settings,
                                                 std::shared_ptr<MessageStore> store);

// The energy -(gains, tables) of one graph, over memory that this object owns.
struct GraphEnergy {
    std::vector<std::int32_t> labels, tail, head;
    std::vector<std::int64_t> unary_at, table_at;
    std::vector<double> unary, tables;

    void set(const OneHotProblem& problem, const OneHotWeights& w, std::int64_t graph,
             const std::vector<double>& gains);
    infer::EnergyView view() const { return {labels, unary_at, unary, tail, head, table_at, tables}; }

  private:
    std::vector<double> padded_;
};

}  // namespace gapcut
