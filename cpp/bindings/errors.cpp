// The one place where exceptions of the core become Python exceptions. std::invalid_argument is already ValueError
// and std::bad_alloc MemoryError by nanobind's own rules.
#include <system_error>

#include "gapcut/parallel.hpp"
#include "topics.hpp"

namespace gapcut::bindings {
namespace {

void system_error_as_os_error(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const std::system_error& error) {
        PyErr_SetString(PyExc_OSError, error.what());
    }
}

}  // namespace

void bind_errors(nanobind::module_& m) {
    nanobind::exception<Interrupted>(m, "Interrupted", PyExc_RuntimeError);
    nanobind::register_exception_translator(system_error_as_os_error);
}

}  // namespace gapcut::bindings
