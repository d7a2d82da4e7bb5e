// Label pairs that share their weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gapcut {

class PairTies {
  public:
    // first (pairs,): the first of the label pairs that each one shares its weights with; empty: none does.
    PairTies(std::vector<std::int32_t> first, std::int64_t pairs) : first_(std::move(first)) {
        if (first_.empty()) return;
        const auto sound = [&](std::int32_t p) { return p >= 0 && p < pairs && first_[p] == p; };
        if (std::ssize(first_) != pairs || !std::ranges::all_of(first_, sound))
            throw std::invalid_argument("the ties of label pairs are of another problem");
        count_.assign(first_.size(), 0);
        for (const auto p : first_) ++count_[p];
    }

    // How many share the weights of this pair, itself included.
    int count(std::int64_t pair) const { return first_.empty() ? 1 : count_[first_[pair]]; }

    // All such numbers, ascending, each once.
    std::vector<int> counts() const {
        std::vector<int> found{1};
        for (const int n : count_)
            if (n > 1) found.push_back(n);
        std::ranges::sort(found);
        found.erase(std::unique(found.begin(), found.end()), found.end());  // Clang 14 knows no subranges of GCC 12
        return found;
    }

    // Rows (pairs, width): each becomes the mean of those that share weights. Equal rows stay as they are: to average
    // them again would round again, and how often that is done must not change a bit.
    void average(std::span<double> rows, std::int64_t width) const {
        const auto row = [&](std::int64_t pair) { return rows.subspan(pair * width, width); };
        std::vector<std::uint8_t> differ(first_.size(), 0);
        for_groups([&](std::int32_t first, std::int32_t pair) {
            if (!std::ranges::equal(row(first), row(pair))) differ[first] = 1;
        });
        for_groups([&](std::int32_t first, std::int32_t pair) {
            for (std::int64_t d = 0; differ[first] && d < width; ++d) row(first)[d] += row(pair)[d];
        });
        for (std::int64_t p = 0; p < std::ssize(differ); ++p)
            for (std::int64_t d = 0; differ[p] && d < width; ++d) row(p)[d] /= count_[p];
        for_groups([&](std::int32_t first, std::int32_t pair) {
            if (differ[first]) std::ranges::copy(row(first), row(pair).begin());
        });
    }

    // Flags (pairs,): each is set where that of one that shares weights is.
    void join(std::span<std::uint8_t> flags) const {
        for_groups([&](std::int32_t first, std::int32_t pair) { flags[first] |= flags[pair]; });
        for_groups([&](std::int32_t first, std::int32_t pair) { flags[pair] = flags[first]; });
    }

  private:
    // f(first, pair) of all pairs that are not the first of theirs, ascending.
    template <typename F>
    void for_groups(const F& f) const {
        for (std::int32_t pair = 0; pair < std::ssize(first_); ++pair)
            if (first_[pair] != pair) f(first_[pair], pair);
    }

    std::vector<std::int32_t> first_;
    std::vector<int> count_;  // of the first ones; 0 elsewhere
};

}  // namespace gapcut
