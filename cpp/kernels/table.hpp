// The kernels of one target, as its table (table.cpp) lists them.
#pragma once

#include "gapcut/kernels.hpp"
#include "simd.hpp"

namespace gapcut::GAPCUT_TARGET {

double dot(const double* a, const double* b, std::int64_t n);
void add_scaled(double* y, double s, const double* a, std::int64_t n);
void add_rows(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out);
void add_products(std::int64_t n, std::int64_t left_width, const double* left, std::int64_t left_stride,
                  std::int64_t right_width, const double* right, std::int64_t right_stride, double* sum,
                  std::int64_t stride);
void max_plus(std::int64_t dims, std::int64_t n, const double* x, const double* rows, double* out);
void clamp(std::int64_t n, const double* lower, const double* upper, const double* x, double* w);
void move_and_clamp(std::int64_t n, const double* lower, const double* upper, double s, const double* y, double* x,
                    double* w);
void box_slope(std::int64_t n, const double* lower, const double* upper, const double* x, const double* y, double s,
               double* value, double* curvature);
void ranks(std::int64_t n, const double* x, double* rank);
float arc_step(std::int64_t n, ArcSteps steps, const float* gain, const float* z_tail, const float* z_head, float* m,
               float* d1, float* d2, float* to_tail, float* to_head);
float label_step(std::int64_t n, float rho, const float* sigma, const float* score, float* z, float* z_step);
void sum_columns(std::int64_t n, std::int64_t count, const std::int32_t* feature, const float* weight,
                 const float* columns, std::int64_t stride, float* out);
void add_scaled_floats(std::int64_t n, float factor, const float* x, float* out);
void gather_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* rows,
                 float* list, std::int64_t stride);
void scatter_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* list,
                  std::int64_t stride, float* rows);
void scatter_double_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first,
                         const double* list, std::int64_t stride, double* rows);
void add_transposed(std::int64_t n, std::int64_t width, const float* rows, float* out, std::int64_t stride);
bool least(std::int64_t n, const float* a, const float* b, float* out);
float square(std::int64_t n, const float* x);
void add_weighted_rows(std::int64_t n, std::int64_t width, const float* const weight[4], const float* rows, float* sum);
void scores_of(std::int64_t dims, std::int64_t width, std::int64_t stride, const float* rows, const float* by_feature,
               float* out);
void sparse_sums(std::int64_t n, std::int64_t width, CompressedRows x, const float* by_column, float* out);
void add_sparse_rows(std::int64_t n, std::int64_t width, CompressedRows x, const float* weights, float* by_column);
void rows_of_lists(std::int64_t n, std::int64_t width, const float* const* lists, float* rows);
void add_split(std::int64_t n, const double* b, const float* tail, const float* head, double* to_tail, double* to_head);
void table_sums(std::int64_t labels, std::int64_t n, const float* const* m, float* rows, float* columns,
                std::int64_t stride);
template <bool at_most>
float message_step(std::int64_t n, float tau, float rho, const float* z, const float* sum, float* d, float* out,
                   float* to_node);
float table_step(std::int64_t n, float sigma, float rho, const float* gain, const float* out_tail,
                 const float* out_head, float* m);
float simplex_step(std::int64_t n, std::int64_t labels, float rho, const float* sigma, const float* score,
                   std::int64_t score_stride, float* z, float* z_step, std::int64_t stride);
void add_listed_rows(std::int64_t count, const std::int32_t* at, const float* weight, std::int64_t width,
                     const float* rows, float* sum);
template <bool Up>
RepairLevels sum_arcs(std::span<const RepairArc> arcs, const repair::Blocks& blocks, const double* features,
                      const double* z, double here, double* moving_arc, const repair::Moving& moving);
template <bool Up>
void add_slope(const repair::Blocks& blocks, std::int64_t label, const repair::Moving& moving,
               const repair::Weights& weights, double& gradient, double& curvature);
void shift(std::int64_t n, std::int64_t at, double change, const double* x, const repair::Weights& weights);
void shift_rows(const repair::Blocks& blocks, std::int64_t label, double change, const repair::Moving& moving,
                const repair::Weights& weights);
void forward_sweep(infer::Packed& packed, infer::Sweep& sweep, std::int64_t first, std::int64_t last,
                   std::int32_t* labels);
void backward_sweep(infer::Packed& packed, infer::Sweep& sweep, std::int64_t first, std::int64_t last);
void few_forward_sweep(infer::FewPacked& few, const infer::Packed& packed, infer::Sweep& sweep, std::int64_t first,
                       std::int64_t last, std::int32_t* labels);
void few_backward_sweep(infer::FewPacked& few, const infer::Packed& packed, infer::Sweep& sweep, std::int64_t first,
                        std::int64_t last);
void small_forward_sweep(infer::SmallPacked& small, const infer::Packed& packed, infer::Sweep& sweep,
                         std::int64_t first, std::int64_t last, std::int32_t* labels);
void small_backward_sweep(infer::SmallPacked& small, const infer::Packed& packed, infer::Sweep& sweep,
                          std::int64_t first, std::int64_t last);
void grid_forward(const infer::GridPlan& plan, std::int64_t band);
void grid_backward(const infer::GridPlan& plan, std::int64_t band);
void grid_judge(const infer::GridPlan& plan, infer::GridJudge& judge, std::int64_t band);

}  // namespace gapcut::GAPCUT_TARGET
