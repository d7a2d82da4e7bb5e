#include "gapcut/row_matrix.hpp"

#include "gapcut/kernels.hpp"

namespace gapcut {
namespace {

bool worth_compressing(std::int64_t nonzero, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(nonzero) <
           RowMatrix::kSparseBelow * static_cast<double>(rows) * static_cast<double>(cols);
}

}  // namespace

RowMatrix RowMatrix::from_dense(std::int64_t rows, std::int64_t cols, const double* values) {
    RowMatrix m;
    m.rows_ = rows;
    m.cols_ = cols;
    std::int64_t nonzero = 0;
    for (std::int64_t p = 0; p < rows * cols; ++p) nonzero += values[p] != 0.0;
    m.sparse_ = worth_compressing(nonzero, rows, cols);
    if (!m.sparse_) {
        m.values_.assign(values, values + rows * cols);
        return m;
    }
    m.values_.reserve(static_cast<std::size_t>(nonzero));
    m.columns_.reserve(static_cast<std::size_t>(nonzero));
    m.offsets_.assign(1, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const double x = values[r * cols + c];
            if (x == 0.0) continue;
            m.columns_.push_back(static_cast<std::int32_t>(c));
            m.values_.push_back(x);
        }
        m.offsets_.push_back(static_cast<std::int64_t>(m.values_.size()));
    }
    return m;
}

RowMatrix RowMatrix::from_csr(std::int64_t rows, std::int64_t cols, const std::int64_t* offsets,
                              const std::int32_t* columns, const double* values) {
    RowMatrix m;
    m.rows_ = rows;
    m.cols_ = cols;
    std::int64_t nonzero = 0;
    for (std::int64_t p = 0; p < offsets[rows]; ++p) nonzero += values[p] != 0.0;
    m.sparse_ = worth_compressing(nonzero, rows, cols);
    if (!m.sparse_) {
        m.values_.assign(static_cast<std::size_t>(rows * cols), 0.0);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t p = offsets[r]; p < offsets[r + 1]; ++p) m.values_[r * cols + columns[p]] = values[p];
        return m;
    }
    m.offsets_.assign(1, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t p = offsets[r]; p < offsets[r + 1]; ++p) {
            if (values[p] == 0.0) continue;
            m.columns_.push_back(columns[p]);
            m.values_.push_back(values[p]);
        }
        m.offsets_.push_back(static_cast<std::int64_t>(m.values_.size()));
    }
    return m;
}

void RowMatrix::add_long_row(std::int64_t row, double factor, double* out) const {
    if (sparse_)
        for (std::int64_t p = offsets_[row]; p < offsets_[row + 1]; ++p) out[columns_[p]] += factor * values_[p];
    else
        kernels().add_scaled(out, factor, dense_row(row), cols_);
}

}  // namespace gapcut
