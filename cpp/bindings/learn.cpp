#include "topics.hpp"

namespace gapcut::bindings {

void bind_learn(nanobind::module_&) {}

}  // namespace gapcut::bindings
