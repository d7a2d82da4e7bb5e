// Threads over independent items (graphs), with one place to look whether the caller wants to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace gapcut {

// Thrown when the caller's stop test said so before all items were done. The items' results are incomplete.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("stopped before the work was done") {}
};

// True when the work should end early (deadline passed, Ctrl-C). Called from the calling thread only. May be empty.
using StopTest = std::function<bool()>;

// Runs f(item, worker) for every item in [0, count) on up to `threads` threads, the calling thread among them.
// Items are handed out dynamically, so f must write only to its item's own place (worker in [0, threads) selects
// scratch memory). Rethrows the first exception of any worker; throws Interrupted when stop() turned true.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t, int)>& f,
                  const StopTest& stop = {});

}  // namespace gapcut
