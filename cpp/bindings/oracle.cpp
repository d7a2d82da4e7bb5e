#include "topics.hpp"

namespace gapcut::bindings {

void bind_oracle(nanobind::module_&) {}

}  // namespace gapcut::bindings
