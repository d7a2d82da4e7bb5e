// Every kernel of every target that this machine has, against plain loops.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gapcut/learn/repair.hpp"
#include "gapcut/learn/repair_kernels.hpp"
#include "kernel_numbers.hpp"

namespace gapcut {

using namespace testing;

namespace {

const std::int64_t kLengths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 67, 140};

}  // namespace

GAPCUT_TEST(unknown_targets_are_named) {
    std::string said;
    try {
        use_target("v9");
    } catch (const std::invalid_argument& error) {
        said = error.what();
    }
    CHECK(said.find("v9") != std::string::npos && said.find("baseline") != std::string::npos);
}

GAPCUT_TEST(vectors_of_doubles) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths) {
            const auto a = numbers<double>(random, n), b = numbers<double>(random, n);
            double sum = 0.0;
            for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
            CHECK(near(kernels().dot(a.data(), b.data(), n), sum));
            auto y = b, expected = b;
            for (std::int64_t i = 0; i < n; ++i) expected[i] += 0.3 * a[i];
            kernels().add_scaled(y.data(), 0.3, a.data(), n);
            CHECK(near(y, expected));
            const auto rows = numbers<double>(random, 5 * n), x = numbers<double>(random, 5);
            auto most = std::vector<double>(static_cast<std::size_t>(n), -1e9);
            auto out = b;
            expected = b;
            for (int d = 0; d < 5; ++d)
                for (std::int64_t k = 0; k < n; ++k) {
                    expected[k] += x[d] * rows[d * n + k];
                    most[k] = std::max(most[k], x[d] + rows[d * n + k]);
                }
            kernels().add_rows(5, n, x.data(), rows.data(), out.data());
            CHECK(near(out, expected));
            kernels().max_plus(5, n, x.data(), rows.data(), out.data());
            CHECK(out == most);
        }
    });
}

GAPCUT_TEST(ranks_of_doubles) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths) {
            auto x = numbers<double>(random, n + kernels().tile);
            if (n > 3) x[1] = x[3];  // equal ones have one rank
            std::vector<double> rank(x.size());
            kernels().ranks(n, x.data(), rank.data());
            for (std::int64_t i = 0; i < n; ++i)
                CHECK(rank[i] == static_cast<double>(std::count_if(x.begin(), x.begin() + n,
                                                                   [&](double other) { return other < x[i]; })));
        }
    });
}

GAPCUT_TEST(vectors_in_a_box) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths) {
            const auto lower = numbers<double>(random, n, -0.5, 0.0), upper = numbers<double>(random, n, 0.0, 0.5);
            const auto start = numbers<double>(random, n), y = numbers<double>(random, n);
            auto x = start, w = start, moved = start, clamped = start;
            double value = 0.0, curvature = 0.0, found_value = 0.0, found_curvature = 0.0;
            for (std::int64_t i = 0; i < n; ++i) {
                moved[i] += 0.7 * y[i];
                clamped[i] = std::clamp(moved[i], lower[i], upper[i]);
                value += (clamped[i] - std::clamp(start[i], lower[i], upper[i])) * y[i];
                if (moved[i] > lower[i] && moved[i] < upper[i]) curvature += y[i] * y[i];
            }
            kernels().box_slope(n, lower.data(), upper.data(), x.data(), y.data(), 0.7, &found_value, &found_curvature);
            CHECK(near(found_value, value) && near(found_curvature, curvature));
            kernels().move_and_clamp(n, lower.data(), upper.data(), 0.7, y.data(), x.data(), w.data());
            CHECK(near(x, moved) && near(w, clamped));
            kernels().clamp(n, lower.data(), upper.data(), x.data(), clamped.data());
            CHECK(w == clamped);
        }
    });
}

