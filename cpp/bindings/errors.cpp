// The one place where exceptions of the core become Python exceptions. std::invalid_argument is already ValueError
// and std::bad_alloc MemoryError by nanobind's own rules.
#include "gapcut/parallel.hpp"
#include "topics.hpp"

namespace gapcut::bindings {

void bind_errors(nanobind::module_& m) { nanobind::exception<Interrupted>(m, "Interrupted", PyExc_RuntimeError); }

}  // namespace gapcut::bindings
