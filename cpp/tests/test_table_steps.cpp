// The kernels of the steps with one label a node, on every target, against plain loops.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernel_numbers.hpp"

namespace gapcut {

using namespace testing;

namespace {

using List = std::vector<float>;

// test(random, n) with each target, for some lengths.
template <class F>
void on_lengths(F test) {
    on_every_target([&](std::mt19937& random) {
        for (const std::int64_t n : {1, 3, 8, 17, 40}) test(random, n);
    });
}

float unit(float x) { return std::clamp(x, 0.0F, 1.0F); }

}  // namespace

GAPCUT_TEST(table_sums_add_rows_and_columns) {
    on_lengths([](std::mt19937& random, std::int64_t n) {
        constexpr std::int64_t K = 3;
        const auto stride = n + 5;
        std::vector<List> m;
        std::vector<const float*> entries;
        for (std::int64_t pair = 0; pair < K * K; ++pair) m.push_back(numbers<float>(random, n, 0.0F));
        for (std::int64_t pair = 0; pair < K * K; ++pair) entries.push_back(pair == 4 ? nullptr : m[pair].data());
        List rows(K * stride), columns(K * stride), rows_ = rows, columns_ = columns;
        for (std::int64_t pair = 0; pair < K * K; ++pair)
            for (std::int64_t e = 0; pair != 4 && e < n; ++e) {
                rows_[pair / K * stride + e] += m[pair][e];
                columns_[pair % K * stride + e] += m[pair][e];
            }
        kernels().table_sums(K, n, entries.data(), rows.data(), columns.data(), stride);
        CHECK(near(rows, rows_) && near(columns, columns_));
    });
}

GAPCUT_TEST(messages_and_tables_step) {
    on_lengths([](std::mt19937& random, std::int64_t n) {
        for (const bool at_most : {false, true}) {
            const auto z = numbers<float>(random, n, 0.0F), sum = numbers<float>(random, n, 0.0F);
            auto d = numbers<float>(random, n, at_most ? 0.0F : -1.0F), out = d, node = numbers<float>(random, n);
            auto d_ = d, out_ = out, node_ = node;
            float moved = 0.0F;
            for (std::int64_t e = 0; e < n; ++e) {
                float next = d_[e] - 0.7F * (z[e] - sum[e]);
                if (at_most) next = std::max(next, 0.0F);
                const float by = next - d_[e];
                node_[e] += out_[e] = next + by;
                d_[e] += 1.8F * by;
                if (at_most) d_[e] = std::max(d_[e], 0.0F);
                moved += by * by / 0.7F;
            }
            const float found =
                kernels().message_step[at_most](n, 0.7F, 1.8F, z.data(), sum.data(), d.data(), out.data(), node.data());
            CHECK(near(d, d_) && near(out, out_) && near(node, node_) && near(found, moved, 1e-4));
        }
        const auto gain = numbers<float>(random, n), tail = numbers<float>(random, n), head = numbers<float>(random, n);
        auto m = numbers<float>(random, n, 0.0F), m_ = m;
        float moved = 0.0F;
        for (std::int64_t e = 0; e < n; ++e) {
            const float by = unit(m_[e] + 0.4F * (gain[e] - tail[e] - head[e])) - m_[e];
            m_[e] = unit(m_[e] + 1.8F * by);
            moved += by * by / 0.4F;
        }
        const float found = kernels().table_step(n, 0.4F, 1.8F, gain.data(), tail.data(), head.data(), m.data());
        CHECK(near(m, m_) && near(found, moved, 1e-4));
    });
}

// The nearest point of the simplex: some t lowers all labels that stay positive by the same, and these add up to 1.
GAPCUT_TEST(labels_go_to_the_nearest_point_of_the_simplex) {
    on_lengths([](std::mt19937& random, std::int64_t n) {
        for (const std::int64_t K : {1, 2, 5, 26})
            for (const float size : {0.5F, 1e4F}) {
                const auto stride = n + 3;
                const auto sigma = numbers<float>(random, n, 0.1F),
                           score = numbers<float>(random, K * stride, -size, size);
                auto z = numbers<float>(random, K * stride), ahead = z;
                const auto before = z;
                kernels().simplex_step(n, K, 1.8F, sigma.data(), score.data(), stride, z.data(), ahead.data(), stride);
                for (std::int64_t i = 0; i < n; ++i) {
                    double sum = 0.0, least = 1e30, most = -1e30, outside = -1e30;
                    for (std::int64_t k = 0; k < K; ++k) {
                        const auto at = k * stride + i;
                        const double wanted = before[at] + static_cast<double>(sigma[i]) * score[at];
                        sum += ahead[at];
                        CHECK(ahead[at] >= 0.0F);
                        if (ahead[at] > 0.0F) {
                            least = std::min(least, wanted - ahead[at]);
                            most = std::max(most, wanted - ahead[at]);
                        } else {
                            outside = std::max(outside, wanted);
                        }
                        CHECK(std::abs(z[at] - (before[at] + 1.8F * (ahead[at] - before[at]))) < 1e-4F);
                    }
                    const double slip = 1e-6 * static_cast<double>(K + 1) * (1.0 + static_cast<double>(size));
                    CHECK(std::abs(sum - 1.0) < 1e-5 && most - least < slip && outside < most + slip);
                }
            }
    });
}

GAPCUT_TEST(listed_rows_add_up) {
    on_lengths([](std::mt19937& random, std::int64_t n) {
        for (const std::int64_t registers : {1, 2, 3, 5, 6}) {
            const auto width = registers * kernels().floats;
            const auto rows = numbers<float>(random, n * width), weight = numbers<float>(random, n);
            std::vector<std::int32_t> at;
            for (std::int64_t i = 0; i < n; i += 2) at.push_back(static_cast<std::int32_t>(i));
            auto sum = numbers<float>(random, width), sum_ = sum;
            for (const auto i : at)
                for (std::int64_t d = 0; d < width; ++d) sum_[d] += weight[i] * rows[i * width + d];
            kernels().add_listed_rows(std::ssize(at), at.data(), weight.data(), width, rows.data(), sum.data());
            CHECK(near(sum, sum_));
        }
    });
}

}  // namespace gapcut
