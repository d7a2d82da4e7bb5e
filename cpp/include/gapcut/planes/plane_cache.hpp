// Planes of every graph kept between oracle calls, and the dual over them: block-coordinate ascent over one simplex a
// graph (multi-plane block-coordinate Frank-Wolfe; Shah, Kolmogorov, Lampert, CVPR 2015), with w = clamp(x).
//
//     D(b) = sum_ip b_ip d_ip - conjugate(sum_ip b_ip h_ip),   b >= 0,  sum_p b_ip <= mass = C/n for every graph i;
//
// what a block has left of its mass lies on the plane of z = y, which is zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gapcut/parallel.hpp"
#include "gapcut/planes/points.hpp"
#include "gapcut/planes/shuffle.hpp"
#include "gapcut/planes/simplex_step.hpp"

namespace gapcut {

// x = sum b h, loss = sum b d over `terms` planes, summed anew in index order.
struct DualSums {
    std::vector<double> x;
    double loss = 0;
    std::int64_t terms = 0;
};

// Point: DensePoint or SparsePoint, how the rows are kept.
template <class Point>
class PlaneCache {
  public:
    // mass > 0 finite; max_planes >= 2 * blocks bounds the memory.
    PlaneCache(std::int64_t blocks, double mass, Box box, std::int64_t max_planes, std::uint64_t seed);

    // Row r of planes (blocks.size(), dim) joins block blocks[r]; one that the block has already is not stored twice.
    // A full cache gives up its least recently used planes without mass, at worst the planes with the least mass.
    // Returns how many joined.
    std::int64_t add(std::span<const std::int32_t> blocks, const double* planes, const double* losses);

    // Sweeps over all blocks in random order, a Newton step on a few of them at a time, until the gap over the cached
    // planes, as met during a sweep, is at most `target` or `most` sweeps are done. Returns the sweeps done. Throws
    // Interrupted.
    std::int64_t sweep(double target, std::int64_t most, const StopTest& stop);

    // Recomputes x from planes and masses, drops running drift, and returns the sums.
    DualSums refresh();

    // Drops planes without mass that have not had any for `age` calls of tick().
    void tick(std::int64_t age);

    // Mass of every row given to add() so far, in that order; 0 for those that joined no block.
    std::vector<double> masses() const;
    // Starts from these, >= 0 and at most the mass of the block together; rows that are the same add up.
    void set_masses(std::span<const double> masses);

    std::int64_t size() const { return size_; }
    std::int64_t dim() const { return point_.dim(); }
    const std::vector<double>& weights() const { return point_.weights(); }

  private:
    using Row = typename Point::Row;
    struct Plane {
        Row row;
        double loss, mass;
        std::int64_t used, given;  // given: rows before it
        double gradient = 0;       // as last computed; -inf if left out
    };
    using Block = std::vector<Plane>;

    double pass(double tolerance, bool full);
    double gradients(Block& block, bool full) const;
    void choose(Block& block);
    void newton_step();
    void make_room();

    std::vector<Block> blocks_;
    double mass_;
    Point point_;
    std::int64_t max_planes_, size_ = 0, given_ = 0, clock_ = 0;
    std::vector<std::int64_t> same_as_;  // of every row given: the first that is the same and in its block
    Random random_;
    SimplexModel model_;  // of the planes chosen_, a group a block
    SimplexStep step_;
    std::vector<Plane*> chosen_;
    std::vector<const Row*> rows_;  // of chosen_
    std::vector<double> level_;     // per group: the gradient that counts as no ascent
    std::vector<double> last_gap_;  // of each block at its last visit
    std::vector<std::int32_t> order_;
};

extern template class PlaneCache<DensePoint>;
extern template class PlaneCache<SparsePoint>;

}  // namespace gapcut
