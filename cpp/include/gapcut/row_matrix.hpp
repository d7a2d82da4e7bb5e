// A read-only matrix of feature rows, dense or compressed by row.
//
// The storage is chosen by what is in the rows, never by how they were handed over, so a matrix given dense and
// the same matrix given sparse lead to the same sums in the same order, bit for bit. Copies and parts share what they
// hold.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

    // Rows [begin, end), stored as they are here whatever is in them.
    RowMatrix part(std::int64_t begin, std::int64_t end) const;

    std::int64_t rows() const { return rows_; }
    std::int64_t cols() const { return cols_; }
    bool sparse() const { return sparse_; }

    // Calls f(column, value) for the entries of a row in ascending column order; zeros may be skipped.
    template <class F>
    void for_row(std::int64_t row, F&& f) const {
        if (sparse_) {
            for (std::int64_t p = offsets_[row]; p < offsets_[row + 1]; ++p) f(columns_[p], values_[p]);
        } else {
            const double* x = values_ + row * cols_;
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
    const double* dense_row(std::int64_t row) const { return values_ + row * cols_; }

    static constexpr double kSparseBelow = 0.4;

    // What is stored, up to the last row; offsets and columns are empty where !sparse(). Offsets of a part do not begin
    // at 0, but where its entries do.
    std::span<const std::int64_t> offsets() const { return {offsets_, offset_count()}; }
    std::span<const std::int32_t> columns() const { return {columns_, sparse_ ? end() : 0}; }
    std::span<const double> values() const { return {values_, end()}; }
    std::int64_t entries() const { return sparse_ ? offsets_[rows_] - offsets_[0] : rows_ * cols_; }

    // The same from what is stored, offsets from 0 on; no offsets: dense.
    static RowMatrix from_stored(std::int64_t rows, std::int64_t cols, std::vector<std::int64_t> offsets,
                                 std::vector<std::int32_t> columns, std::vector<double> values);

  private:
    friend class RowCollector;

    static constexpr std::int64_t kShort = 12;  // columns; a call costs more than these

    struct Stored {
        std::vector<double> values;
        std::vector<std::int32_t> columns;
        std::vector<std::int64_t> offsets;
    };

    RowMatrix(std::int64_t rows, std::int64_t cols, bool sparse, Stored stored);
    static RowMatrix compressed(std::int64_t rows, std::int64_t cols, const double* values, std::int64_t nonzero);
    void add_long_row(std::int64_t row, double factor, double* out) const;
    std::size_t offset_count() const { return sparse_ ? static_cast<std::size_t>(rows_) + 1 : 0; }
    std::size_t end() const { return static_cast<std::size_t>(sparse_ ? offsets_[rows_] : rows_ * cols_); }

    std::int64_t rows_ = 0, cols_ = 0;
    bool sparse_ = false;
    std::shared_ptr<const Stored> stored_;
    const double* values_ = nullptr;  // of the first row where dense, of all that is stored where sparse
    const std::int32_t* columns_ = nullptr;
    const std::int64_t* offsets_ = nullptr;  // of the first row
};

// Dense rows that come a few at a time, so that they are in memory once: the matrix takes over what was collected.
class RowCollector {
  public:
    // Room for so many rows is set aside; there may be fewer or more.
    RowCollector(std::int64_t rows, std::int64_t cols);

    std::int64_t cols() const { return cols_; }
    void add(std::int64_t rows, const double* values);
    RowMatrix finish();  // RowMatrix::from_dense of all rows; none is left here

  private:
    std::int64_t cols_, rows_ = 0;
    std::vector<double> values_;
};

}  // namespace gapcut
