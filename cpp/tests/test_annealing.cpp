#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "../src/infer/annealing.hpp"
#include "../src/infer/recombination.hpp"
#include "check.hpp"
#include "small_energy.hpp"

using namespace gapcut;
using namespace gapcut::infer;

namespace {

std::vector<std::int32_t> random_labels(const SmallEnergy& energy, std::mt19937_64& random) {
    std::vector<std::int32_t> labels;
    for (const std::int32_t n : energy.labels) labels.push_back(static_cast<std::int32_t>(random() % n));
    return labels;
}

}  // namespace

GAPCUT_TEST(kernel_gives_the_nodes_it_left_out_their_best_labels) {
    std::mt19937_64 random(2);
    int left_out = 0;
    for (int i = 0; i < 300; ++i) {
        const SmallEnergy instance(random);
        const Reduction reduced(instance.view());
        const Kernel kernel(reduced);
        left_out += static_cast<int>(reduced.core().size()) - kernel.size();
        std::vector<std::int32_t> labels = random_labels(instance, random);
        std::vector<char> kept(7, 0);
        for (const std::int32_t u : kernel.nodes()) kept[u] = 1;
        const double least = instance.minimum(labels, kept);
        kernel.complete(labels);
        reduced.complete(labels);
        CHECK(instance.energy(labels) == least);
    }
    CHECK(left_out > 300);
}

GAPCUT_TEST(annealing_finds_the_minimum_of_small_energies) {
    std::mt19937_64 random(3);
    for (std::uint64_t i = 0; i < 200; ++i) {
        const SmallEnergy instance(random);
        const Reduction reduced(instance.view());
        const Kernel kernel(reduced);
        Annealing annealing(kernel);
        std::vector<std::int32_t> labels = random_labels(instance, random);
        const double least = instance.minimum(labels, std::vector<char>(7, 0));
        double read = 0.0;
        annealing.run(2000, 2.0, i, labels, [&](double more) {
            read += more;
            return false;
        });
        CHECK(read >= 2000.0 * kernel.size());
        reduced.complete(labels);
        CHECK(instance.energy(labels) == least);
    }
}

GAPCUT_TEST(annealing_ends_when_it_is_told_to) {
    std::mt19937_64 random(4);
    const SmallEnergy instance(random);
    const Reduction reduced(instance.view());
    const Kernel kernel(reduced);
    std::vector<std::int32_t> labels = random_labels(instance, random);
    int told = 0;
    Annealing(kernel).run(std::int64_t{1} << 40, 2.0, 0, labels, [&](double) { return ++told > 1; });
    CHECK(told == 3);  // the last time with what is left to tell
}

GAPCUT_TEST(recombination_chooses_the_best_of_two_labelings) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 300; ++i) {
        const SmallEnergy instance(random);
        const Reduction reduced(instance.view());
        const Links links(reduced);
        const std::vector<std::int32_t> first = random_labels(instance, random),
                                        second = random_labels(instance, random);
        double least = kInfinity;
        for (unsigned choice = 0; choice < 128; ++choice) {
            std::vector<std::int32_t> y = first;
            for (std::size_t u = 0; u < 7; ++u)
                if (choice >> u & 1U) y[u] = second[u];
            reduced.complete(y);
            least = std::min(least, instance.energy(y));
        }
        std::vector<std::int32_t> labels = first;
        recombine(links, second, labels, random);
        for (const std::int32_t u : links.nodes()) CHECK(labels[u] == first[u] || labels[u] == second[u]);
        reduced.complete(labels);
        CHECK(instance.energy(labels) == least);
    }
}
