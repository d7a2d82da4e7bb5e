// GAPCUT_HOT marks a kernel to be compiled for several instruction sets and chosen when the module loads.
// The binary stays portable, and one machine always runs the same variant, so its results repeat bit for bit.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define GAPCUT_HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GAPCUT_HOT
#endif
