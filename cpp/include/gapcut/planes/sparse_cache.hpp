// The plane cache of block-coordinate learning (see learn/plane_cache.hpp for the dual it ascends) for planes with few
// entries: those of one-hot labelings of small graphs, which touch the weights of few labels. Rows are stored and read
// by their entries only, so that memory and time follow these and not the number of weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/learn/box.hpp"
#include "gapcut/learn/plane_cache.hpp"
#include "gapcut/learn/shuffle.hpp"
#include "gapcut/learn/simplex_step.hpp"
#include "gapcut/parallel.hpp"

namespace gapcut {

struct SparseRow {
    std::vector<std::int32_t> at;  // ascending
    std::vector<double> value;

    static SparseRow of(const double* row, std::int64_t dim);
    bool operator==(const SparseRow&) const = default;
    double dot(const double* w) const;
};

// Requires, ensures and means what PlaneCache does, function by function.
class SparsePlaneCache {
  public:
    SparsePlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes, std::uint64_t seed);

    std::int64_t add(std::span<const std::int32_t> blocks, const double* planes, const double* losses);
    std::int64_t sweep(double target, std::int64_t most, const StopTest& stop);
    DualSums refresh();
    void tick(std::int64_t age);

    std::int64_t size() const { return size_; }
    std::int64_t dim() const { return box_.dim(); }
    const std::vector<double>& weights() const { return weights_; }

  private:
    struct Plane {
        SparseRow row;
        double loss, mass;
        std::int64_t used;
        double gradient = 0;  // as last computed; -inf if left out
    };
    using Block = std::vector<Plane>;

    void move(double step, const SparseRow& row);
    void make_room();
    double gradients(Block& block, bool full) const;
    void choose(Block& block);
    void build_gram();
    double collect_direction();
    void newton_step();
    double pass(double tolerance, bool full);

    std::vector<Block> blocks_;
    double mass_;
    Box box_;
    std::int64_t max_planes_, size_ = 0, clock_ = 0;
    Random random_;
    std::vector<double> x_, weights_;
    SimplexModel model_;  // of the planes chosen_, a group a block
    SimplexStep step_;
    std::vector<Plane*> chosen_;
    std::vector<double> level_,
        last_gap_;  // per group: the gradient that counts as no ascent; per block: gap as last met
    std::vector<double> scattered_, direction_;  // zero between steps
    std::vector<std::int32_t> moved_, order_;    // moved_: where direction_ may not be zero
    Box part_;                                   // of the coordinates moved_
    std::vector<double> part_x_, part_direction_;
};

}  // namespace gapcut
