// Array types at the border, and the two conversions every topic needs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gapcut/parallel.hpp"

namespace nb = nanobind;

namespace gapcut::bindings {

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// What the array holds, valid as long as it lives.
template <class T>
std::span<const T> span(const In1<T>& a) {
    return {a.data(), a.size()};
}

template <class T>
std::vector<T> to_vector(const In1<T>& a) {
    return std::vector<T>(a.data(), a.data() + a.size());
}

// A NumPy array that owns the vector's memory.
template <class T>
Out<T> to_array(std::vector<T>&& v, std::initializer_list<std::size_t> shape) {
    auto* owner = new std::vector<T>(std::move(v));
    nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(owner->data(), shape, free);
}

template <class T>
Out<T> to_array(std::vector<T>&& v) {
    const std::size_t size = v.size();
    return to_array(std::move(v), {size});
}

// A getter of a copy of that member; to be bound with rv_policy::move.
template <class C, class T>
auto copy_of(std::vector<T> C::* member) {
    return [member](const C& self) { return to_array(std::vector(self.*member)); };
}

// Stops when `seconds` from now have passed (nullopt: never) or a signal such as Ctrl-C is pending.
inline StopTest stop_test(std::optional<double> seconds) {
    using clock = std::chrono::steady_clock;
    std::optional<clock::time_point> deadline;
    if (seconds && *seconds < 1e9)
        deadline = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(*seconds));
    auto last = clock::now();
    return [deadline, last]() mutable {
        const auto now = clock::now();
        if (deadline && now >= *deadline) return true;
        if (now - last < std::chrono::milliseconds(20)) return false;
        last = now;
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return false;
    };
}

// f(stop), the interpreter lock released; nothing in f may touch Python objects but through arrays they hold.
template <class F>
auto until(std::optional<double> time_left, F&& f) {
    const StopTest stop = stop_test(time_left);
    const nb::gil_scoped_release release;
    return f(stop);
}

// f(), the interpreter lock released; the same holds for f.
template <class F>
auto unlocked(F&& f) {
    const nb::gil_scoped_release release;
    return f();
}

}  // namespace gapcut::bindings
