#include <vector>

#include "check.hpp"
#include "gapcut/parallel.hpp"

using namespace gapcut;

GAPCUT_TEST(parallel_for_does_every_item_once) {
    for (int threads : {1, 2, 5}) {
        std::vector<int> seen(1000, 0);
        parallel_for(1000, threads, [&](std::int64_t i, int) { ++seen[static_cast<std::size_t>(i)]; });
        for (int s : seen) CHECK(s == 1);
    }
}

GAPCUT_TEST(parallel_for_rethrows_and_interrupts) {
    bool thrown = false;
    try {
        parallel_for(100, 2, [](std::int64_t i, int) {
            if (i == 37) throw std::runtime_error("37");
        });
    } catch (const std::runtime_error& e) {
        thrown = std::string(e.what()) == "37";
    }
    CHECK(thrown);
    bool interrupted = false;
    try {
        parallel_for(100, 2, [](std::int64_t, int) {}, [] { return true; });
    } catch (const Interrupted&) {
        interrupted = true;
    }
    CHECK(interrupted);
}
