// Inner loops of the primal-dual learner, in float32, compiled for several instruction sets and with reassociation
// allowed: nothing that is certified depends on their last bits, only on their being the same in every run.
#pragma once

#include <cstdint>

namespace gapcut::kernels {

struct ArcSteps {
    float tau, sigma, relax;
};

// Step 5 of the iteration (mathematics.md, Saddle problem), on n arcs of one label pair. `gain` is B; z_u, z_v the old
// labels at both ends; m, d1, d2 the state, updated. Adds 2 t1 - d1 to to_tail and 2 t2 - d2 to to_head, and returns
// the squared change of the state in the step's own metric.
float arc_step(std::int64_t n, ArcSteps steps, const float* gain, const float* z_tail, const float* z_head, float* m,
               float* d1, float* d2, float* to_tail, float* to_head);

// z~ = clip01(z + sigma S), z = clip01(z + relax (z~ - z)); returns the squared change over sigma.
float label_step(std::int64_t n, float relax, const float* sigma, const float* score, float* z, float* z_step);

void add_scaled(std::int64_t n, float factor, const float* x, float* out);

// Between rows of nodes (`width` values each, a multiple of 4) and lists by label (`width` of them, `stride` apart):
// gather: list[k * stride + i] = rows[(at[i] - first) * width + k]; scatter adds the other way round.
void gather_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* rows,
                 float* list, std::int64_t stride);
void scatter_rows(std::int64_t n, std::int64_t width, const std::int32_t* at, std::int64_t first, const float* list,
                  std::int64_t stride, float* rows);
// out[k * stride + i] += rows[i * width + k]
void add_transposed(std::int64_t n, std::int64_t width, const float* rows, float* out, std::int64_t stride);

// out[i] = min(a[i], b[i]); returns whether one is not zero. Nothing is negative.
bool least(std::int64_t n, const float* a, const float* b, float* out);

// sum_i x[i]^2
float square(std::int64_t n, const float* x);

// Four weighted sums of the same rows at once: sum[j * width ...] += sum_i weight[j][i] * rows[i], j < 4, rows (n,
// width), width a multiple of 16.
void add_weighted_rows(std::int64_t n, std::int64_t width, const float* const weight[4], const float* rows, float* sum);

// Scores of four nodes: out[i * width + k] = sum_d rows[i * stride + d] * by_feature[d * width + k], i < 4, width a
// multiple of 16.
void scores_of(std::int64_t dims, std::int64_t width, std::int64_t stride, const float* rows, const float* by_feature,
               float* out);

}  // namespace gapcut::kernels
