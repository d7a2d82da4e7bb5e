#include "gapcut/scene/morton.hpp"

#include <numeric>

namespace gapcut::scene {
namespace {

constexpr int kDigit = 11;  // bits a pass of the radix sort

}  // namespace

std::vector<std::int32_t> sort_keys(std::vector<std::uint64_t>& keys) {
    const std::size_t n = keys.size();
    std::vector<std::int32_t> item(n), next_item(n);
    std::iota(item.begin(), item.end(), 0);
    std::vector<std::uint64_t> next_key(n);
    std::uint64_t all = 0, common = ~std::uint64_t{0};
    for (const std::uint64_t key : keys) all |= key, common &= key;
    for (int low = 0; low < 64; low += kDigit) {
        constexpr std::uint64_t kMask = (1U << kDigit) - 1;
        if (((all ^ common) >> low & kMask) == 0) continue;  // one digit for all
        std::vector<std::size_t> begin(kMask + 2, 0);
        for (const std::uint64_t key : keys) ++begin[(key >> low & kMask) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t to = begin[keys[i] >> low & kMask]++;
            next_key[to] = keys[i];
            next_item[to] = item[i];
        }
        keys.swap(next_key);
        item.swap(next_item);
    }
    return item;
}

}  // namespace gapcut::scene