GAPCUT_TEST(steps_of_arcs_and_labels) {
    const auto unit = [](float x) { return std::clamp(x, 0.0F, 1.0F); };
    on_every_target([&](std::mt19937& random) {
        for (const auto n : kLengths) {
            const ArcSteps steps{0.4F, 0.3F, 1.8F};
            const auto gain = numbers<float>(random, n), zt = numbers<float>(random, n, 0, 1);
            const auto zh = numbers<float>(random, n, 0, 1), start = numbers<float>(random, n, 0, 1);
            auto m = start, d1 = zt, d2 = zh, tail = gain, head = gain;
            auto m_ = m, d1_ = d1, d2_ = d2, tail_ = tail, head_ = head;
            float change = 0.0F;
            for (std::int64_t i = 0; i < n; ++i) {
                const float a = std::max(0.0F, d1_[i] - 0.4F * (zt[i] - m_[i])) - d1_[i];
                const float b = std::max(0.0F, d2_[i] - 0.4F * (zh[i] - m_[i])) - d2_[i];
                const float c = unit(m_[i] + 0.3F * (gain[i] - d1_[i] - 2 * a - d2_[i] - 2 * b)) - m_[i];
                tail_[i] += d1_[i] + 2 * a;
                head_[i] += d2_[i] + 2 * b;
                d1_[i] = std::max(0.0F, d1_[i] + 1.8F * a);
                d2_[i] = std::max(0.0F, d2_[i] + 1.8F * b);
                m_[i] = unit(m_[i] + 1.8F * c);
                change += (a * a + b * b) / 0.4F + c * c / 0.3F;
            }
            const float found = kernels().arc_step(n, steps, gain.data(), zt.data(), zh.data(), m.data(), d1.data(),
                                                   d2.data(), tail.data(), head.data());
            CHECK(near(m, m_) && near(d1, d1_) && near(d2, d2_) && near(tail, tail_) && near(head, head_));
            CHECK(near(found, change, 1e-4));
            const auto sigma = numbers<float>(random, n, 0.1, 1.0);
            auto z = start, ahead = start, z_ = start, ahead_ = start;
            change = 0.0F;
            for (std::int64_t i = 0; i < n; ++i) {
                ahead_[i] = unit(z_[i] + sigma[i] * gain[i]);
                const float step = ahead_[i] - z_[i];
                z_[i] = unit(z_[i] + 1.8F * step);
                change += step * step / sigma[i];
            }
            CHECK(near(kernels().label_step(n, 1.8F, sigma.data(), gain.data(), z.data(), ahead.data()), change, 1e-4));
            CHECK(near(z, z_) && near(ahead, ahead_));
            auto low = z, low_ = z;
            for (std::int64_t i = 0; i < n; ++i) low_[i] = std::min(zt[i], zh[i]);
            CHECK(kernels().least(n, zt.data(), zh.data(), low.data()) && low == low_);
            const std::vector<float> zeros(static_cast<std::size_t>(n));
            CHECK(!kernels().least(n, zeros.data(), zh.data(), low.data()));
            float square = 0.0F;
            for (const float x : gain) square += x * x;
            CHECK(near(kernels().square(n, gain.data()), square, 1e-5));
        }
    });
}

GAPCUT_TEST(rows_of_nodes_and_lists_of_labels) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths)
            for (const std::int64_t width : {4, 8, 28}) {
                const std::int64_t stride = n + 3;
                std::vector<std::int32_t> at;
                for (std::int64_t i = 0; i < n; ++i) at.push_back(static_cast<std::int32_t>(5 + random() % 7));
                const auto rows = numbers<float>(random, 7 * width), list = numbers<float>(random, width * stride);
                auto gathered = list, gathered_ = list, sums = rows, sums_ = rows, turned = list, turned_ = list;
                std::vector<double> doubles(rows.begin(), rows.end()), doubles_(doubles);
                const std::vector<double> double_list(list.begin(), list.end());
                const auto many = numbers<float>(random, n * width);
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t k = 0; k < width; ++k) {
                        gathered_[k * stride + i] = rows[(at[i] - 5) * width + k];
                        sums_[(at[i] - 5) * width + k] += list[k * stride + i];
                        doubles_[(at[i] - 5) * width + k] += double_list[k * stride + i];
                        turned_[k * stride + i] += many[i * width + k];
                    }
                kernels().gather_rows(n, width, at.data(), 5, rows.data(), gathered.data(), stride);
                kernels().scatter_rows(n, width, at.data(), 5, list.data(), stride, sums.data());
                kernels().scatter_double_rows(n, width, at.data(), 5, double_list.data(), stride, doubles.data());
                kernels().add_transposed(n, width, many.data(), turned.data(), stride);
                CHECK(gathered == gathered_ && sums == sums_ && doubles == doubles_ && turned == turned_);
            }
    });
}

