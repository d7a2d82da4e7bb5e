#include "check.hpp"

namespace gapcut::testing {

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

int& failures() {
    static int count = 0;
    return count;
}

}  // namespace gapcut::testing

int main() {
    using namespace gapcut::testing;
    int failed = 0;
    for (const auto& test : cases()) {
        const int before = failures();
        test.run();
        const bool ok = failures() == before;
        failed += !ok;
        std::printf("%s %s\n", ok ? "ok  " : "FAIL", test.name);
    }
    std::printf("%zu passed, %d failed\n", cases().size() - static_cast<std::size_t>(failed), failed);
    return failed != 0;
}
