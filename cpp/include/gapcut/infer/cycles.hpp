// A bound above that of the local polytope: short cycles must be consistent too (Sontag, Meltzer, Globerson, Jaakkola
// and Weiss, Tightening LP relaxations for MAP using message passing, UAI 2008).
//
// The energy is kept as a sum of reparametrised terms: nodes, pairs, and triplets of nodes, which begin as zeros and
// exchange tables with their three pairs. Cycles of four nodes become two triplets with a common pair of zeros, the
// chord; chords can be parts of further cycles, which are longer in the graph given. Sweeps go through the nodes in
// order, as those of SRMP (srmp.hpp): a node moves the min-marginals of its pairs into itself and gives equal parts to
// the pairs that go on, then each of these pairs does the same with its triplets. The bound, the sum of the minima of
// all terms, holds for any messages: it is made of the given entries and the messages, with every operation rounded
// down.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/infer/energy.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

struct CycleSettings {
    int max_sweeps = 1000;
    double upper = kInfinity;         // energy of a labeling that is known: a bound as high ends the search
    double tolerance = 1e-9;          // of `upper`
    double most_entries = kInfinity;  // of tables, read in all sweeps and searches, about
};

struct CycleResult {
    std::vector<std::int32_t> labels;  // (V,) made from the messages
    double bound = -kInfinity;
    std::int64_t triplets = 0;
    int sweeps = 0;
    bool stopped = false;  // stop() turned true first
};

// Adds triplets where they promise the most, again and again. Requires check(energy) passed and finite entries.
CycleResult tighten(const EnergyView& energy, const CycleSettings& settings, const StopTest& stop = {});

}  // namespace gapcut::infer
