// Which triplets promise to raise the bound most; internal to infer (cycles.hpp says what for).
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/parallel.hpp"
#include "triplets.hpp"

namespace gapcut::infer {

// Triplets {i, j, middle} for each middle: triangles, or cycles of four nodes that have the chord ij in common.
struct Candidate {
    std::int32_t i, j;
    std::vector<std::int32_t> middles;
    double gain;  // by how much the bound rises at least
};

// Triangles and cycles of four nodes whose gain is above `least`, the largest gain first; of more than 2 `most`
// triplets the first `most`, about. Of those found before stop() turned true or `read`, which grows by the table
// entries read, about, reached `most_read`.
std::vector<Candidate> find_candidates(const Triplets& graph, double least, std::int64_t most, double most_read,
                                       const StopTest& stop, double& read);

}  // namespace gapcut::infer
