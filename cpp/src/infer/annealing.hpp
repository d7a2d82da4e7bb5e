// Simulated annealing by single flips of a kernel's nodes (Kirkpatrick, Gelatt and Vecchi, Science 1983), for energies
// that forbid; internal to infer. What is forbidden costs a penalty, low at first: where it is high while it is warm,
// labelings freeze with some of it in them. Differences of all single flips are kept, so a flip that is refused costs a
// few instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernel.hpp"

namespace gapcut::infer {

class Annealing {
  public:
    // Told of the work since the last call, in table entries read, about; true: end.
    using Tell = std::function<bool(double)>;

    explicit Annealing(const Kernel& kernel) : kernel_(kernel), labels_(static_cast<std::size_t>(kernel.size()), 0) {}

    // From random labels, so many flips tried at each node. `lowest_penalty`: of the kernel's scale. Sets the labels of
    // the core to the best ones met that are allowed, or to the last.
    void run(std::int64_t sweeps, double lowest_penalty, std::uint64_t seed, std::vector<std::int32_t>& labels,
             const Tell& tell);

  private:
    // Xorshift128+ (Vigna 2014): a number a flip.
    struct Random {
        std::uint64_t a, b;
        explicit Random(std::uint64_t seed);
        std::uint64_t next();
        std::int32_t below(std::int32_t n) {
            return static_cast<std::int32_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
        }
        double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
    };

    Toll* tolls(std::int32_t i) { return tolls_.data() + kernel_.at(i); }
    void begin(Random& random);
    void flip(std::int32_t i, std::int32_t k);
    void sweep(double temperature, double penalty, Random& random);
    void descend();

    const Kernel& kernel_;
    std::vector<std::int32_t> labels_, best_labels_;
    std::vector<Toll> tolls_;  // of every label of every node, given all others
    Toll now_;
    double best_ = kInfinity, read_ = 0.0;
};

}  // namespace gapcut::infer
