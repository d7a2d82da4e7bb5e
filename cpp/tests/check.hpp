// A test is a function registered with GAPCUT_TEST; CHECK records a failure and goes on.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace gapcut::testing {

struct Case {
    const char* name;
    void (*run)();
};
std::vector<Case>& cases();
int& failures();

struct Register {
    Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

}  // namespace gapcut::testing

#define GAPCUT_TEST(name)                                                   \
    static void name();                                                     \
    static const ::gapcut::testing::Register register_##name(#name, &name); \
    static void name()

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            std::printf("  %s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            ++::gapcut::testing::failures();                                      \
        }                                                                         \
    } while (false)
