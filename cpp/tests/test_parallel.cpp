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

GAPCUT_TEST(workers_do_many_rounds_and_go_on_after_a_failure) {
    for (int threads : {1, 2, 4}) {
        Workers workers(threads);
        std::vector<std::int64_t> sums(8, 0);
        for (std::int64_t round = 0; round < 20000; ++round) {
            const auto count = round % 9;
            workers.run(count, [&](std::int64_t i, int) { sums[static_cast<std::size_t>(i)] += round; });
            if (round % 5000 == 17) {
                bool thrown = false;
                try {
                    workers.run(8, [](std::int64_t i, int) {
                        if (i == 5) throw std::runtime_error("5");
                    });
                } catch (const std::runtime_error&) {
                    thrown = true;
                }
                CHECK(thrown);
            }
        }
        for (std::int64_t i = 0; i < 8; ++i) {
            std::int64_t expected = 0;
            for (std::int64_t round = 0; round < 20000; ++round) expected += i < round % 9 ? round : 0;
            CHECK(sums[static_cast<std::size_t>(i)] == expected);
        }
    }
}
