// The inner loops, compiled once for every target: cpp/kernels holds their sources, Kernels one target's entry points.
//
// Targets of x86-64: baseline (SSE2), v3 (AVX2, FMA), v4 (AVX-512). Elsewhere there is the baseline alone, which uses
// NEON on 64-bit ARM. A process uses one target for all it does; results repeat bit for bit on one target and differ in
// their last bits between targets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gapcut {

struct RepairArc;
struct RepairLevels;
namespace repair {
struct Blocks;
struct Moving;
struct Weights;
}  // namespace repair
namespace infer {
struct FewPacked;
struct GridJudge;
struct GridPlan;
struct Packed;
struct SmallPacked;
struct Sweep;
}  // namespace infer

// Step sizes of the arcs of the primal-dual iteration.
struct ArcSteps {
    float tau, sigma, over_relaxation;
};

// Compressed rows: entries offsets[i] <= p < offsets[i + 1] of row i.
struct CompressedRows {
    const std::int64_t* offsets;
    const std::int32_t* columns;
    const double* values;
};

struct Kernels {
    const char* name;
    std::int64_t floats;  // in one register; lengths of padded rows are multiples of it
    std::int64_t tile;    // see add_products: at least 4

    // --- vectors of doubles; arguments do not overlap
    double (*dot)(const double* a, const double* b, std::int64_t n);
    // y += s a
    void (*add_scaled)(double* y, double s, const double* a, std::int64_t n);
    // out[k] += sum_d x[d] rows[d, k], rows (dims, n)
    void (*add_rows)(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out);
    // sum[i, j] += sum_r left[r, i] right[r, j], r < n, i < left_width, j < right_width, rows of all three as far apart
    // as their strides say; left_width is a multiple of 4, right_width of `tile`.
    void (*add_products)(std::int64_t n, std::int64_t left_width, const double* left, std::int64_t left_stride,
                         std::int64_t right_width, const double* right, std::int64_t right_stride, double* sum,
                         std::int64_t stride);
    // out[l] = max_k x[k] + rows[k, l], rows (dims, n), dims >= 1
    void (*max_plus)(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out);
    // w = clamp(x); then the same after x += s y
    void (*clamp)(std::int64_t n, const double* lower, const double* upper, const double* x, double* w);
    void (*move_and_clamp)(std::int64_t n, const double* lower, const double* upper, double s, const double* y,
                           double* x, double* w);
    // See slope_at() of box.hpp.
    void (*box_slope)(std::int64_t n, const double* lower, const double* upper, const double* x, const double* y,
                      double s, double* value, double* curvature);

    // rank[i] = how many of n values are less than x[i]. There is room up to a multiple of `tile`, where anything is.
    void (*ranks)(std::int64_t n, const double* x, double* rank);

    // --- the primal-dual iteration, float32: nothing certified depends on their last bits
    // Step 5 on n arcs of one label pair. `gain` is B; z_tail and z_head the old labels at both ends; m, d1, d2 the
    // state, updated. Adds 2 t1 - d1 to to_tail and 2 t2 - d2 to to_head, and returns the squared change of the state
    // in the metric.
    float (*arc_step)(std::int64_t n, ArcSteps steps, const float* gain, const float* z_tail, const float* z_head,
                      float* m, float* d1, float* d2, float* to_tail, float* to_head);
    // z~ = clip01(z + sigma S), z = clip01(z + rho (z~ - z)); returns the squared change over sigma.
    float (*label_step)(std::int64_t n, float rho, const float* sigma, const float* score, float* z, float* z_step);
    // out[i] = sum_q weight[q] columns[feature[q] * stride + i], q < count
    void (*sum_columns)(std::int64_t n, std::int64_t count, const std::int32_t* feature, const float* weight,
                        const float* columns, std::int64_t stride, float* out);
    void (*add_scaled_floats)(std::int64_t n, float factor, const float* x, float* out);
    // Between rows of nodes (`width` values each, a multiple of 4) and lists by label (`width` of them, `stride`
    // apart): list[k * stride + i] = rows[(at[i] - first) * width + k]; scatter adds the other way round.
    void (*gather_rows)(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                        const float* rows, float* list, std::int64_t stride);
    void (*scatter_rows)(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                         const float* list, std::int64_t stride, float* rows);
    void (*scatter_double_rows)(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                                const double* list, std::int64_t stride, double* rows);
    // out[k * stride + i] += rows[i * width + k], width a multiple of 4
    void (*add_transposed)(std::int64_t n, std::int64_t width, const float* rows, float* out, std::int64_t stride);
    // out = min(a, b), nothing negative; returns whether one is not zero.
    bool (*least)(std::int64_t n, const float* a, const float* b, float* out);
    // sum_i x[i]^2
    float (*square)(std::int64_t n, const float* x);
    // Four weighted sums of the same rows: sum[j, :] += sum_i weight[j][i] rows[i, :], j < 4, rows (n, width), width a
    // multiple of `floats`.
    void (*add_weighted_rows)(std::int64_t n, std::int64_t width, const float* const weight[4], const float* rows,
                              float* sum);
    // Scores of four nodes: out[i, k] = sum_d rows[i * stride + d] by_feature[d, k], i < 4, `width` values k, a
    // multiple of `floats`.
    void (*scores_of)(std::int64_t dims, std::int64_t width, std::int64_t stride, const float* rows,
                      const float* by_feature, float* out);
    // Sparse rows against the `width` values that stand side by side in a row of by_column (columns, width), width
    // being 1 to 4 times `floats`: out[i, :] = sum_p values[p] by_column[columns[p], :] over the entries of row i; and
    // by_column[columns[p], :] += values[p] weights[i, :]
    void (*sparse_sums)(std::int64_t n, std::int64_t width, CompressedRows x, const float* by_column, float* out);
    void (*add_sparse_rows)(std::int64_t n, std::int64_t width, CompressedRows x, const float* weights,
                            float* by_column);
    // rows[i * width + k] = lists[k][i]
    void (*rows_of_lists)(std::int64_t n, std::int64_t width, const float* const* lists, float* rows);
    // The slack bound's split of n coefficients b of one label pair in the proportion tail : head (tail_fraction() of
    // slack_bound.hpp), added to both ends. A negative b counts as 0.
    void (*add_split)(std::int64_t n, const double* b, const float* tail, const float* head, double* to_tail,
                      double* to_head);