GAPCUT_TEST(sums_of_rows_and_columns) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths)
            for (const std::int64_t blocks : {1, 2, 3, 5}) {
                const auto width = blocks * kernels().floats;
                const auto rows = numbers<float>(random, n * width), weights = numbers<float>(random, 4 * n);
                std::vector<float> sum(static_cast<std::size_t>(4 * width), 0.5F), sum_(sum), scores(sum), scores_(sum);
                const float* four[4];
                for (std::int64_t j = 0; j < 4; ++j) four[j] = weights.data() + j * n;
                std::fill(scores_.begin(), scores_.end(), 0.0F);
                for (std::int64_t j = 0; j < 4; ++j)
                    for (std::int64_t i = 0; i < n; ++i)
                        for (std::int64_t d = 0; d < width; ++d) {
                            sum_[j * width + d] += four[j][i] * rows[i * width + d];
                            scores_[j * width + d] += weights[j * n + i] * rows[i * width + d];
                        }
                kernels().add_weighted_rows(n, width, four, rows.data(), sum.data());
                kernels().scores_of(n, width, n, weights.data(), rows.data(), scores.data());
                CHECK(near(sum, sum_) && near(scores, scores_));
                const std::vector<std::int32_t> feature{2, 0, 3};
                const auto columns = numbers<float>(random, 4 * (n + 1)), weight = numbers<float>(random, 3);
                std::vector<float> out(static_cast<std::size_t>(n)), out_(out);
                for (int q = 0; q < 3; ++q)
                    for (std::int64_t i = 0; i < n; ++i) out_[i] += weight[q] * columns[feature[q] * (n + 1) + i];
                kernels().sum_columns(n, 3, feature.data(), weight.data(), columns.data(), n + 1, out.data());
                CHECK(near(out, out_));
            }
    });
}

GAPCUT_TEST(sparse_rows_meet_lists_side_by_side) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths)
            for (const std::int64_t registers : {1, 2, 3, 4}) {
                constexpr std::int64_t columns = 5;
                const auto width = registers * kernels().floats;
                std::vector<std::int64_t> offsets{0};
                std::vector<std::int32_t> at;
                for (std::int64_t i = 0; i < n; ++i) {
                    for (std::int32_t c = 0; c < columns; ++c)
                        if (random() % 3 == 0) at.push_back(c);
                    offsets.push_back(std::ssize(at));
                }
                const auto values = numbers<double>(random, std::ssize(at) + 1);
                const auto weights = numbers<float>(random, columns * width), list = numbers<float>(random, width * n);
                auto out = numbers<float>(random, n * width), sums = weights, sums_ = sums, rows = out, rows_ = rows;
                std::vector<float> out_(out.size(), 0.0F);
                std::vector<const float*> lists;
                for (std::int64_t k = 0; k < width; ++k) lists.push_back(list.data() + k * n);
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t k = 0; k < width; ++k) {
                        rows_[i * width + k] = lists[k][i];
                        for (auto p = offsets[i]; p < offsets[i + 1]; ++p) {
                            out_[i * width + k] += static_cast<float>(values[p]) * weights[at[p] * width + k];
                            sums_[at[p] * width + k] += static_cast<float>(values[p]) * lists[k][i];
                        }
                    }
                const CompressedRows x{offsets.data(), at.data(), values.data()};
                kernels().sparse_sums(n, width, x, weights.data(), out.data());
                kernels().rows_of_lists(n, width, lists.data(), rows.data());
                kernels().add_sparse_rows(n, width, x, rows.data(), sums.data());
                CHECK(near(out, out_) && rows == rows_ && near(sums, sums_));
            }
    });
}

