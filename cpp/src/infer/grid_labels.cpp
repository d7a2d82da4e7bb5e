// Labelings of grids: their energies, and the better parts of two.
#include <algorithm>
#include <cmath>

#include "gapcut/infer/grid.hpp"

namespace gapcut::infer {
namespace {

constexpr double kRounding = 1e-12;  // of the magnitudes: smaller changes may be none

// The pixels that differ in two labelings, region by region.
class Regions {
  public:
    Regions(const GridView& grid, std::vector<std::int32_t>& labels, std::vector<std::int32_t>& other)
        : grid_(grid), labels_(labels), other_(other) {}

    // Takes the other labels of the region around pixel `first` over if that is better. Then both agree there.
    void decide(std::int64_t first) {
        region_.clear();
        change_ = size_ = 0.0;
        reach(first);
        for (std::size_t i = 0; i < region_.size(); ++i) weigh(region_[i]);
        const bool better = change_ < -kRounding * size_;
        for (const std::int64_t i : region_) {
            if (better) labels_[i] = ~other_[i];
            other_[i] = labels_[i];
        }
    }

  private:
    // Labels of pixels reached are kept as complements, which are negative.
    void reach(std::int64_t i) {
        if (other_[i] < 0 || other_[i] == labels_[i]) return;
        other_[i] = ~other_[i];
        region_.push_back(i);
    }

    // Counts a pixel and its edges; those inside of the region at their left or upper pixel.
    void weigh(std::int64_t i) {
        const std::int64_t row = i / grid_.width, column = i % grid_.width;
        add(grid_.unary_of(i)[labels_[i]], grid_.unary_of(i)[~other_[i]]);
        const auto edge = [&](bool there, std::int64_t from, std::int64_t to, auto&& cost) {
            if (!there) return;
            reach(from), reach(to);
            if (from == i || other_[from] >= 0) add(cost(labels_[from], labels_[to]), cost(next(from), next(to)));
        };
        const auto across = [&](std::int64_t c) {
            return [this, row, c](std::int32_t k, std::int32_t l) { return grid_.pair_right(row, c, k, l); };
        };
        const auto below = [&](std::int64_t r) {
            return [this, r, column](std::int32_t k, std::int32_t l) { return grid_.pair_down(r, column, k, l); };
        };
        edge(column > 0, i - 1, i, across(column - 1));
        edge(column + 1 < grid_.width, i, i + 1, across(column));
        edge(row > 0, i - grid_.width, i, below(row - 1));
        edge(row + 1 < grid_.height, i, i + grid_.width, below(row));
    }

    std::int32_t next(std::int64_t i) const { return other_[i] < 0 ? ~other_[i] : labels_[i]; }

    void add(double before, double after) {
        change_ += after - before;
        size_ += std::abs(before) + std::abs(after);
    }

    const GridView& grid_;
    std::vector<std::int32_t>&labels_, &other_;
    std::vector<std::int64_t> region_;
    double change_ = 0.0, size_ = 0.0;
};

}  // namespace

void take_better_regions(const GridView& grid, std::vector<std::int32_t>& labels, std::vector<std::int32_t> other) {
    Regions regions(grid, labels, other);
    for (std::int64_t i = 0; i < grid.height * grid.width; ++i)
        if (other[i] != labels[i]) regions.decide(i);
}

std::vector<double> grid_terms(const GridView& grid, const std::vector<std::int32_t>& labels) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(3 * grid.height * grid.width));
    for (std::int64_t i = 0; i < grid.height * grid.width; ++i) out.push_back(grid.unary_of(i)[labels[i]]);
    for (std::int64_t row = 0, i = 0; row < grid.height; ++row, ++i)
        for (std::int64_t column = 0; column + 1 < grid.width; ++column, ++i)
            out.push_back(grid.pair_right(row, column, labels[i], labels[i + 1]));
    for (std::int64_t row = 0, i = 0; row + 1 < grid.height; ++row)
        for (std::int64_t column = 0; column < grid.width; ++column, ++i)
            out.push_back(grid.pair_down(row, column, labels[i], labels[i + grid.width]));
    return out;
}

double grid_independent_bound(const GridView& grid) {
    LowerSum sum;
    for (std::int64_t i = 0; i < grid.height * grid.width; ++i)
        sum.add(*std::min_element(grid.unary_of(i), grid.unary_of(i) + grid.labels));
    return sum.value();
}

std::vector<std::int32_t> grid_unary_labels(const GridView& grid) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(grid.height * grid.width));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double* u = grid.unary_of(static_cast<std::int64_t>(i));
        out[i] = static_cast<std::int32_t>(std::min_element(u, u + grid.labels) - u);
    }
    return out;
}

double grid_energy(const GridView& grid, const std::vector<std::int32_t>& labels) {
    double sum = 0.0;
    for (std::int64_t row = 0; row < grid.height; ++row) {
        double part = 0.0;
        for (std::int64_t column = 0; column < grid.width; ++column) {
            const std::int64_t i = row * grid.width + column;
            const std::int32_t k = labels[i];
            part += grid.unary_of(i)[k];
            if (column + 1 < grid.width) part += grid.pair_right(row, column, k, labels[i + 1]);
            if (row + 1 < grid.height) part += grid.pair_down(row, column, k, labels[i + grid.width]);
        }
        sum += part;
    }
    return sum;
}

}  // namespace gapcut::infer