    // --- the same with one label a node (mathematics.md, Saddle problem of one label a node)
    // Row and column sums of n tables: rows[k] = sum_l m[k * labels + l], columns[l] alike, lists `stride` apart; an
    // entry that is nullptr counts as zeros.
    void (*table_sums)(std::int64_t labels, std::int64_t n, const float* const* m, float* rows, float* columns,
                       std::int64_t stride);
    // [at_most]: t = d - tau (z - sum), at least 0 where sums may stay below z; out = 2 t - d, added to to_node; d
    // moves rho times the way. Returns the squared change over tau.
    float (*message_step[2])(std::int64_t n, float tau, float rho, const float* z, const float* sum, float* d,
                             float* out, float* to_node);
    // m~ = clip01(m + sigma (gain - out_tail - out_head)), m = clip01(m + rho (m~ - m)); returns the squared change
    // over sigma.
    float (*table_step)(std::int64_t n, float sigma, float rho, const float* gain, const float* out_tail,
                        const float* out_head, float* m);
    // z~ = the nearest point of the simplex to z + sigma S at each of n nodes, z moves rho times the way and is not cut
    // off. Lists by label, `score_stride` and `stride` apart.
    float (*simplex_step)(std::int64_t n, std::int64_t labels, float rho, const float* sigma, const float* score,
                          std::int64_t score_stride, float* z, float* z_step, std::int64_t stride);
    // sum += sum_i weight[at[i]] rows[at[i], :], rows of `width`, a multiple of `floats`
    void (*add_listed_rows)(std::int64_t count, const std::int32_t* at, const float* weight, std::int64_t width,
                            const float* rows, float* sum);

    // --- repair, [up]: see repair_kernels.hpp
    RepairLevels (*sum_arcs[2])(std::span<const RepairArc> arcs, const repair::Blocks& blocks, const double* features,
                                const double* z, double here, double* moving_arc, const repair::Moving& moving);
    void (*add_slope[2])(const repair::Blocks& blocks, std::int64_t label, const repair::Moving& moving,
                         const repair::Weights& weights, double& gradient, double& curvature);
    void (*shift)(std::int64_t n, std::int64_t at, double change, const double* x, const repair::Weights& weights);
    void (*shift_rows)(const repair::Blocks& blocks, std::int64_t label, double change, const repair::Moving& moving,
                       const repair::Weights& weights);

    // --- half-sweeps of TRW-S: see sweep.hpp, few_sweep.hpp, small_sweep.hpp
    void (*forward_sweep)(infer::Packed& packed, infer::Sweep& sweep, std::int64_t first, std::int64_t last,
                          std::int32_t* labels);
    void (*backward_sweep)(infer::Packed& packed, infer::Sweep& sweep, std::int64_t first, std::int64_t last);
    void (*few_forward_sweep)(infer::FewPacked& few, const infer::Packed& packed, infer::Sweep& sweep,
                              std::int64_t first, std::int64_t last, std::int32_t* labels);
    void (*few_backward_sweep)(infer::FewPacked& few, const infer::Packed& packed, infer::Sweep& sweep,
                               std::int64_t first, std::int64_t last);
    void (*small_forward_sweep)(infer::SmallPacked& small, const infer::Packed& packed, infer::Sweep& sweep,
                                std::int64_t first, std::int64_t last, std::int32_t* labels);
    void (*small_backward_sweep)(infer::SmallPacked& small, const infer::Packed& packed, infer::Sweep& sweep,
                                 std::int64_t first, std::int64_t last);

    // --- the same on grids, a band of rows at a time, bands in order (backward: falling): see grid.hpp
    void (*grid_forward)(const infer::GridPlan& plan, std::int64_t band);
    void (*grid_backward)(const infer::GridPlan& plan, std::int64_t band);
    void (*grid_judge)(const infer::GridPlan& plan, infer::GridJudge& judge, std::int64_t band);
};

namespace detail {
extern const Kernels* active;
}

// Those of the target in use.
inline const Kernels& kernels() { return *detail::active; }

// Names of the targets that this processor can run and this build has, slowest first.
std::vector<std::string> targets();

// Uses the target of this name from now on, the fastest if it is empty. Until the first call the baseline is in use.
// Not while other threads compute. Throws std::invalid_argument naming the targets there are.
void use_target(const std::string& name);

}  // namespace gapcut
