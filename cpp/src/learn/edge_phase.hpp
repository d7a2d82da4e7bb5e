// The arcs of the primal-dual iteration: for every label pair in use, m, d1 and d2 on every edge, and the gradient of
// its weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/edge_shards.hpp"
#include "gapcut/kernels.hpp"
#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

class EdgePhase {
  public:
    static constexpr std::int64_t kShards = kEdgeShards;

    explicit EdgePhase(const Problem& problem);

    // Labels z come as rows, (N, row_width(K)): an edge reads those of each end at once. m = min(z_u, z_v), d1 = d2 =
    // 0.
    void activate(std::int32_t pair, std::span<const float> z);
    void deactivate(std::int32_t pair);
    bool active(std::int32_t pair) const { return active_[pair] != 0; }
    bool any_dual(std::int32_t pair) const;  // whether some d1 or d2 is positive
    const std::vector<std::int32_t>& active_pairs() const { return active_list_; }

    // Sets the weights that gain B is made of: (K * K, De), only active pairs are read.
    void set_weights(std::span<const double> weights);

    // Steps all active arcs of one shard; leaves 2t - d at its nodes (node_sums) and the gradient of the new m.
    void step(std::int64_t shard, ArcSteps steps, std::span<const float> z);
    // Gradient of the pairs not active, from m = min(z_u, z_v).
    void compute_inactive_gradient(std::int64_t shard, std::span<const float> z);

    // Gradient of the active pairs as they are, without a step.
    void compute_gradient(std::int64_t shard);

    // m, d1 and d2 of an active pair, (3, M) floats: for snapshots.
    void save(std::int32_t pair, float* arcs) const;
    void load(std::int32_t pair, const float* arcs);

    ArcMultipliers multipliers() const;

    // Adds the shards up into (K * K, De), in order. Pairs not active keep their value unless `inactive`.
    void gradient(bool inactive, std::vector<double>& sum) const;
    double residual() const;

    // Distance of one shard's arcs from where they began: sums of d1^2 + d2^2 and of (m - true m)^2.
    struct Distance {
        double multipliers = 0.0, labels = 0.0;
    };
    Distance squared_distance(std::int64_t shard) const;

    // Adds the node sums of the shards at nodes [begin, end): out[k * stride + u - begin].
    void add_node_sums(std::int64_t begin, std::int64_t end, float* out, std::int64_t stride) const;

  private:
    struct Shard {
        EdgeRange range;
        EndSums<float> sums;                     // 2 t - d
        std::vector<double> gradient, inactive;  // (active pairs, De); (K * K, De)
        std::vector<float> gain, z_tail, z_head, weighted;
        std::vector<float> rows, columns;  // of the chunk of `filled_edges` from `filled` on, see features_of
        std::int64_t filled = 0, filled_edges = 0;
        double residual = 0.0;
    };

    struct Features {  // of a chunk: (n, width) and (De, n), columns `stride` apart
        const float *rows, *columns;
        std::int64_t stride;
    };
    Features features_of(Shard& s, std::int64_t begin, std::int64_t n) const;
    void gather(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_weighted_features(Shard& s, std::int64_t n, const float* rows, const float* const weight[4], double* sums,
                               std::int64_t count) const;
    bool mostly_zero(std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_inactive_by_edge(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_inactive_by_pair(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void gains(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const;
    void add_gradient(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const;

    static constexpr std::int64_t kChunk = EndSums<float>::kChunk, kStride = EndSums<float>::kStride;

    const Problem& problem_;
    std::int64_t width_ = 0;                    // De rounded up to whole registers
    bool by_chunk_ = false, by_entry_ = false;  // sparse features: written out for each chunk, or used as they are
    std::vector<float> rows_, columns_;         // (M, width) and (De, M); empty where the features are sparse
    std::vector<std::uint8_t> active_;
    std::vector<std::int32_t> active_list_;
    std::vector<std::vector<float>> m_, d1_, d2_;
    struct Entry {
        std::int32_t feature, slot;
        float weight;
    };
    std::vector<Entry> by_pair_, by_feature_;
    std::vector<std::int32_t> features_;  // of by_pair_
    std::vector<float> values_;           // likewise
    std::vector<std::int64_t> first_of_pair_, first_of_feature_;
    std::vector<Shard> shards_;
};

}  // namespace gapcut
