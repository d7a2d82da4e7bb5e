#include "recombination.hpp"

#include <algorithm>

#include "elimination.hpp"

namespace gapcut::infer {
namespace {

constexpr double kLargestChoice = 1 << 16, kMostEntries = 1 << 24;  // of one node, of all of them
constexpr int kRounds = 3;                                          // where some nodes have to keep their labels

// The energy of the choice at the nodes where two labelings differ: label 0 is the first's, 1 the second's.
struct EitherLabel {
    std::vector<std::int32_t> nodes, counts, tail, head;
    std::vector<std::int64_t> unary_at, table_at;
    std::vector<double> unary, tables;

    EitherLabel(const Links& links, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second) {
        std::vector<std::int32_t> place(links.size(), -1);
        for (const std::int32_t u : links.nodes())
            if (first[u] != second[u]) place[u] = static_cast<std::int32_t>(nodes.size()), nodes.push_back(u);
        counts.assign(nodes.size(), 2);
        for (const std::int32_t u : nodes) {
            unary_at.push_back(static_cast<std::int64_t>(unary.size()));
            for (const std::int32_t k : {first[u], second[u]}) {
                unary.push_back(links.unary(u, k));
                for (const Link& link : links.of(u))
                    if (place[link.other] < 0) unary.back() += links.entry(link, u, k, first[link.other]);
            }
            for (const Link& link : links.of(u)) {
                const std::int32_t v = link.other;
                if (place[v] <= place[u]) continue;
                tail.push_back(place[u]), head.push_back(place[v]);
                table_at.push_back(static_cast<std::int64_t>(tables.size()));
                for (const std::int32_t k : {first[u], second[u]})
                    for (const std::int32_t l : {first[v], second[v]}) tables.push_back(links.entry(link, u, k, l));
            }
        }
        unary_at.push_back(static_cast<std::int64_t>(unary.size()));
    }

    EnergyView view() const { return {counts, unary_at, unary, tail, head, table_at, tables}; }
};

}  // namespace

double recombine(const Links& links, const std::vector<std::int32_t>& other, std::vector<std::int32_t>& labels,
                 std::mt19937_64& random) {
    const EitherLabel choice(links, labels, other);
    if (choice.nodes.empty()) return static_cast<double>(links.nodes().size());
    const Reduction reduced(choice.view());
    const Links left(reduced);
    Elimination elimination(left);
    const double largest = std::min(kLargestChoice, kMostEntries / static_cast<double>(choice.nodes.size()));
    std::vector<std::int32_t> taken(choice.nodes.size(), 0);
    for (int round = 0; round < kRounds; ++round) {
        elimination.plan(left.nodes(), largest, random);
        elimination.run(taken, random);
        if (elimination.kept().empty()) break;
    }
    reduced.complete(taken);
    for (std::size_t i = 0; i < choice.nodes.size(); ++i)
        if (taken[i] == 1) labels[choice.nodes[i]] = other[choice.nodes[i]];
    return elimination.read() + static_cast<double>(choice.tables.size() + links.nodes().size());
}

}  // namespace gapcut::infer
