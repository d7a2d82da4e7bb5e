#include "topics.hpp"

namespace gapcut::bindings {

void bind_flow(nanobind::module_&) {}

}  // namespace gapcut::bindings
