// The point x = sum b h of a dual over cached planes, with the weights w = clamp(x) that follow it, for two ways to
// keep the rows h: whole, or by their entries only. What PlaneCache asks of a point is the same for both:
//
//     Row, kJoint              how a row is kept; planes of a joint model: about so many are enough to end it
//     row(values)              a row as it is kept, of dim() values
//     slope(row)               h'w
//     move(step, row)          x += step h, and w follows
//     clear(), add(step, row), clamp_weights()   x anew from a sum of rows; w follows at the end
//     gram(rows, out)          inner products over the free coordinates, those that move with x; (m, m)
//     add_direction(step, row), search(ascent)   collects a direction; moves along it by the s in [0, 1] that the exact
//                              line search finds (`ascent`: its derivative at 0), and returns s
#pragma once

#include <cstdint>
#include <vector>

#include "gapcut/planes/box.hpp"

namespace gapcut {

class BoxedPoint {
  public:
    explicit BoxedPoint(Box box);

    std::int64_t dim() const { return box_.dim(); }
    const std::vector<double>& x() const { return x_; }
    const std::vector<double>& weights() const { return weights_; }

    void clear();
    void clamp_weights();

  protected:
    Box box_;
    std::vector<double> x_, weights_;
    std::vector<double> direction_;  // zero between steps
};

class DensePoint : public BoxedPoint {
  public:
    using Row = std::vector<double>;
    static constexpr std::size_t kJoint = 32;

    using BoxedPoint::BoxedPoint;

    Row row(const double* values) const { return {values, values + dim()}; }
    static bool is_zero(const Row& row);
    double slope(const Row& row) const;
    void move(double step, const Row& row);
    void add(double step, const Row& row);
    void gram(const std::vector<const Row*>& rows, std::vector<double>& out);
    void add_direction(double step, const Row& row);
    double search(double ascent);

  private:
    std::vector<double> packed_;  // rows, the free coordinates only
    std::vector<std::int32_t> free_;
};

// For planes with few entries: those of one-hot labelings of small graphs, which touch the weights of few labels.
// Memory and time follow the entries and not the number of weights.
class SparsePoint : public BoxedPoint {
  public:
    struct Row {
        std::vector<std::int32_t> at;  // ascending
        std::vector<double> value;
        bool operator==(const Row&) const = default;
    };
    static constexpr std::size_t kJoint = 8;

    explicit SparsePoint(Box box);

    Row row(const double* values) const;
    static bool is_zero(const Row& row) { return row.at.empty(); }
    double slope(const Row& row) const;
    void move(double step, const Row& row);
    void add(double step, const Row& row);
    void gram(const std::vector<const Row*>& rows, std::vector<double>& out);
    void add_direction(double step, const Row& row);
    double search(double ascent);

  private:
    void follow(std::int32_t j);

    std::vector<double> scattered_;    // zero between uses
    std::vector<std::int32_t> moved_;  // where direction_ may not be zero
    Box part_;                         // of the coordinates moved_
    std::vector<double> part_x_, part_direction_;
};

}  // namespace gapcut
