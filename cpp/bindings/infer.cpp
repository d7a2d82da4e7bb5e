#include "topics.hpp"

namespace gapcut::bindings {

void bind_infer(nanobind::module_&) {}

}  // namespace gapcut::bindings
