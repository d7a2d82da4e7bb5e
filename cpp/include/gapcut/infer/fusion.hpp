// Fusion moves (Lempitsky, Rother, Roth, Blake, Fusion moves for Markov random field optimization, PAMI 2010) and
// alpha-expansion (Boykov, Veksler, Zabih 2001), solved by roof duality, so that tables may be arbitrary.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "gapcut/infer/qpbo.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

// Represents a labeling that moves can only improve. Labelings are compared by the number of forbidden terms first,
// then by the sum of the others; a move is taken only if the exact sum falls, rounding ruled out.
class Fusion {
  public:
    // Requires labels in range (checked; throws std::invalid_argument), and that the view's memory outlives this
    // object.
    Fusion(const EnergyView& energy, std::vector<std::int32_t> labels);

    // Each node keeps its label or takes the proposal's, as roof duality says; where it says nothing, it keeps its own.
    // Returns whether the labeling got better. Requires proposal labels in range (not checked).
    bool fuse(std::span<const std::int32_t> proposal, const StopTest& stop = {});

    // The move in which every node that has label `alpha` may take it.
    bool expand(std::int32_t alpha, const StopTest& stop = {});

    const std::vector<std::int32_t>& labels() const { return labels_; }

  private:
    void add_unaries(std::span<const std::int32_t> proposal);
    void add_edges(std::span<const std::int32_t> proposal);
    bool take(std::span<const std::int32_t> proposal);

    // Cost of keeping and of changing one node, given what stays.
    struct Choice {
        double finite[2] = {0.0, 0.0};
        std::int32_t forbidden[2] = {0, 0};
        void add(int side, double x) {
            if (x == kInfinity)
                ++forbidden[side];
            else
                finite[side] += x;
        }
    };

    EnergyView energy_;
    std::vector<std::int32_t> labels_, proposal_;
    std::vector<std::int32_t> variable_, node_;  // of a node, -1 where both labels agree; and back
    std::vector<Choice> choice_;
    std::vector<std::uint8_t> keep_, takes_;
    Qpbo qpbo_;
};

struct ExpansionResult {
    std::vector<std::int32_t> labels;
    std::int64_t moves = 0, improvements = 0;
    bool stopped = false;  // stop() ended it before no expansion improved the labeling
};

// Fuses `labels` with every proposal, then expands all labels in turn until none improves, or max_rounds over all.
ExpansionResult expansion(const EnergyView& energy, std::vector<std::int32_t> labels,
                          const std::vector<std::vector<std::int32_t>>& proposals, int max_rounds,
                          const StopTest& stop = {});

}  // namespace gapcut::infer
