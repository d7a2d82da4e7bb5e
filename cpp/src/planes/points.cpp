#include "gapcut/planes/points.hpp"

#include <algorithm>

#include "gapcut/linear/vectors.hpp"

namespace gapcut {
namespace {

// sum value[i] w[at[i]], in chains that do not wait for each other: the reads are what takes the time.
double gathered_dot(std::int64_t n, const std::int32_t* __restrict at, const double* __restrict value,
                    const double* __restrict w) {
    constexpr std::int64_t kChains = 8;
    double sum[kChains] = {};
    std::int64_t i = 0;
    for (; i + kChains <= n; i += kChains)
        for (std::int64_t k = 0; k < kChains; ++k) sum[k] += value[i + k] * w[at[i + k]];
    for (; i < n; ++i) sum[0] += value[i] * w[at[i]];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

double dot(const SparsePoint::Row& row, const double* w) {
    return gathered_dot(std::ssize(row.at), row.at.data(), row.value.data(), w);
}

// out += step * row
void scatter(double step, const SparsePoint::Row& row, double* out) {
    for (std::size_t i = 0; i < row.at.size(); ++i) out[row.at[i]] += step * row.value[i];
}

}  // namespace

BoxedPoint::BoxedPoint(Box box) : box_(std::move(box)) {
    box_.check();
    x_.assign(static_cast<std::size_t>(dim()), 0.0);
    weights_.resize(x_.size());
    direction_.assign(x_.size(), 0.0);
    clamp_weights();
}

void BoxedPoint::clear() { std::ranges::fill(x_, 0.0); }

void BoxedPoint::clamp_weights() { clamp(box_, x_.data(), weights_.data()); }

bool DensePoint::is_zero(const Row& row) {
    return std::ranges::all_of(row, [](double v) { return v == 0.0; });
}

double DensePoint::slope(const Row& row) const { return dot(row.data(), weights_.data(), dim()); }

void DensePoint::move(double step, const Row& row) {
    move_and_clamp(box_, x_.data(), step, row.data(), weights_.data());
}

void DensePoint::add(double step, const Row& row) { add_scaled(x_.data(), step, row.data(), dim()); }

void DensePoint::gram(const std::vector<const Row*>& rows, std::vector<double>& out) {
    free_coordinates(box_, x_.data(), free_);
    gram_over(std::ssize(rows), [&](std::int64_t i) { return rows[i]->data(); }, free_, packed_, out);
}

void DensePoint::add_direction(double step, const Row& row) { add_scaled(direction_.data(), step, row.data(), dim()); }

double DensePoint::search(double ascent) {
    const double s = line_search(box_, x_.data(), direction_.data(), ascent, 1.0);
    move(s, direction_);
    std::ranges::fill(direction_, 0.0);
    return s;
}

SparsePoint::SparsePoint(Box box) : BoxedPoint(std::move(box)), scattered_(x_.size(), 0.0) {}

SparsePoint::Row SparsePoint::row(const double* values) const {
    Row out;
    const auto count = static_cast<std::size_t>(dim() - std::count(values, values + dim(), 0.0));
    out.at.reserve(count);
    out.value.reserve(count);
    for (std::int64_t j = 0; j < dim(); ++j)
        if (values[j] != 0.0) {
            out.at.push_back(static_cast<std::int32_t>(j));
            out.value.push_back(values[j]);
        }
    return out;
}

double SparsePoint::slope(const Row& row) const { return dot(row, weights_.data()); }

void SparsePoint::follow(std::int32_t j) { weights_[j] = std::min(std::max(x_[j], box_.lower[j]), box_.upper[j]); }

void SparsePoint::move(double step, const Row& row) {
    scatter(step, row, x_.data());
    for (const auto j : row.at) follow(j);
}

void SparsePoint::add(double step, const Row& row) { scatter(step, row, x_.data()); }

void SparsePoint::gram(const std::vector<const Row*>& rows, std::vector<double>& out) {
    const auto m = std::ssize(rows);
    out.resize(static_cast<std::size_t>(m * m));
    for (std::int64_t i = 0; i < m; ++i) {
        const Row& row = *rows[i];
        for (std::size_t k = 0; k < row.at.size(); ++k) {
            const auto j = row.at[k];
            scattered_[j] = x_[j] > box_.lower[j] && x_[j] < box_.upper[j] ? row.value[k] : 0.0;
        }
        for (std::int64_t k = 0; k <= i; ++k) out[i * m + k] = out[k * m + i] = dot(*rows[k], scattered_.data());
        for (const auto j : row.at) scattered_[j] = 0.0;
    }
}

void SparsePoint::add_direction(double step, const Row& row) {
    scatter(step, row, direction_.data());
    moved_.insert(moved_.end(), row.at.begin(), row.at.end());
}

// The line search sees the coordinates that move only.
double SparsePoint::search(double ascent) {
    part_.lower.clear(), part_.upper.clear(), part_x_.clear(), part_direction_.clear();
    std::size_t kept = 0;
    for (const auto j : moved_) {
        if (direction_[j] == 0.0) continue;  // cancelled, or seen before
        moved_[kept++] = j;
        part_.lower.push_back(box_.lower[j]);
        part_.upper.push_back(box_.upper[j]);
        part_x_.push_back(x_[j]);
        part_direction_.push_back(direction_[j]);
        direction_[j] = 0.0;
    }
    const double s = line_search(part_, part_x_.data(), part_direction_.data(), ascent, 1.0);
    for (std::size_t i = 0; i < kept; ++i) {
        x_[moved_[i]] += s * part_direction_[i];
        follow(moved_[i]);
    }
    moved_.clear();
    return s;
}

}  // namespace gapcut
