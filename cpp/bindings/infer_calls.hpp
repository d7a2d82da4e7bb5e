// What the bindings of all inference methods do alike: local search, settings of message passing.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "gapcut/infer/icm.hpp"
#include "gapcut/infer/trws.hpp"

namespace gapcut::bindings {

// ICM of an energy or a factor graph: labels, stopped.
template <class E>
nb::tuple local_search(const E& energy, const In1<std::int32_t>& start, std::optional<double> time_left) {
    std::vector<std::int32_t> labels = to_vector(start);
    infer::IcmResult r =
        until(time_left, [&](const StopTest& stop) { return infer::icm(energy, std::move(labels), stop); });
    return nb::make_tuple(to_array(std::move(r.labels)), r.stopped);
}

// Calls back at most this often, in seconds.
inline constexpr double kBetweenCalls = 0.1;

inline infer::TrwsListener listener_of(const nb::object& tell) {
    if (tell.is_none()) return {};
    auto last = std::chrono::steady_clock::now();
    return [tell, last](const infer::TrwsResult& found) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (std::chrono::duration<double>(now - last).count() < kBetweenCalls) return;
        last = now;
        const nb::gil_scoped_acquire gil;
        tell(to_array(std::vector(found.labels)), found.bound);
    };
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
