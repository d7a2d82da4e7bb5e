#include "quad.hpp"
#include "table.hpp"

namespace gapcut::GAPCUT_TARGET {
namespace {

// Sums of a row in as many registers.
template <int registers>
void sums(std::int64_t n, CompressedRows x, const float* by_column, float* out) {
    constexpr auto size = Floats::size, width = registers * size;
    for (std::int64_t i = 0; i < n; ++i, out += width) {
        Floats s0 = Floats::fill(0.0F), s1 = s0, s2 = s0, s3 = s0;
        for (auto p = x.offsets[i]; p < x.offsets[i + 1]; ++p) {
            const Floats factor = Floats::fill(static_cast<float>(x.values[p]));
            const float* from = by_column + x.columns[p] * width;
            s0 = multiply_add(factor, Floats::load(from), s0);
            if constexpr (registers > 1) s1 = multiply_add(factor, Floats::load(from + size), s1);
            if constexpr (registers > 2) s2 = multiply_add(factor, Floats::load(from + 2 * size), s2);
            if constexpr (registers > 3) s3 = multiply_add(factor, Floats::load(from + 3 * size), s3);
        }
        s0.store(out);
        if constexpr (registers > 1) s1.store(out + size);
        if constexpr (registers > 2) s2.store(out + 2 * size);
        if constexpr (registers > 3) s3.store(out + 3 * size);
    }
}

// Weights of a row in as many registers.
template <int registers>
void add(std::int64_t n, CompressedRows x, const float* weights, float* by_column) {
    constexpr auto size = Floats::size, width = registers * size;
    const auto more = [](Floats factor, Floats w, float* to) { multiply_add(factor, w, Floats::load(to)).store(to); };
    for (std::int64_t i = 0; i < n; ++i, weights += width) {
        const Floats w0 = Floats::load(weights), w1 = Floats::load(weights + (registers > 1 ? size : 0));
        const Floats w2 = Floats::load(weights + (registers > 2 ? 2 * size : 0));
        const Floats w3 = Floats::load(weights + (registers > 3 ? 3 * size : 0));
        for (auto p = x.offsets[i]; p < x.offsets[i + 1]; ++p) {
            const Floats factor = Floats::fill(static_cast<float>(x.values[p]));
            float* to = by_column + x.columns[p] * width;
            more(factor, w0, to);
            if constexpr (registers > 1) more(factor, w1, to + size);
            if constexpr (registers > 2) more(factor, w2, to + 2 * size);
            if constexpr (registers > 3) more(factor, w3, to + 3 * size);
        }
    }
}

}  // namespace

void sparse_sums(std::int64_t n, std::int64_t width, CompressedRows x, const float* by_column, float* out) {
    constexpr void (*kernel[])(std::int64_t, CompressedRows, const float*, float*) = {sums<1>, sums<2>, sums<3>,
                                                                                      sums<4>};
    kernel[width / Floats::size - 1](n, x, by_column, out);
}

void add_sparse_rows(std::int64_t n, std::int64_t width, CompressedRows x, const float* weights, float* by_column) {
    constexpr void (*kernel[])(std::int64_t, CompressedRows, const float*, float*) = {add<1>, add<2>, add<3>, add<4>};
    kernel[width / Floats::size - 1](n, x, weights, by_column);
}

void rows_of_lists(std::int64_t n, std::int64_t width, const float* const* lists, float* rows) {
    std::int64_t k = 0;
    for (; k + 4 <= width; k += 4) {
        std::int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            FloatQuad a = FloatQuad::load(lists[k] + i), b = FloatQuad::load(lists[k + 1] + i);
            FloatQuad c = FloatQuad::load(lists[k + 2] + i), d = FloatQuad::load(lists[k + 3] + i);
            transpose(a, b, c, d);
            float* to = rows + i * width + k;
            a.store(to), b.store(to + width), c.store(to + 2 * width), d.store(to + 3 * width);
        }
        for (; i < n; ++i)
            for (std::int64_t j = k; j < k + 4; ++j) rows[i * width + j] = lists[j][i];
    }
    for (; k < width; ++k)
        for (std::int64_t i = 0; i < n; ++i) rows[i * width + k] = lists[k][i];
}

}  // namespace gapcut::GAPCUT_TARGET
