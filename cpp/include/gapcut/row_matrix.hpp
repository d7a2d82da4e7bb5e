// A read-only matrix of feature rows, dense or compressed by row.
//
// The storage is chosen by what is in the rows, never by how they were handed over, so a matrix given dense and
// the same matrix given sparse lead to the same sums in the same order, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

namespace gapcut {

class RowMatrix {
  public:
    RowMatrix() = default;

    // Dense rows, row-major, rows * cols values. Kept dense unless fewer than kSparseBelow of them are non-zero.
    static RowMatrix from_dense(std::int64_t rows, std::int64_t cols, const double* values);

    // Compressed rows: offsets has rows + 1 entries; columns of a row ascend and do not repeat.
    static RowMatrix from_csr(std::int64_t rows, std::int64_t cols, const std::int64_t* offsets,
                              const std::int32_t* columns, const double* values);

    std::int64_t rows() const { return rows_; }
    std::int64_t cols() const { return cols_; }
    bool sparse() const { return sparse_; }

    // Calls f(column, value) for the entries of a row in ascending column order; zeros may be skipped.
    template <class F>
    void for_row(std::int64_t row, F&& f) const {
        if (sparse_) {
            for (std::int64_t p = offsets_[row]; p < offsets_[row + 1]; ++p) f(columns_[p], values_[p]);
        } else {
            const double* x = values_.data() + row * cols_;
            for (std::int64_t c = 0; c < cols_; ++c)
                if (x[c] != 0.0) f(static_cast<std::int32_t>(c), x[c]);
        }
    }

    // out[c] += factor * value for all columns.
    void add_row(std::int64_t row, double factor, double* out) const {
        if (sparse_ || cols_ >= kShort) {
            add_long_row(row, factor, out);
            return;
        }
        const double* x = dense_row(row);
        for (std::int64_t c = 0; c < cols_; ++c) out[c] += factor * x[c];
    }

    // Only where !sparse(): the row's cols() values.
    const double* dense_row(std::int64_t row) const { return values_.data() + row * cols_; }

    static constexpr double kSparseBelow = 0.4;

    // All that is stored; offsets and columns are empty where !sparse().
    const std::vector<std::int64_t>& offsets() const { return offsets_; }
    const std::vector<std::int32_t>& columns() const { return columns_; }
    const std::vector<double>& values() const { return values_; }

  private:
    static constexpr std::int64_t kShort = 12;  // columns; a call costs more than these

    void add_long_row(std::int64_t row, double factor, double* out) const;

    std::int64_t rows_ = 0, cols_ = 0;
    bool sparse_ = false;
    std::vector<double> values_;
    std::vector<std::int32_t> columns_;
    std::vector<std::int64_t> offsets_;
};

}  // namespace gapcut
