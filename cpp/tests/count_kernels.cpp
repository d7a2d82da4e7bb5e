// Fixed work of one kernel, for counting its instructions: gapcut_counts TARGET KERNEL REPEATS. See
// benchmarks/instructions.py.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gapcut/kernels.hpp"

int main(int argc, char** argv) {
    using namespace gapcut;
    if (argc != 4) return 2;
    use_target(argv[1]);
    constexpr std::int64_t n = 512, width = 160, labels = 8;
    std::vector<float> rows(n * width, 0.5F), weights(4 * n, 0.25F), sums(4 * width), lists(labels * (n + 16), 0.5F);
    std::vector<float> m(n, 0.5F), d1(n, 0.5F), d2(n, 0.5F), gain(n, 0.1F), tail(n), head(n), sigma(n, 0.1F);
    std::vector<double> a(n, 0.5), b(n, 0.25), many(n * labels, 0.5);
    std::vector<std::int32_t> at(n);
    for (std::int64_t i = 0; i < n; ++i) at[i] = static_cast<std::int32_t>(i * 7 % 200);
    const float* const four[4] = {weights.data(), weights.data() + n, weights.data() + 2 * n, weights.data() + 3 * n};
    std::vector<float> nodes(200 * labels, 0.5F);
    std::vector<std::int64_t> offsets(n / 8 + 1);
    for (std::int64_t i = 0; i < std::ssize(offsets); ++i) offsets[i] = 8 * i;
    const CompressedRows sparse{offsets.data(), at.data(), a.data()};
    const float* tables[labels * labels];
    for (auto& table : tables) table = m.data();
    std::vector<float> ahead(labels * (n + 16)), scores(ahead), ends(ahead);
    for (std::int64_t k = 0; k < labels; ++k)
        for (std::int64_t i = 0; i < n; ++i) scores[k * (n + 16) + i] = static_cast<float>((k * 3 + i) % 5) - 2.0F;
    const Kernels& k = kernels();
    double kept = 0.0;
    const std::map<std::string, std::function<void()>> work{
        {"add_weighted_rows", [&] { k.add_weighted_rows(n, width, four, rows.data(), sums.data()); }},
        {"scores_of", [&] { k.scores_of(n, k.floats, n, weights.data(), rows.data(), sums.data()); }},
        {"sum_columns", [&] { k.sum_columns(n, 8, at.data(), weights.data(), rows.data(), 100, tail.data()); }},
        {"arc_step",
         [&] {
             kept += k.arc_step(n, {0.4F, 0.3F, 1.8F}, gain.data(), m.data(), gain.data(), sigma.data(), d1.data(),
                                d2.data(), tail.data(), head.data());
         }},
        {"label_step", [&] { kept += k.label_step(n, 1.8F, sigma.data(), gain.data(), m.data(), d1.data()); }},
        {"gather_rows", [&] { k.gather_rows(n, labels, at.data(), 0, nodes.data(), lists.data(), n + 16); }},
        {"scatter_rows", [&] { k.scatter_rows(n, labels, at.data(), 0, lists.data(), n + 16, nodes.data()); }},
        {"dot", [&] { kept += k.dot(a.data(), b.data(), n); }},
        {"add_scaled", [&] { k.add_scaled(a.data(), 1e-9, b.data(), n); }},
        {"add_rows", [&] { k.add_rows(labels, n, b.data(), many.data(), a.data()); }},
        {"add_products", [&] { k.add_products(64, 16, many.data(), 16, 32, many.data() + 1024, 32, a.data(), 32); }},
        {"sparse_sums", [&] { k.sparse_sums(n / 8, 4 * k.floats, sparse, rows.data(), lists.data()); }},
        {"add_sparse_rows", [&] { k.add_sparse_rows(n / 8, 4 * k.floats, sparse, lists.data(), rows.data()); }},
        {"rows_of_lists", [&] { k.rows_of_lists(n, labels, tables, lists.data()); }},
        {"table_sums", [&] { k.table_sums(labels, n, tables, ahead.data(), ends.data(), n + 16); }},
        {"message_step",
         [&] { kept += k.message_step[1](n, 0.4F, 1.8F, m.data(), gain.data(), d1.data(), head.data(), tail.data()); }},
        {"table_step", [&] { kept += k.table_step(n, 0.3F, 1.8F, gain.data(), d1.data(), d2.data(), m.data()); }},
        {"simplex_step",
         [&] {
             kept += k.simplex_step(n, labels, 1.8F, sigma.data(), scores.data(), n + 16, lists.data(), ahead.data(),
                                    n + 16);
         }},
        {"add_listed_rows",
         [&] { k.add_listed_rows(n / 8, at.data(), weights.data(), width, rows.data(), sums.data()); }},
        {"max_plus", [&] { k.max_plus(labels, n, b.data(), many.data(), a.data()); }},
    };
    const auto found = work.find(argv[2]);
    if (found == work.end()) return 2;
    for (int i = 0; i < std::atoi(argv[3]); ++i) found->second();
    std::printf("%g\n", kept);
}
