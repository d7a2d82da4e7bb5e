// Local search with moves over many nodes: all labels of an induced forest are chosen anew, exactly, by dynamic
// programming, while the other nodes keep theirs (Hamze and de Freitas, From fields to trees, UAI 2004, sample such
// trees; Selby, Efficient subgraph-based sampling of Ising-type models with frustration, 2014, optimises over them).
// Where forests of the whole graph no longer help, small windows get random labels in their middle and are optimised by
// forests; what ends higher than before is taken back, or kept with the probability of simulated annealing. Where
// entries are forbidden, windows are also solved by variable elimination, and what is forbidden costs a penalty only,
// which grows with every cycle of the annealing; half of the work goes to new labelings, made by annealing of single
// flips and recombined with each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

struct TreeSearchResult {
    std::vector<std::int32_t> labels;
    std::int64_t moves = 0, improvements = 0;  // windows tried, and those that ended lower
    bool stopped = false;                      // stop() turned true first
};

// The search on one energy, which can go on: it keeps what it has built, the best labeling, those that new ones are
// recombined with, and the length of the next cycle.
class TreeSearch {
  public:
    // Requires check(energy) passed; the view's memory must outlive this object.
    explicit TreeSearch(const EnergyView& energy, std::uint64_t seed = 0);
    ~TreeSearch();

    // Until stop() turns true, or about so many table entries have been read. Never ends with a higher energy than that
    // of `labels`, nor than any run before, up to rounding. The same runs give the same results unless stop() strikes.
    // Requires labels in range (checked; throws std::invalid_argument).
    TreeSearchResult run(std::vector<std::int32_t> labels, double most_entries = kInfinity, const StopTest& stop = {});

  private:
    class Search;
    EnergyView energy_;
    std::unique_ptr<Search> search_;
};

}  // namespace gapcut::infer
