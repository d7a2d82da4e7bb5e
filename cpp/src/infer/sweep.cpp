#include "gapcut/infer/sweep.hpp"

namespace gapcut::infer {

Sweep::Sweep(std::int32_t widest) : memory_(5 * (std::int64_t{widest} + 8)) {
    const std::int64_t step = (std::int64_t{widest} + 7) / 8 * 8;
    double** parts[] = {&own, &absolute, &decode, &sent, &out};
    double* next = memory_.data();
    for (double** part : parts) *part = next, next += step;
}

}  // namespace gapcut::infer
