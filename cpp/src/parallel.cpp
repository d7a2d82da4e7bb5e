#include "gapcut/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gapcut {

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t, int)>& f,
                  const StopTest& stop) {
    const int workers = static_cast<int>(std::clamp<std::int64_t>(count, 1, std::max(1, threads)));
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> halt{false}, interrupted{false};
    std::exception_ptr failure;
    std::mutex failure_guard;

    auto work = [&](int worker) {
        try {
            while (!halt.load(std::memory_order_relaxed)) {
                if (worker == 0 && stop && stop()) {
                    interrupted = true;
                    halt = true;
                    return;
                }
                const std::int64_t item = next.fetch_add(1, std::memory_order_relaxed);
                if (item >= count) return;
                f(item, worker);
            }
        } catch (...) {
            const std::lock_guard lock(failure_guard);
            if (!failure) failure = std::current_exception();
            halt = true;
        }
    };

    std::vector<std::thread> pool;
    pool.reserve(static_cast<std::size_t>(workers - 1));
    for (int w = 1; w < workers; ++w) pool.emplace_back(work, w);
    work(0);
    for (std::thread& t : pool) t.join();
    if (failure) std::rethrow_exception(failure);
    if (interrupted) throw Interrupted();
}

}  // namespace gapcut