GAPCUT_TEST(products_of_matrices) {
    on_every_target([](std::mt19937& random) {
        for (const auto n : kLengths)
            for (const std::int64_t tiles : {1, 3}) {
                const auto tile = kernels().tile, left_width = tile, right_width = tiles * tile;
                const auto left_stride = left_width + 3, right_stride = right_width + 1, stride = right_width + 2;
                const auto left = numbers<double>(random, n * left_stride + 1);
                const auto right = numbers<double>(random, n * right_stride + 1);
                std::vector<double> sum(static_cast<std::size_t>(left_width * stride), 0.5), sum_(sum);
                for (std::int64_t r = 0; r < n; ++r)
                    for (std::int64_t i = 0; i < left_width; ++i)
                        for (std::int64_t j = 0; j < right_width; ++j)
                            sum_[i * stride + j] += left[r * left_stride + i] * right[r * right_stride + j];
                kernels().add_products(n, left_width, left.data(), left_stride, right_width, right.data(), right_stride,
                                       sum.data(), stride);
                CHECK(near(sum, sum_));
            }
    });
}

GAPCUT_TEST(sums_of_moving_arcs) {
    on_every_target([](std::mt19937& random) {
        for (const std::int64_t De : {1, 3, 8, 19, 40})
            for (const std::int64_t K : {2, 5, 11}) {
                const std::vector<RepairArc> arcs{{0, 1, true}, {2, 2, false}, {1, 0, true}};
                const auto features = numbers<double>(random, 3 * De);
                auto z = numbers<double>(random, 3 * K, 0.0, 1.0);
                const double here = z[0] = 0.5;
                const repair::Blocks blocks{K, De, 0};
                for (const bool up : {false, true}) {
                    std::vector<double> sums(static_cast<std::size_t>(2 * K * De)), counts(2 * K);
                    std::vector<double> scratch(static_cast<std::size_t>(blocks.scratch(3)));
                    auto sums_ = sums, counts_ = counts;
                    RepairLevels expected;
                    for (const RepairArc& arc : arcs)
                        for (std::int64_t l = 0; l < K; ++l) {
                            const double there = z[arc.other * K + l];
                            if (there > here) expected.above = std::min(expected.above, there);
                            if (there < here) expected.below = std::max(expected.below, there);
                            expected.equal |= there == here;
                            if (up ? there <= here : there < here) continue;
                            const auto row = arc.tail ? l : K + l;
                            counts_[row] += 1.0;
                            for (std::int64_t d = 0; d < De; ++d) sums_[row * De + d] += features[arc.edge * De + d];
                        }
                    const auto levels = kernels().sum_arcs[up](arcs, blocks, features.data(), z.data(), here,
                                                               scratch.data(), {sums.data(), counts.data()});
                    CHECK(near(sums, sums_) && counts == counts_);
                    CHECK(levels.above == expected.above && levels.below == expected.below);
                    CHECK(levels.equal == expected.equal);
                    const auto raw = numbers<double>(random, 2 * K * K * De),
                               lower = numbers<double>(random, 2 * K * K * De);
                    auto w = raw;
                    auto raw_ = raw;
                    const std::vector<double> free(raw.size(), 1.0), upper(raw.size(), 2.0);
                    const repair::Weights weights{raw_.data(), w.data(), lower.data(), upper.data(), free.data()};
                    double slope = 0.0, bend = 0.0, slope_ = 0.0, bend_ = 0.0;
                    for (std::int64_t row = 0; row < 2 * K; ++row)
                        for (std::int64_t d = 0; d < De && counts_[row] != 0.0; ++d) {
                            const auto at = blocks.at(row, 1) + d;
                            const double x = sums_[row * De + d];
                            slope_ += raw[at] * x;
                            if (!up || raw[at] > lower[at]) bend_ += x * x;
                        }
                    kernels().add_slope[up](blocks, 1, {sums.data(), counts.data()}, weights, slope, bend);
                    CHECK(near(slope, slope_) && near(bend, bend_));
                    kernels().shift(De, 0, 0.3, sums.data(), weights);
                    for (std::int64_t d = 0; d < De; ++d)
                        CHECK(near(raw_[d], raw[d] - 0.3 * sums[d]) && w[d] == std::clamp(raw_[d], lower[d], 2.0));
                }
            }
    });
}

}  // namespace gapcut
