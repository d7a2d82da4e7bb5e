// Sparse features of edges against several label pairs at once: pairs stand side by side, so that each entry of a row
// meets them in whole registers. They come in blocks of as many as a kernel holds in registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/kernels.hpp"
#include "gapcut/row_matrix.hpp"

namespace gapcut {

class SparsePairs {
  public:
    struct Scratch {
        std::vector<float> rows, sums;
    };

    explicit SparsePairs(const RowMatrix& edges) : edges_(&edges) {}

    // Pairs padded to whole registers: so many lists of gains are written.
    static std::int64_t padded(std::int64_t pairs);
    static std::int64_t block() { return 4 * kernels().floats; }

    // weights: (K * K, De), of which the pairs named are taken.
    void set_weights(std::span<const double> weights, std::span<const std::int32_t> pairs);

    // out[j * stride + i] = w_j . phi of edge begin + i, for the pairs of set_weights; others up to padded() are 0.
    void gains(std::int64_t begin, std::int64_t n, Scratch& s, float* out, std::int64_t stride) const;

    // sums[j][d] += sum_i weight[j][i] phi_d of edge begin + i.
    void add_weighted(std::int64_t begin, std::int64_t n, std::span<const float* const> weight,
                      std::span<double* const> sums, Scratch& s) const;

  private:
    CompressedRows rows_from(std::int64_t begin) const;

    const RowMatrix* edges_;
    std::int64_t pairs_ = 0;
    std::vector<float> weights_;  // (De, width) of each block, one after the other
};

}  // namespace gapcut
