#include <bit>

#include "table.hpp"

// Zeros are told by their bits: -0 is none, and comes back.
namespace gapcut::GAPCUT_TARGET {

#if defined(__AVX512F__)

std::int64_t pack_floats(std::int64_t n, const float* x, std::uint16_t* mask, float* packed) {
    float* to = packed;
    for (std::int64_t i = 0; i < n; i += 16) {
        const __m512i all = _mm512_loadu_si512(x + i);
        const __mmask16 kept = _mm512_test_epi32_mask(all, all);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(kept, all));
        *mask++ = kept;
        to += std::popcount(static_cast<std::uint16_t>(kept));
    }
    return to - packed;
}

void unpack_floats(std::int64_t n, const std::uint16_t* mask, const float* packed, float* x) {
    for (std::int64_t i = 0; i < n; i += 16) {
        const std::uint16_t kept = *mask++;
        _mm512_storeu_si512(x + i, _mm512_maskz_expand_epi32(kept, _mm512_loadu_si512(packed)));
        packed += std::popcount(kept);
    }
}

#else

std::int64_t pack_floats(std::int64_t n, const float* x, std::uint16_t* mask, float* packed) {
    float* to = packed;
    for (std::int64_t i = 0; i < n; i += 16) {
        unsigned kept = 0;
        for (int j = 0; j < 16; ++j) {  // without a branch, which nobody could foresee
            const unsigned any = std::bit_cast<std::uint32_t>(x[i + j]) != 0;
            *to = x[i + j];
            to += any;
            kept |= any << j;
        }
        *mask++ = static_cast<std::uint16_t>(kept);
    }
    return to - packed;
}

void unpack_floats(std::int64_t n, const std::uint16_t* mask, const float* packed, float* x) {
    for (std::int64_t i = 0; i < n; i += 16) {
        const unsigned kept = *mask++;
        for (int j = 0; j < 16; ++j) {
            const unsigned any = kept >> j & 1;
            x[i + j] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(*packed) & (0U - any));
            packed += any;
        }
    }
}

#endif

}  // namespace gapcut::GAPCUT_TARGET
