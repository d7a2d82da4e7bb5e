#include "table.hpp"

#include "gapcut/learn/repair.hpp"

#define GAPCUT_STRING_OF(x) #x
#define GAPCUT_STRING(x) GAPCUT_STRING_OF(x)

namespace gapcut::GAPCUT_TARGET {

extern const Kernels kKernels;
const Kernels kKernels{
    .name = GAPCUT_STRING(GAPCUT_TARGET),
    .floats = Floats::size,
    .tile = Doubles::size < 2 ? 4 : 2 * Doubles::size,
    .dot = dot,
    .add_scaled = add_scaled,
    .add_rows = add_rows,
    .add_products = add_products,
    .max_plus = max_plus,
    .clamp = clamp,
    .move_and_clamp = move_and_clamp,
    .box_slope = box_slope,
    .ranks = ranks,
    .arc_step = arc_step,
    .label_step = label_step,
    .sum_columns = sum_columns,
    .add_scaled_floats = add_scaled_floats,
    .gather_rows = gather_rows,
    .scatter_rows = scatter_rows,
    .scatter_double_rows = scatter_double_rows,
    .add_transposed = add_transposed,
    .least = least,
    .square = square,
    .add_weighted_rows = add_weighted_rows,
    .scores_of = scores_of,
    .sparse_sums = sparse_sums,
    .add_sparse_rows = add_sparse_rows,
    .rows_of_lists = rows_of_lists,
    .add_split = add_split,
    .table_sums = table_sums,
    .message_step = {message_step<false>, message_step<true>},
    .table_step = table_step,
    .simplex_step = simplex_step,
    .add_listed_rows = add_listed_rows,
    .sum_arcs = {sum_arcs<false>, sum_arcs<true>},
    .add_slope = {add_slope<false>, add_slope<true>},
    .shift = shift,
    .shift_rows = shift_rows,
    .forward_sweep = forward_sweep,
    .backward_sweep = backward_sweep,
    .few_forward_sweep = few_forward_sweep,
    .few_backward_sweep = few_backward_sweep,
    .small_forward_sweep = small_forward_sweep,
    .small_backward_sweep = small_backward_sweep,
    .grid_forward = grid_forward,
    .grid_backward = grid_backward,
    .grid_judge = grid_judge,
};

}  // namespace gapcut::GAPCUT_TARGET
