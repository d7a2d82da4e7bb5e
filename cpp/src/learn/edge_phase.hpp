// The edges of the primal-dual iteration: for every label pair in use m on every edge, and the gradient of its weights.
// How m is tied to the labels at both ends, and the multipliers of that, is the scheme's: ArcPhase that of the relaxed
// binary problem (m <= z_u, m <= z_v for each pair), TablePhase that of one label a node (rows and columns of m).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/edge_shards.hpp"
#include "gapcut/kernels.hpp"
#include "gapcut/oracle/slack_bound.hpp"
#include "gapcut/page_file.hpp"
#include "gapcut/problem.hpp"
#include "sparse_pairs.hpp"

namespace gapcut {

class EdgePhase {
  public:
    static constexpr std::int64_t kShards = kEdgeShards;

    explicit EdgePhase(const Problem& problem);
    virtual ~EdgePhase() = default;

    // Labels z come as rows, (N, row_width(K)): an edge reads those of each end at once.
    virtual void activate(std::int32_t pair, std::span<const float> z) = 0;
    virtual void deactivate(std::int32_t pair) = 0;
    bool active(std::int32_t pair) const { return active_[pair] != 0; }
    virtual bool needed(std::int32_t pair) const = 0;  // whether an active pair must stay, also without weights
    // How many times more a node's label is pulled at by each edge than by one multiplier.
    virtual double crowding(int label) const = 0;
    virtual void set_damping(double) {}  // for multipliers of many entries, as the labels' steps are damped
    const std::vector<std::int32_t>& active_pairs() const { return active_list_; }

    // Sets the weights that gain B is made of: (K * K, De), only active pairs are read.
    virtual void set_weights(std::span<const double> weights);

    // Steps all active arcs of one shard; leaves 2t - d at its nodes (node_sums) and the gradient of the new m.
    virtual void step(std::int64_t shard, ArcSteps steps, std::span<const float> z) = 0;
    // Gradient of the pairs not active.
    virtual void compute_inactive_gradient(std::int64_t shard, std::span<const float> z) = 0;

    // Gradient of the active pairs as they are, without a step.
    void compute_gradient(std::int64_t shard);

    // All m and multipliers, for snapshots: saved_size() floats for so many active pairs.
    virtual std::size_t saved_size(std::size_t pairs) const = 0;
    virtual std::vector<float> save() const = 0;
    virtual void load(std::span<const std::int32_t> pairs, std::span<const float> saved) = 0;

    // All of that to slots of a file, which must be mapped whenever this is used, and outlive it.
    virtual void move_to(PageFile& file);

    virtual ArcMultipliers multipliers() const = 0;
    // m of each label pair, empty where it is not active.
    std::vector<std::span<const float>> tables() const { return {m_.begin(), m_.end()}; }

    // Adds the shards up into (K * K, De), in order. Pairs not active keep their value unless `inactive`.
    void gradient(bool inactive, std::vector<double>& sum) const;
    double residual() const;

    // Distance of one shard from where it began: sums of d^2 times the steps' tau over that of d, and of (m - true
    // m)^2.
    struct Distance {
        double multipliers = 0.0, labels = 0.0;
    };
    Distance squared_distance(std::int64_t shard) const;

    // Adds the node sums of the shards at nodes [begin, end): out[k * stride + u - begin].
    void add_node_sums(std::int64_t begin, std::int64_t end, float* out, std::int64_t stride) const;

  protected:
    struct Shard {
        EdgeRange range;
        EndSums<float> sums;                     // 2 t - d
        std::vector<double> gradient, inactive;  // (active pairs, De); (K * K, De)
        std::vector<float> gain, z_tail, z_head, weighted;
        SparsePairs::Scratch sparse;
        double residual = 0.0;
    };

    struct Features {  // of a chunk, where they are dense: (n, width) and (De, n), columns `stride` apart
        const float *rows = nullptr, *columns = nullptr;
        std::int64_t stride = 0;
    };
    Features features_of(std::int64_t begin) const {
        if (rows_.empty()) return {};
        return {rows_.data() + begin * width_, columns_.data() + begin, problem_.edges.rows()};
    }
    void begin_step(Shard& s) const;  // all sums of the shard are 0
    void gather(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_weighted_features(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float*> weight,
                               std::span<double* const> sums) const;
    void gains(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const;
    void add_sparse_gradient(Shard& s, std::int64_t begin, std::int64_t n) const;
    virtual void add_gradient(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const;
    virtual double multiplier_norm(const Shard& s) const = 0;
    void list(std::int32_t pair);  // as active

    static constexpr std::int64_t kChunk = EndSums<float>::kChunk, kStride = EndSums<float>::kStride;

    const Problem& problem_;
    std::int64_t width_ = 0;                        // De rounded up to whole registers
    bool side_by_side_ = false, by_entry_ = false;  // how sparse features meet the label pairs
    SparsePairs pairs_;                             // side by side
    std::vector<float> rows_, columns_;             // (M, width) and (De, M); empty where the features are sparse
    std::vector<std::uint8_t> active_;
    std::vector<std::int32_t> active_list_;
    std::vector<FloatColumn> m_;  // of each label pair
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

// d1 and d2 on every edge for each label pair in use; m = min(z_u, z_v) for the others.
class ArcPhase final : public EdgePhase {
  public:
    explicit ArcPhase(const Problem& problem);
    void activate(std::int32_t pair, std::span<const float> z) override;
    void deactivate(std::int32_t pair) override;
    bool needed(std::int32_t pair) const override;  // while some d1 or d2 is positive
    double crowding(int label) const override;
    void step(std::int64_t shard, ArcSteps steps, std::span<const float> z) override;
    void compute_inactive_gradient(std::int64_t shard, std::span<const float> z) override;
    std::size_t saved_size(std::size_t pairs) const override;
    std::vector<float> save() const override;
    void load(std::span<const std::int32_t> pairs, std::span<const float> saved) override;
    void move_to(PageFile& file) override;
    ArcMultipliers multipliers() const override;

  private:
    bool mostly_zero(std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_inactive_by_edge(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    void add_inactive_by_pair(Shard& s, std::int64_t begin, std::int64_t n, std::span<const float> z) const;
    double multiplier_norm(const Shard& s) const override;

    std::vector<FloatColumn> d1_, d2_;
};

}  // namespace gapcut
