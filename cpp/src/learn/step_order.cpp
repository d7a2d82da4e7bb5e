#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "gapcut/learn/step_shard.hpp"

namespace gapcut {
namespace {

// Takes numbers one run after the other.
class Reader {
  public:
    explicit Reader(std::span<const double> numbers) : left_(numbers) {}

    std::span<const double> take(std::int64_t count) {
        const auto n = static_cast<std::size_t>(count);
        if (left_.size() < n) throw std::invalid_argument("the numbers are of another problem");
        const auto taken = left_.first(n);
        left_ = left_.subspan(n);
        return taken;
    }
    double one() { return take(1)[0]; }
    void end() const {
        if (!left_.empty()) throw std::invalid_argument("the numbers are of another problem");
    }

  private:
    std::span<const double> left_;
};

std::vector<double> copied(std::span<const double> numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<double> joined(std::initializer_list<std::span<const double>> parts) {
    std::vector<double> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

std::vector<double> StepOrder::packed(std::int64_t labels) const {
    std::vector<double> flags(static_cast<std::size_t>(labels * labels), 0.0);
    for (const auto pair : active) flags[static_cast<std::size_t>(pair)] = 1.0;
    const double others[] = {label_sigma, damping, arc_tau, arc_sigma, inactive ? 1.0 : 0.0};
    return joined({weights, flags, kappa, others});
}

StepOrder StepOrder::unpacked(const Problem& p, std::span<const double> numbers) {
    Reader reader(numbers);
    StepOrder order;
    order.weights = copied(reader.take(p.full_dim()));
    const auto flags = reader.take(p.n_labels * p.n_labels);
    for (std::int32_t pair = 0; pair < std::ssize(flags); ++pair)
        if (flags[static_cast<std::size_t>(pair)] != 0.0) order.active.push_back(pair);
    order.kappa = copied(reader.take(p.n_labels));
    order.label_sigma = reader.one();
    order.damping = reader.one();
    order.arc_tau = reader.one();
    order.arc_sigma = reader.one();
    order.inactive = reader.one() != 0.0;
    reader.end();
    return order;
}

std::vector<double> StepAnswer::packed() const { return joined({unary, pairs, {&residual, 1}, needed}); }

StepAnswer StepAnswer::unpacked(const Problem& p, const StepOrder& order, std::span<const double> numbers) {
    Reader reader(numbers);
    StepAnswer answer;
    const auto active = std::ssize(order.active);
    answer.unary = copied(reader.take(p.unary_size()));
    answer.pairs = copied(reader.take((order.inactive ? p.n_labels * p.n_labels : active) * p.edge_dim()));
    answer.residual = reader.one();
    answer.needed = copied(reader.take(active));
    reader.end();
    return answer;
}

std::vector<double> tree_sum(std::vector<std::vector<double>> rows) {
    if (rows.empty()) return {};
    for (auto count = rows.size(); count > 1; count = (count + 1) / 2) {
        for (std::size_t i = 0; i < count; i += 2) {
            if (i > 0) rows[i / 2].swap(rows[i]);
            if (i + 1 == count) continue;
            const auto& right = rows[i + 1];
            if (right.size() != rows[i / 2].size()) throw std::invalid_argument("answers of different lengths");
            for (std::size_t j = 0; j < right.size(); ++j) rows[i / 2][j] += right[j];
        }
    }
    return std::move(rows[0]);
}

}  // namespace gapcut
