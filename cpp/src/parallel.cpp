#include "gapcut/parallel.hpp"

#include <algorithm>
#include <system_error>

namespace gapcut {
namespace {

constexpr int kSpins = 4000;  // looks at a value before sleeping on it: some tens of microseconds

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Until the value is another one.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < kSpins; ++i) {
        const auto now = value.load(std::memory_order_acquire);
        if (now != old) return now;
        pause();
    }
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

}  // namespace

Workers::Workers(int threads) {
    pool_.reserve(static_cast<std::size_t>(std::max(0, threads - 1)));
    try {
        for (int w = 1; w < threads; ++w) pool_.emplace_back(&Workers::serve, this, w);
    } catch (const std::system_error&) {  // the system gives no more: fewer do the same work
    }
}

Workers::~Workers() {
    leaving_ = true;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& t : pool_) t.join();
}

void Workers::serve(int worker) {
    std::uint32_t seen = 0;
    while (true) {
        seen = wait_for_change(round_, seen);
        if (leaving_) return;
        work(worker, {});
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    }
}

void Workers::work(int worker, const StopTest& stop) {
    try {
        while (!halt_.load(std::memory_order_relaxed)) {
            if (stop && stop()) {
                interrupted_ = true;
                halt_ = true;
                return;
            }
            const std::int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
            if (item >= count_) return;
            (*item_)(item, worker);
        }
    } catch (...) {
        const std::lock_guard lock(failure_guard_);
        if (!failure_) failure_ = std::current_exception();
        halt_ = true;
    }
}

void Workers::run(std::int64_t count, const Item& f, const StopTest& stop) {
    count_ = count;
    item_ = &f;
    next_ = 0;
    halt_ = interrupted_ = false;
    failure_ = nullptr;
    const bool shared = count > 1 && !pool_.empty();
    if (shared) {
        busy_.store(static_cast<std::uint32_t>(pool_.size()), std::memory_order_relaxed);
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
    }
    work(0, stop);
    if (shared)
        for (auto left = busy_.load(std::memory_order_acquire); left != 0;) left = wait_for_change(busy_, left);
    if (failure_) std::rethrow_exception(failure_);
    if (interrupted_) throw Interrupted();
}

void parallel_for(std::int64_t count, int threads, const Workers::Item& f, const StopTest& stop) {
    Workers(static_cast<int>(std::clamp<std::int64_t>(count, 1, std::max(1, threads)))).run(count, f, stop);
}

}  // namespace gapcut
