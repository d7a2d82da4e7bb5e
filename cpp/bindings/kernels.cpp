#include "gapcut/kernels.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

#include "topics.hpp"

namespace gapcut::bindings {

void bind_kernels(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def("targets", &targets, "Targets of the kernels that this processor can run, slowest first.");
    m.def("target", [] { return std::string(kernels().name); }, "The target in use.");
    m.def("use_target", &use_target, "name"_a,
          "Another target (empty: the fastest); not while other threads compute. Raises ValueError naming those there "
          "are.");
    const char* wanted = std::getenv("GAPCUT_TARGET");
    use_target(wanted == nullptr ? "" : wanted);
}

}  // namespace gapcut::bindings
