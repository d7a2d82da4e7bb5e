#include "gapcut/infer/tables.hpp"

#include "gapcut/kernels.hpp"

namespace gapcut::infer {
namespace {

// Weights of one feature column over all outputs; dense when most are there, otherwise a list.
struct Column {
    std::vector<double> dense;
    std::vector<std::int32_t> where;
    std::vector<double> value;
};

constexpr double kDenseAbove = 0.25;

// weights (outputs, dim) row-major into one Column a feature.
std::vector<Column> columns(std::int64_t outputs, std::int64_t dim, const double* weights) {
    std::vector<Column> all(static_cast<std::size_t>(dim));
    for (std::int64_t d = 0; d < dim; ++d) {
        Column& c = all[static_cast<std::size_t>(d)];
        for (std::int64_t o = 0; o < outputs; ++o)
            if (const double w = weights[o * dim + d]; w != 0.0) {
                c.where.push_back(static_cast<std::int32_t>(o));
                c.value.push_back(w);
            }
        if (static_cast<double>(c.where.size()) < kDenseAbove * static_cast<double>(outputs)) continue;
        c.dense.assign(static_cast<std::size_t>(outputs), 0.0);
        for (std::size_t i = 0; i < c.where.size(); ++i) c.dense[static_cast<std::size_t>(c.where[i])] = c.value[i];
    }
    return all;
}

// (rows, outputs): -features * weights'.
std::vector<double> negative_product(const RowMatrix& features, std::int64_t outputs, const double* weights) {
    const std::vector<Column> all = columns(outputs, features.cols(), weights);
    std::vector<double> out(static_cast<std::size_t>(features.rows() * outputs), 0.0);
    for (std::int64_t r = 0; r < features.rows(); ++r) {
        double* row = out.data() + r * outputs;
        features.for_row(r, [&](std::int32_t d, double x) {
            const Column& c = all[static_cast<std::size_t>(d)];
            if (!c.dense.empty()) {
                kernels().add_scaled(row, -x, c.dense.data(), outputs);
            } else {
                for (std::size_t i = 0; i < c.where.size(); ++i) row[c.where[i]] -= x * c.value[i];
            }
        });
    }
    return out;
}

}  // namespace

std::vector<double> unary_tables(const RowMatrix& nodes, std::int64_t n_labels, const double* weights) {
    return negative_product(nodes, n_labels, weights);
}

std::vector<double> pairwise_tables(const RowMatrix& edges, std::int64_t n_labels, const double* weights) {
    return negative_product(edges, n_labels * n_labels, weights);
}

}  // namespace gapcut::infer
