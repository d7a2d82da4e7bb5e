#include "annealing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gapcut::infer {
namespace {

// Of the kernel's scale. Chosen together with the lowest penalty on three planted 3-colourings of 300 and 1,000 nodes,
// by two or three seeds each of 1.5 seconds.
constexpr double kHottest = 0.6, kColdest = 0.03;
constexpr double kNeverAccepted = 36.0;  // exp(-36) < 2^-51
constexpr double kReadPerTell = 1 << 18;
constexpr double kLeastFall = 1e-12;  // of the scale

}  // namespace

Annealing::Random::Random(std::uint64_t seed) : a(seed * 0x9E3779B97F4A7C15u + 1), b(seed ^ 0xD1B54A32D192ED03u) {
    for (int i = 0; i < 20; ++i) next();
}

std::uint64_t Annealing::Random::next() {
    std::uint64_t x = a;
    const std::uint64_t y = b;
    a = y;
    x ^= x << 23;
    b = x ^ y ^ (x >> 17) ^ (y >> 26);
    return b + y;
}

// Random labels, and what every other one would cost.
void Annealing::begin(Random& random) {
    best_ = kInfinity;
    for (std::int32_t i = 0; i < kernel_.size(); ++i) labels_[i] = random.below(kernel_.n_labels(i));
    tolls_ = kernel_.unaries();
    now_ = {};
    for (std::int32_t i = 0; i < kernel_.size(); ++i) {
        const Toll own = kernel_.unaries()[static_cast<std::size_t>(kernel_.at(i) + labels_[i])];
        now_.cost += own.cost, now_.forbidden += own.forbidden;
        for (const Kernel::Arc& arc : kernel_.arcs(i)) {
            const Toll* row = kernel_.row(arc, labels_[i]);
            Toll* other = tolls(arc.other);
            for (std::int32_t l = 0; l < kernel_.n_labels(arc.other); ++l)
                other[l].cost += row[l].cost, other[l].forbidden += row[l].forbidden;
            if (arc.other < i) continue;
            now_.cost += row[labels_[arc.other]].cost, now_.forbidden += row[labels_[arc.other]].forbidden;
        }
    }
}

void Annealing::flip(std::int32_t i, std::int32_t k) {
    const std::int32_t old = labels_[i];
    const Toll* own = tolls(i);
    now_.cost += own[k].cost - own[old].cost, now_.forbidden += own[k].forbidden - own[old].forbidden;
    labels_[i] = k;
    for (const Kernel::Arc& arc : kernel_.arcs(i)) {
        const Toll *to = kernel_.row(arc, k), *from = kernel_.row(arc, old);
        Toll* other = tolls(arc.other);
        const std::int32_t n = kernel_.n_labels(arc.other);
        for (std::int32_t l = 0; l < n; ++l)
            other[l].cost += to[l].cost - from[l].cost, other[l].forbidden += to[l].forbidden - from[l].forbidden;
        read_ += n;
    }
}

void Annealing::sweep(double temperature, double penalty, Random& random) {
    const std::int32_t size = kernel_.size();
    for (std::int32_t t = 0; t < size; ++t) {
        const std::int32_t i = random.below(size), old = labels_[i], n = kernel_.n_labels(i);
        if (n < 2) continue;
        std::int32_t k = random.below(n - 1);
        k += k >= old;
        const Toll* own = tolls(i);
        const double rise = own[k].cost - own[old].cost + penalty * (own[k].forbidden - own[old].forbidden);
        if (rise > 0.0 && (rise > kNeverAccepted * temperature || random.uniform() >= std::exp(-rise / temperature)))
            continue;
        flip(i, k);
    }
    read_ += std::max(size, 1);
    if (now_.forbidden == 0 && now_.cost < best_ - kLeastFall * kernel_.scale())
        best_ = now_.cost, best_labels_ = labels_;
}

// To a local minimum, less of what is forbidden always being better.
void Annealing::descend() {
    for (bool moved = true; moved;) {
        moved = false;
        for (std::int32_t i = 0; i < kernel_.size(); ++i) {
            const Toll* own = tolls(i);
            std::int32_t best = labels_[i];
            for (std::int32_t k = 0; k < kernel_.n_labels(i); ++k) {
                const std::int32_t more = own[k].forbidden - own[best].forbidden;
                const double fall = own[best].cost - own[k].cost;
                if (more < 0 || (more == 0 && fall > kLeastFall * kernel_.scale())) best = k;
            }
            if (best != labels_[i]) flip(i, best), moved = true;
        }
    }
}

void Annealing::run(std::int64_t sweeps, double lowest_penalty, std::uint64_t seed, std::vector<std::int32_t>& labels,
                    const Tell& tell) {
    Random random(seed);
    begin(random);
    for (std::int64_t s = 0; s < sweeps; ++s) {
        const double left = 1.0 - static_cast<double>(s) / static_cast<double>(sweeps);
        const double warmth = kColdest + (kHottest - kColdest) * left;
        sweep(warmth * kernel_.scale(), lowest_penalty * kernel_.scale() * std::sqrt(kHottest / warmth), random);
        if (read_ >= kReadPerTell && tell(std::exchange(read_, 0.0))) break;
    }
    descend();
    tell(std::exchange(read_, 0.0));
    const auto& ends = best_ < kInfinity && (now_.forbidden > 0 || best_ < now_.cost) ? best_labels_ : labels_;
    for (std::int32_t i = 0; i < kernel_.size(); ++i) labels[kernel_.nodes()[i]] = ends[i];
    kernel_.complete(labels);
}

}  // namespace gapcut::infer
