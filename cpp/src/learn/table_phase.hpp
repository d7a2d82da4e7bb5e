// The edges with one label a node: a K x K table m of label pairs on every edge, whose rows add up to the labels of the
// tail and whose columns to those of the head, and one multiplier d for each row and column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "edge_phase.hpp"

namespace gapcut {

class TablePhase final : public EdgePhase {
  public:
    // at_most: rows and columns may stay below the labels, d >= 0, and only `pairs` have a table entry: right where no
    // pair can score below zero. Otherwise they are equal, and all pairs are in use.
    TablePhase(const Problem& problem, bool at_most, std::span<const std::int32_t> pairs);

    void activate(std::int32_t pair, std::span<const float> z) override;
    void deactivate(std::int32_t) override {}
    bool needed(std::int32_t) const override { return true; }
    double crowding(int) const override { return 1.0; }
    void set_damping(double damping) override { damping_ = static_cast<float>(damping); }
    void set_weights(std::span<const double> weights) override;
    void step(std::int64_t shard, ArcSteps steps, std::span<const float> z) override;
    void compute_inactive_gradient(std::int64_t shard, std::span<const float> z) override;
    std::size_t saved_size(std::size_t pairs) const override;
    std::vector<float> save() const override;
    void load(std::span<const std::int32_t> pairs, std::span<const float> saved) override;
    void move_to(PageFile& file) override;
    ArcMultipliers multipliers() const override;  // for each label

  private:
    void table_gains(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const;
    void step_messages(Shard& s, std::int64_t begin, std::int64_t n, ArcSteps steps);
    void add_gradient(Shard& s, std::int64_t begin, std::int64_t n, const Features& features) const override;
    double multiplier_norm(const Shard& s) const override;
    // Step of the d of a label, over that of a multiplier of one pair.
    float relative_step(std::int64_t entries) const {
        return 2.0F / (1.0F + std::max(1.0F, damping_ * static_cast<float>(entries)));
    }

    bool at_most_;
    float damping_ = 1.0F;
    std::int64_t chunk_;                            // edges at a time, so that their tables stay in the cache
    std::vector<FloatColumn> d_tail_, d_head_;      // (M,) of each label
    std::vector<std::int64_t> in_row_, in_column_;  // pairs in use
    std::vector<std::vector<float>> sums_, out_;    // of a shard: rows, then columns, by label
    std::vector<float> beside_;                     // (De, pairs in use, padded) weights; empty where many are 0
};

}  // namespace gapcut
