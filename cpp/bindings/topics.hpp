// One function per topic; module.cpp calls them in this order.
#pragma once

#include <nanobind/nanobind.h>

namespace gapcut::bindings {

void bind_errors(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_sums(nanobind::module_& m);
void bind_problem(nanobind::module_& m);
void bind_flow(nanobind::module_& m);
void bind_oracle(nanobind::module_& m);
void bind_one_hot(nanobind::module_& m);
void bind_learn(nanobind::module_& m);
void bind_infer(nanobind::module_& m);
void bind_grid(nanobind::module_& m);
void bind_qpbo(nanobind::module_& m);
void bind_factors(nanobind::module_& m);
void bind_primal_dual(nanobind::module_& m);
void bind_lp_relaxed(nanobind::module_& m);
void bind_proof(nanobind::module_& m);
void bind_scene(nanobind::module_& m);

}  // namespace gapcut::bindings
