#include "sparse_pairs.hpp"

#include <algorithm>

namespace gapcut {

std::int64_t SparsePairs::padded(std::int64_t pairs) {
    const auto size = kernels().floats;
    return (pairs + size - 1) / size * size;
}

CompressedRows SparsePairs::rows_from(std::int64_t begin) const {
    return {edges_->offsets().data() + begin, edges_->columns().data(), edges_->values().data()};
}

void SparsePairs::set_weights(std::span<const double> weights, std::span<const std::int32_t> pairs) {
    const auto De = edges_->cols();
    pairs_ = std::ssize(pairs);
    weights_.assign(static_cast<std::size_t>(padded(pairs_) * De), 0.0F);
    for (std::int64_t first = 0; first < pairs_; first += block()) {
        const auto width = std::min(block(), padded(pairs_) - first), count = std::min(width, pairs_ - first);
        float* to = weights_.data() + first * De;
        for (std::int64_t j = 0; j < count; ++j) {
            const double* w = weights.data() + pairs[first + j] * De;
            for (std::int64_t d = 0; d < De; ++d) to[d * width + j] = static_cast<float>(w[d]);
        }
    }
}

void SparsePairs::gains(std::int64_t begin, std::int64_t n, Scratch& s, float* out, std::int64_t stride) const {
    std::fill_n(out, padded(pairs_) * stride, 0.0F);
    s.rows.resize(std::max(s.rows.size(), static_cast<std::size_t>(n * block())));
    for (std::int64_t first = 0; first < pairs_; first += block()) {
        const auto width = std::min(block(), padded(pairs_) - first);
        kernels().sparse_sums(n, width, rows_from(begin), weights_.data() + first * edges_->cols(), s.rows.data());
        kernels().add_transposed(n, width, s.rows.data(), out + first * stride, stride);
    }
}

void SparsePairs::add_weighted(std::int64_t begin, std::int64_t n, std::span<const float* const> weight,
                               std::span<double* const> sums, Scratch& s) const {
    const auto De = edges_->cols();
    s.rows.resize(std::max(s.rows.size(), static_cast<std::size_t>(n * block())));
    std::vector<const float*> lists(static_cast<std::size_t>(block()));
    for (std::int64_t first = 0; first < std::ssize(weight); first += block()) {
        const auto count = std::min(block(), std::ssize(weight) - first), width = padded(count);
        for (std::int64_t j = 0; j < width; ++j) lists[j] = weight[first + std::min(j, count - 1)];
        kernels().rows_of_lists(n, width, lists.data(), s.rows.data());
        s.sums.assign(static_cast<std::size_t>(De * width), 0.0F);
        kernels().add_sparse_rows(n, width, rows_from(begin), s.rows.data(), s.sums.data());
        for (std::int64_t j = 0; j < count; ++j)
            for (std::int64_t d = 0; d < De; ++d) sums[first + j][d] += static_cast<double>(s.sums[d * width + j]);
    }
}

}  // namespace gapcut
