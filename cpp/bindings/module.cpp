#include "topics.hpp"

NB_MODULE(_core, m) {
    using namespace gapcut::bindings;
    m.doc() = "Compiled core of gapcut. Private: use the Python rooms, they validate.";
    bind_errors(m);
    bind_kernels(m);
    bind_sums(m);
    bind_problem(m);
    bind_flow(m);
    bind_oracle(m);
    bind_one_hot(m);
    bind_learn(m);
    bind_infer(m);
    bind_grid(m);
    bind_qpbo(m);
    bind_factors(m);
    bind_primal_dual(m);
    bind_lp_relaxed(m);
    bind_proof(m);
    bind_scene(m);
}
