// What the bindings of all inference methods do alike: run without the interpreter until time is up, read settings.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "gapcut/infer/icm.hpp"
#include "gapcut/infer/trws.hpp"

namespace gapcut::bindings {

// f(stop), the interpreter lock released; nothing in f may touch Python objects but through arrays they hold.
template <class F>
auto until(std::optional<double> time_left, F&& f) {
    const StopTest stop = stop_test(time_left);
    const nb::gil_scoped_release release;
    return f(stop);
}

// ICM of an energy or a factor graph: labels, stopped.
template <class E>
nb::tuple local_search(const E& energy, const In1<std::int32_t>& start, std::optional<double> time_left) {
    std::vector<std::int32_t> labels = to_vector(start);
    infer::IcmResult r =
        until(time_left, [&](const StopTest& stop) { return infer::icm(energy, std::move(labels), stop); });
    return nb::make_tuple(to_array(std::move(r.labels)), r.stopped);
}

inline infer::TrwsSettings message_settings(int max_sweeps, double tolerance, int patience, double least_progress,
                                            const std::string& order) {
    infer::TrwsSettings out;
    out.max_sweeps = max_sweeps, out.tolerance = tolerance, out.patience = patience,
    out.least_progress = least_progress;
    if (order == "breadth-first")
        out.order = infer::NodeOrder::breadth_first;
    else if (order != "index")
        throw std::invalid_argument("unknown node order '" + order + "': use 'index' or 'breadth-first'");
    return out;
}

}  // namespace gapcut::bindings
