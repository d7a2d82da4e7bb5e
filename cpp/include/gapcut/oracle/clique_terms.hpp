// The clique terms of the relaxed binary problem (mathematics.md, Cliques): what they add to a graph's closure problem,
// and to its plane.
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/flow/closure.hpp"
#include "gapcut/oracle/sparse_weights.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

class CliqueTerms {
  public:
    // Keeps a reference; the problem must stay as it is, its restriction to coordinates too.
    explicit CliqueTerms(const Problem& problem);

    // One closure item for each clique of the graph and tuple with a positive potential. `potentials` is scratch.
    void add_potentials(const SparseWeights& weights, std::int64_t graph, std::vector<double>& potentials,
                        Closure& closure) const;

    // Adds the clique part of Psi(x, y) - Psi(x, z) to `plane` (full coordinates), z (V, K) of 0 and 1; tuples whose
    // weights are all out of use are left out.
    void add_plane(std::int64_t graph, std::span<const std::uint8_t> z, std::vector<double>& plane) const;

  private:
    struct Group {
        std::int64_t weight;              // full coordinate of its first weight
        std::vector<std::int32_t> live;   // tuples with a weight in use, by first label
        std::vector<std::int32_t> first;  // K + 1: where in `live` those of each first label begin
    };

    void add_clique_plane(const CliqueGroup& group, const Group& own, std::int64_t clique, std::int64_t first_node,
                          const std::uint8_t* z, double* plane) const;

    const Problem& problem_;
    std::vector<Group> groups_;
};

}  // namespace gapcut
