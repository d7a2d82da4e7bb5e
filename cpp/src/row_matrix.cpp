#include "gapcut/row_matrix.hpp"

#include <utility>

#include "gapcut/kernels.hpp"

namespace gapcut {
namespace {

bool worth_compressing(std::int64_t nonzero, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(nonzero) <
           RowMatrix::kSparseBelow * static_cast<double>(rows) * static_cast<double>(cols);
}

std::int64_t count_nonzero(const double* values, std::int64_t count) {
    std::int64_t nonzero = 0;
    for (std::int64_t p = 0; p < count; ++p) nonzero += values[p] != 0.0;
    return nonzero;
}

}  // namespace

RowMatrix::RowMatrix(std::int64_t rows, std::int64_t cols, bool sparse, Stored stored)
    : rows_(rows), cols_(cols), sparse_(sparse), stored_(std::make_shared<const Stored>(std::move(stored))),
      values_(stored_->values.data()), columns_(stored_->columns.data()), offsets_(stored_->offsets.data()) {}

RowMatrix RowMatrix::from_dense(std::int64_t rows, std::int64_t cols, const double* values) {
    const auto nonzero = count_nonzero(values, rows * cols);
    if (worth_compressing(nonzero, rows, cols)) return compressed(rows, cols, values, nonzero);
    Stored all;
    all.values.assign(values, values + rows * cols);
    return {rows, cols, false, std::move(all)};
}

RowMatrix RowMatrix::compressed(std::int64_t rows, std::int64_t cols, const double* values, std::int64_t nonzero) {
    Stored all;
    all.values.reserve(static_cast<std::size_t>(nonzero));
    all.columns.reserve(static_cast<std::size_t>(nonzero));
    all.offsets.assign(1, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const double x = values[r * cols + c];
            if (x == 0.0) continue;
            all.columns.push_back(static_cast<std::int32_t>(c));
            all.values.push_back(x);
        }
        all.offsets.push_back(std::ssize(all.values));
    }
    return {rows, cols, true, std::move(all)};
}

RowMatrix RowMatrix::from_csr(std::int64_t rows, std::int64_t cols, const std::int64_t* offsets,
                              const std::int32_t* columns, const double* values) {
    Stored all;
    const auto nonzero = count_nonzero(values, offsets[rows]);
    if (!worth_compressing(nonzero, rows, cols)) {
        all.values.assign(static_cast<std::size_t>(rows * cols), 0.0);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t p = offsets[r]; p < offsets[r + 1]; ++p) all.values[r * cols + columns[p]] = values[p];
        return {rows, cols, false, std::move(all)};
    }
    all.offsets.assign(1, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t p = offsets[r]; p < offsets[r + 1]; ++p) {
            if (values[p] == 0.0) continue;
            all.columns.push_back(columns[p]);
            all.values.push_back(values[p]);
        }
        all.offsets.push_back(std::ssize(all.values));
    }
    return {rows, cols, true, std::move(all)};
}

RowMatrix RowMatrix::from_stored(std::int64_t rows, std::int64_t cols, std::vector<std::int64_t> offsets,
                                 std::vector<std::int32_t> columns, std::vector<double> values) {
    const bool sparse = !offsets.empty();
    return {rows, cols, sparse, {std::move(values), std::move(columns), std::move(offsets)}};
}

RowMatrix RowMatrix::part(std::int64_t begin, std::int64_t end) const {
    RowMatrix rows = *this;
    rows.rows_ = end - begin;
    if (sparse_)
        rows.offsets_ += begin;
    else
        rows.values_ += begin * cols_;
    return rows;
}

void RowMatrix::add_long_row(std::int64_t row, double factor, double* out) const {
    if (sparse_)
        for (std::int64_t p = offsets_[row]; p < offsets_[row + 1]; ++p) out[columns_[p]] += factor * values_[p];
    else
        kernels().add_scaled(out, factor, dense_row(row), cols_);
}

RowCollector::RowCollector(std::int64_t rows, std::int64_t cols) : cols_(cols) {
    values_.reserve(static_cast<std::size_t>(rows * cols));
}

void RowCollector::add(std::int64_t rows, const double* values) {
    values_.insert(values_.end(), values, values + rows * cols_);
    rows_ += rows;
}

RowMatrix RowCollector::finish() {
    auto values = std::exchange(values_, {});
    const auto rows = std::exchange(rows_, 0);
    const auto nonzero = count_nonzero(values.data(), rows * cols_);
    if (worth_compressing(nonzero, rows, cols_)) return RowMatrix::compressed(rows, cols_, values.data(), nonzero);
    return {rows, cols_, false, {std::move(values), {}, {}}};
}

}  // namespace gapcut
