#include "gapcut/oracle/messages.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gapcut/oracle/message.hpp"
#include "gapcut/oracle/one_hot.hpp"

namespace gapcut {
namespace {

struct End {
    std::int64_t edge;
    bool tail, ahead;  // ahead: towards a node of a higher number
};

// The energy of one graph while messages move it between nodes and edges.
class Sweeper {
  public:
    void set(const OneHotProblem& one_hot, const OneHotWeights& w, std::int64_t graph);
    void add(const StartMessages& start, std::int64_t first);
    void sweep();
    void write(float* messages, std::int64_t edges) const;

  private:
    void visit(std::int64_t u, bool forwards);
    void collect(const End& end, double* least) const;
    void give(const End& end, const double* change);
    double* message(const End& end) { return moved_.data() + (2 * end.edge + (end.tail ? 0 : 1)) * K_; }

    std::int64_t K_ = 0;
    GraphEnergy energy_;
    std::vector<double> gains_, moved_, least_, change_;
    std::vector<std::int64_t> first_;
    std::vector<End> ends_;
};

void Sweeper::set(const OneHotProblem& one_hot, const OneHotWeights& w, std::int64_t graph) {
    K_ = one_hot.problem().n_labels;
    one_hot.gains(w, graph, gains_);
    energy_.set(one_hot, w, graph, gains_);
    const auto edges = std::ssize(energy_.tail);
    moved_.assign(static_cast<std::size_t>(2 * edges * K_), 0.0);
    first_.assign(energy_.labels.size() + 2, 0);
    for (const auto* end : {&energy_.tail, &energy_.head})
        for (const auto u : *end) ++first_[u + 2];
    for (std::size_t u = 2; u < first_.size(); ++u) first_[u] += first_[u - 1];
    ends_.resize(static_cast<std::size_t>(2 * edges));
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto u = energy_.tail[e], v = energy_.head[e];
        ends_[first_[u + 1]++] = {e, true, v > u};
        ends_[first_[v + 1]++] = {e, false, u > v};
    }
}

void Sweeper::add(const StartMessages& start, std::int64_t first) {
    const auto& [tail, head] = start.of_label;
    change_.resize(static_cast<std::size_t>(K_));
    for (std::size_t u = 0; u + 1 < first_.size() - 1; ++u)
        for (auto i = first_[u]; i < first_[u + 1]; ++i) {
            for (std::int64_t k = 0; k < K_; ++k) {
                change_[k] = start.unit * static_cast<double>((ends_[i].tail ? tail : head)[k][first + ends_[i].edge]);
                energy_.unary[static_cast<std::int64_t>(u) * K_ + k] -= change_[k];
            }
            give(ends_[i], change_.data());
        }
}

// The least energy of the edge's table for each label of this end.
void Sweeper::collect(const End& end, double* least) const {
    const double* table = energy_.tables.data() + end.edge * K_ * K_;
    if (end.tail) {
        for (std::int64_t k = 0; k < K_; ++k) least[k] = *std::min_element(table + k * K_, table + (k + 1) * K_);
        return;
    }
    std::copy(table, table + K_, least);
    for (std::int64_t k = 1; k < K_; ++k)
        for (std::int64_t l = 0; l < K_; ++l) least[l] = std::min(least[l], table[k * K_ + l]);
}

void Sweeper::give(const End& end, const double* change) {
    double *table = energy_.tables.data() + end.edge * K_ * K_, *sum = message(end);
    for (std::int64_t k = 0; k < K_; ++k) sum[k] += change[k];
    for (std::int64_t k = 0; k < K_; ++k)
        for (std::int64_t l = 0; l < K_; ++l) table[k * K_ + l] += change[end.tail ? k : l];
}

void Sweeper::visit(std::int64_t u, bool forwards) {
    double* own = energy_.unary.data() + u * K_;
    const auto begin = first_[u], end = first_[u + 1];
    least_.resize(static_cast<std::size_t>((end - begin) * K_));
    std::int64_t ahead = 0;
    for (auto i = begin; i < end; ++i) {
        double* least = least_.data() + (i - begin) * K_;
        collect(ends_[i], least);
        for (std::int64_t k = 0; k < K_; ++k) own[k] += least[k];
        ahead += ends_[i].ahead == forwards;
    }
    const auto parts = static_cast<double>(std::max<std::int64_t>(1, std::max(ahead, end - begin - ahead)));
    change_.resize(static_cast<std::size_t>(K_));
    for (auto i = begin; i < end; ++i) {
        const bool gets = ends_[i].ahead == forwards;
        for (std::int64_t k = 0; k < K_; ++k) change_[k] = (gets ? own[k] / parts : 0.0) - least_[(i - begin) * K_ + k];
        give(ends_[i], change_.data());
    }
    for (std::int64_t k = 0; k < K_; ++k) own[k] -= static_cast<double>(ahead) * (own[k] / parts);
}

void Sweeper::sweep() {
    const auto nodes = std::ssize(energy_.labels);
    for (std::int64_t u = 0; u < nodes; ++u) visit(u, true);
    for (std::int64_t u = nodes - 1; u >= 0; --u) visit(u, false);
}

// To the heads what was moved there; to the tails the least that leave no entry of a table above 0.
void Sweeper::write(float* messages, std::int64_t edges) const {
    static constexpr double kMost = std::numeric_limits<float>::max();
    const auto single = [](double x) { return static_cast<float>(std::clamp(x, -kMost, kMost)); };
    for (std::int64_t e = 0; e < std::ssize(energy_.tail); ++e) {
        const double *table = energy_.tables.data() + e * K_ * K_, *tail = moved_.data() + 2 * e * K_,
                     *head = tail + K_;
        float *to_tail = messages + e, *to_head = to_tail + K_ * edges;
        for (std::int64_t l = 0; l < K_; ++l) to_head[l * edges] = single(head[l] - head[K_ - 1]);
        for (std::int64_t k = 0; k < K_; ++k) {
            double least = std::numeric_limits<double>::infinity();  // of the energy, which is that moved less both
            for (std::int64_t l = 0; l < K_; ++l)
                least =
                    std::min(least, table[k * K_ + l] - tail[k] - head[l] + static_cast<double>(to_head[l * edges]));
            to_tail[k * edges] = single(-least);
        }
    }
}

}  // namespace

std::vector<float> edge_messages(const Problem& p, std::span<const double> weights, const StartMessages& start,
                                 int sweeps, int threads, const StopTest& stop) {
    const OneHotProblem one_hot(p);
    const OneHotWeights w = one_hot.prepare(weights);
    const bool known = !start.of_label.tail.empty();
    if (known &&
        (std::ssize(start.of_label.tail) != p.n_labels || std::ssize(start.of_label.tail[0]) != p.edges.rows()))
        throw std::invalid_argument("the messages are of another problem");
    std::vector<float> messages(static_cast<std::size_t>(2 * p.edges.rows() * p.n_labels));
    std::vector<Sweeper> sweepers(static_cast<std::size_t>(std::max(1, threads)));
    parallel_for(
        p.n_graphs(), threads,
        [&](std::int64_t g, int worker) {
            Sweeper& s = sweepers[worker];
            s.set(one_hot, w, g);
            if (known) s.add(start, p.edge_offset[g]);
            for (int i = 0; i < sweeps; ++i) s.sweep();
            s.write(messages.data() + p.edge_offset[g], p.edges.rows());
        },
        stop);
    return messages;
}

}  // namespace gapcut
