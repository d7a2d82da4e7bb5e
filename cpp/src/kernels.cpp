#include "gapcut/kernels.hpp"

#include <array>
#include <stdexcept>

#if defined(_MSC_VER) && defined(_M_X64)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace gapcut {

namespace baseline {
extern const Kernels kKernels;
}
#if defined(GAPCUT_X86_TARGETS)
namespace v3 {
extern const Kernels kKernels;
}
namespace v4 {
extern const Kernels kKernels;
}
#endif

namespace {

#if defined(GAPCUT_X86_TARGETS)
#if defined(_MSC_VER)
std::array<int, 4> cpuid(int leaf) {
    std::array<int, 4> out{};
    __cpuidex(out.data(), leaf, 0);
    return out;
}
// Whether the bits are set, and the operating system keeps those registers (xcr0).
bool has_v3() {
    const auto basic = cpuid(1), extended = cpuid(7);
    constexpr int kFma = 1 << 12, kXsave = 1 << 27, kBmi = 1 << 3, kAvx2 = 1 << 5, kBmi2 = 1 << 8;
    return (basic[2] & kFma) && (basic[2] & kXsave) && (extended[1] & kBmi) && (extended[1] & kAvx2) &&
           (extended[1] & kBmi2) && (_xgetbv(0) & 0x6) == 0x6;
}
bool has_v4() {
    const auto extended = cpuid(7);
    constexpr unsigned kAll = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31;  // f, dq, cd, bw, vl
    return has_v3() && (static_cast<unsigned>(extended[1]) & kAll) == kAll && (_xgetbv(0) & 0xe6) == 0xe6;
}
#else
bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
bool has_v4() {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#endif
#endif

// Slowest first.
std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> all{&baseline::kKernels};
#if defined(GAPCUT_X86_TARGETS)
    if (has_v3()) all.push_back(&v3::kKernels);
    if (has_v4()) all.push_back(&v4::kKernels);
#endif
    return all;
}

}  // namespace

const Kernels* detail::active = &baseline::kKernels;

std::vector<std::string> targets() {
    std::vector<std::string> names;
    for (const Kernels* one : usable()) names.emplace_back(one->name);
    return names;
}

void use_target(const std::string& name) {
    std::string known;
    for (const Kernels* one : usable()) {
        if (name.empty() || name == one->name) detail::active = one;
        if (name == one->name) return;
        known += (known.empty() ? "" : ", ") + std::string(one->name);
    }
    if (!name.empty()) throw std::invalid_argument("no target '" + name + "' on this machine; there are " + known);
}

}  // namespace gapcut
