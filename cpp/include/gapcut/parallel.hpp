// Threads over independent items, with one place to look whether the caller wants to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gapcut {

// Thrown when the caller's stop test said so before all items were done. The items' results are incomplete.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("stopped before the work was done") {}
};

// True when the work should end early (deadline passed, Ctrl-C). Called from the calling thread only. May be empty.
using StopTest = std::function<bool()>;

// Threads that stay ready between runs: for loops that share out some tens of microseconds of work many times, where
// starting threads would cost as much. They wait busily for a moment, then sleep. Owned by one call, used from its
// thread.
class Workers {
  public:
    using Item = std::function<void(std::int64_t item, int worker)>;

    explicit Workers(int threads);  // the calling thread is one of them
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // Runs f(item, worker) for every item in [0, count), the calling thread among the workers.
    // Items are handed out dynamically, so f must write only to its item's own place (worker in [0, threads) selects
    // scratch memory). Rethrows the first exception of any worker; throws Interrupted when stop() turned true.
    void run(std::int64_t count, const Item& f, const StopTest& stop = {});

  private:
    void serve(int worker);
    void work(int worker, const StopTest& stop);

    std::vector<std::thread> pool_;
    std::atomic<std::uint32_t> round_{0}, busy_{0};  // a new round wakes the pool; how many still work on it
    std::atomic<std::int64_t> next_{0};
    std::atomic<bool> halt_{false}, interrupted_{false};
    bool leaving_ = false;
    std::int64_t count_ = 0;
    const Item* item_ = nullptr;
    std::exception_ptr failure_;
    std::mutex failure_guard_;
};

// The same once, with up to `threads` threads started for it.
void parallel_for(std::int64_t count, int threads, const Workers::Item& f, const StopTest& stop = {});

// One, where all is done before a second thread gets to work: `operations` take a nanosecond or two each.
inline int worthwhile_threads(std::int64_t operations, int threads) {
    constexpr std::int64_t kStart = 1 << 20;  // a start takes 0.4 ms, with the memory that it asks for
    return operations < kStart ? 1 : threads;
}

}  // namespace gapcut
