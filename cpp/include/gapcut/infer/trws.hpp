// Sequential tree-reweighted message passing, TRW-S (Kolmogorov, Convergent tree-reweighted message passing for energy
// minimization, PAMI 2006): a lower bound of an energy that never falls, and labelings made from the messages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gapcut/infer/packed.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut::infer {

struct TrwsSettings {
    int max_sweeps = 1000;    // backward and forward half-sweep together count as one
    double tolerance = 1e-9;  // closed: energy - bound <= tolerance * sum of the magnitudes of the labeling's terms
    int patience = 10;        // stalled: in this many sweeps the bound rose, and the energy fell, by less than
    double least_progress = 5e-3;  // this part of the gap that is left
    NodeOrder order = NodeOrder::index;
    bool escape = false;  // when a component stalls: soft sweeps out of the fixed point, then go on
};

struct TrwsResult {
    std::vector<std::int32_t> labels;     // (V,) best labeling found
    double bound;                         // <= U(y) for every y, rounding included; +inf: every labeling is forbidden
    std::vector<std::int32_t> component;  // (V,) connected component of each node
    std::vector<double> component_bound;  // the same bound for each component alone
    int sweeps = 0;                       // most in one component, soft ones counted
    int soft_sweeps = 0;                  // in all components
    double half_sweep_entries = 0.0;      // table entries processed by half-sweeps
    bool stopped = false;                 // stop() turned true first
};

// Hears now and then what is known so far: a labeling and a valid bound.
using TrwsListener = std::function<void(const TrwsResult&)>;

// Reduces the energy, then runs every component of the core until it is closed, stalled or has had max_sweeps; with
// `escape`, those that stalled then get soft sweeps (see soft_sweep.hpp) at falling temperatures, sharp ones between
// and after them, and end at the optimum of the linear relaxation to about 0.05 %. Bounds come from sharp sweeps only.
// Forests are solved exactly. stop() is asked every few milliseconds; the result is valid whenever it strikes.
// Requires check(energy) and no entry but finite ones and +inf.
//
// With `messages`, message passing goes on from those that an earlier call left there (empty, or of another size: from
// zero) and leaves its own, unless stop() struck; bounds hold for any messages. They fit energies with the same label
// counts and edges in the same order, whose tables must then be finite, and small enough that sums with the old
// messages stay finite.
TrwsResult trws(const EnergyView& energy, const TrwsSettings& settings, const StopTest& stop = {},
                std::vector<double>* messages = nullptr, const TrwsListener& listener = {});

}  // namespace gapcut::infer
