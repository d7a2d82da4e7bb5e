#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "../src/infer/elimination.hpp"
#include "check.hpp"
#include "small_energy.hpp"

using namespace gapcut;
using namespace gapcut::infer;

GAPCUT_TEST(elimination_finds_the_best_labels_of_all_nodes_it_does_not_keep) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; ++i) {
        const SmallEnergy instance(random);
        const EnergyView view = instance.view();
        const Reduction reduced(view);
        const Links links(reduced);
        Elimination elimination(links);
        for (const double most : {1e9, 9.0, 3.0, 1.0}) {
            std::vector<std::int32_t> labels(7), window;
            std::vector<char> kept(7, 1);
            for (std::size_t u = 0; u < 7; ++u) labels[u] = static_cast<std::int32_t>(random() % instance.labels[u]);
            for (const std::int32_t u : links.nodes())
                if (random() % 4 > 0) window.push_back(u);
            reduced.complete(labels);
            elimination.plan(window, most, random);
            if (most == 1e9) CHECK(elimination.kept().empty());
            for (const std::int32_t u : window) kept[u] = 0;
            for (const std::int32_t u : elimination.kept()) kept[u] = 1;
            std::vector<std::int32_t> after = labels;
            elimination.run(after, random);
            for (std::size_t u = 0; u < 7; ++u) CHECK(!kept[u] || after[u] == labels[u]);
            // nodes outside the core are free as well
            for (std::size_t u = 0; u < 7; ++u)
                kept[u] = kept[u] && std::count(links.nodes().begin(), links.nodes().end(), static_cast<int>(u)) > 0;
            reduced.complete(after);
            CHECK(instance.energy(after) == instance.minimum(labels, kept));
        }
    }
}
