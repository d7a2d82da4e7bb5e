#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "gapcut/oracle/cut.hpp"
#include "gapcut/oracle/labeler.hpp"
#include "gapcut/oracle/message.hpp"

using namespace gapcut;

namespace {

// Chains of three nodes with positive features.
Problem chains(std::int64_t graphs, int labels, std::int64_t dims) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> draw(0.1, 1.0);
    Problem p;
    p.n_labels = labels;
    std::vector<double> nodes(static_cast<std::size_t>(3 * graphs * dims)), edges(nodes.size() * 2 / 3);
    for (auto* values : {&nodes, &edges})
        for (double& x : *values) x = draw(random);
    p.nodes = RowMatrix::from_dense(3 * graphs, dims, nodes.data());
    p.edges = RowMatrix::from_dense(2 * graphs, dims, edges.data());
    p.node_offset = p.edge_offset = {0};
    for (std::int64_t g = 0; g < graphs; ++g) {
        p.node_offset.push_back(3 * (g + 1));
        p.edge_offset.push_back(2 * (g + 1));
        for (std::int32_t i = 0; i < 2; ++i) {
            p.tail.push_back(static_cast<std::int32_t>(3 * g) + i);
            p.head.push_back(static_cast<std::int32_t>(3 * g) + i + 1);
        }
    }
    for (std::int64_t u = 0; u < 3 * graphs; ++u) p.labels.push_back(static_cast<std::int32_t>(u % labels));
    p.loss.assign(static_cast<std::size_t>(3 * graphs), 0.5);
    p.finish();
    return p;
}

template <class Oracle>
void check_totals(Oracle& one, Oracle& three) {
    const Problem& p = one.problem();
    const std::vector<double> w(static_cast<std::size_t>(p.dim()), 0.1);
    std::vector<std::int32_t> all;
    for (std::int32_t g = 0; g < p.n_graphs(); ++g) all.push_back(g);
    std::vector<double> planes(all.size() * w.size()), others = planes;
    const auto answers = one.evaluate(w, all, planes.data());
    const OracleTotals total = one.total(w), again = three.total(w);
    CHECK(total.plane == again.plane && total.loss == again.loss && total.bound == again.bound);
    double loss = 0.0, bound = 0.0, plane = 0.0;
    for (std::size_t g = 0; g < all.size(); ++g) {
        loss += answers.losses[g] / static_cast<double>(all.size());
        bound += answers.bounds[g] / static_cast<double>(all.size());
        plane += planes[g * w.size()] / static_cast<double>(all.size());
    }
    CHECK(std::abs(total.loss - loss) < 1e-12 && std::abs(total.plane[0] - plane) < 1e-12);
    CHECK(total.bound >= bound * (1.0 - 1e-15) && total.bound < bound * (1.0 + 1e-12));
    CHECK(answers.labels == three.evaluate(w, all, others.data()).labels && planes == others);
    all.back() = 1000;
    bool refused = false;
    try {
        one.evaluate(w, all, planes.data());
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace

GAPCUT_TEST(the_cut_oracle_averages_its_answers) {
    const Problem p = chains(19, 3, 4);
    CutOracle one(p, 1), three(p, 3);
    check_totals(one, three);
    const std::vector<double> w(static_cast<std::size_t>(p.dim()), 0.1);
    CHECK(one.statistics(w).variables == 19 * 3 * 3 && three.statistics(w).arcs == one.statistics(w).arcs);
}

GAPCUT_TEST(the_labeler_averages_its_answers) {
    const Problem p = chains(19, 3, 4);
    const auto make = [] { return make_message_solver({}, nullptr); };
    Labeler one(OneHotMaximiser(p, make), 1), three(OneHotMaximiser(p, make), 3);
    check_totals(one, three);
}
