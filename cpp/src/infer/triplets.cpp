#include "triplets.hpp"

#include <algorithm>
#include <cmath>

namespace gapcut::infer {
namespace {

constexpr double kNegligible = 30.0;          // exp(-30) of the largest part of a sum
constexpr double kWorkPerStopTest = 1 << 20;  // entries of triplets

}  // namespace

Triplets::Triplets(const Reduction& reduced, const std::vector<std::int32_t>& order) {
    std::vector<std::int32_t> place(reduced.component().size(), -1);
    unary_at_.push_back(0);
    for (const std::int32_t u : order) {
        place[u] = n_nodes();
        labels_.push_back(reduced.n_labels(u));
        unary_.insert(unary_.end(), reduced.unary_of(u), reduced.unary_of(u) + reduced.n_labels(u));
        unary_at_.push_back(std::ssize(unary_));
    }
    node_ = unary_;
    edges_of_.resize(labels_.size());
    for (std::size_t p = 0; p < reduced.pairs().size(); ++p) {
        if (!reduced.alive(static_cast<std::int64_t>(p))) continue;
        const Pair& pair = reduced.pairs()[p];
        const std::int32_t a = place[pair.low], b = place[pair.high];
        const std::int64_t e = insert(a, b, false);
        double* x = given_.data() + edges_[e].at;
        for (std::int32_t k = 0; k < labels_[edges_[e].low]; ++k)
            for (std::int32_t l = 0; l < labels_[edges_[e].high]; ++l) *x++ = pair.at(a < b, k, l);
    }
    now_ = given_;
}

std::int64_t Triplets::insert(std::int32_t i, std::int32_t j, bool chord) {
    const auto [low, high] = std::minmax(i, j);
    const std::int64_t e = std::ssize(edges_);
    edges_.push_back({low, high, std::ssize(given_), std::ssize(messages_), chord});
    given_.resize(given_.size() + static_cast<std::size_t>(size(e)), 0.0);
    now_.resize(given_.size(), 0.0);
    messages_.resize(messages_.size() + static_cast<std::size_t>(labels_[low] + labels_[high]), 0.0);
    edges_of_[low].push_back(e), edges_of_[high].push_back(e);
    triplets_of_.emplace_back();
    return e;
}

std::int64_t Triplets::find(std::int32_t i, std::int32_t j) const {
    if (edges_of_[i].size() > edges_of_[j].size()) std::swap(i, j);
    for (const std::int64_t e : edges_of_[i])
        if (edges_[e].low == j || edges_[e].high == j) return e;
    return -1;
}

std::int64_t Triplets::find_or_add(std::int32_t i, std::int32_t j) {
    const std::int64_t e = find(i, j);
    return e < 0 ? insert(i, j, true) : e;
}

double Triplets::add(std::int32_t i, std::int32_t j, std::int32_t k) {
    if (i > j) std::swap(i, j);
    if (j > k) std::swap(j, k);
    if (i > j) std::swap(i, j);
    Triplet t{{find_or_add(i, j), find_or_add(i, k), find_or_add(j, k)}, {}};
    for (const std::int64_t other : triplets_of_[t.edge[0]])
        if (triplets_[other].edge == t.edge) return 0.0;
    double entries = 0.0;
    for (int which = 0; which < 3; ++which) {
        t.part[which] = std::ssize(parts_);
        entries += static_cast<double>(size(t.edge[which]));
        parts_.resize(parts_.size() + static_cast<std::size_t>(size(t.edge[which])), 0.0);
        triplets_of_[t.edge[which]].push_back(std::ssize(triplets_));
    }
    triplets_.push_back(t);
    return entries;
}

double Triplets::half_sweep(bool forward, double temperature, const StopTest& stop) {
    read_ = 0.0;
    temperature_ = temperature;
    for (std::int32_t step = 0; step < n_nodes(); ++step) {
        const std::int32_t i = forward ? step : n_nodes() - 1 - step;
        node_step(i, forward);
        for (const std::int64_t e : edges_of_[i]) {
            if ((forward ? edges_[e].low : edges_[e].high) != i || triplets_of_[e].empty()) continue;
            if (!edge_step(e, forward, stop)) return read_;
        }
    }
    return read_;
}

// The least of n entries term(0), term(1), ..., or the soft minimum.
template <class F>
double Triplets::least(std::int64_t n, F&& term) const {
    double best = term(0);
    for (std::int64_t r = 1; r < n; ++r) best = std::min(best, term(r));
    if (temperature_ == 0.0) return best;
    double sum = 0.0;
    for (std::int64_t r = 0; r < n; ++r)
        if (const double x = (term(r) - best) / temperature_; x < kNegligible) sum += std::exp(-x);
    return best - temperature_ * std::log(sum);
}

// What of a sum of `own` and the min-marginals of `n` factors goes to each of those that get something.
double Triplets::share(std::int64_t ahead, std::int64_t back, std::int64_t n, bool keep) const {
    if (temperature_ > 0.0) return 1.0 / static_cast<double>(n + 1);
    return 1.0 / static_cast<double>(std::max({ahead, back, std::int64_t{1}}) + keep);
}

// Moves the min-marginals of the node's edges into it, and gives equal parts to those that go on; soft ones to all.
void Triplets::node_step(std::int32_t i, bool forward) {
    const auto n = static_cast<std::size_t>(labels_[i]);
    double* own = node_.data() + unary_at_[i];
    gathered_.resize(n * edges_of_[i].size());
    std::int64_t ahead = 0, all = 0;
    double* m = gathered_.data();
    for (const std::int64_t e : edges_of_[i]) {
        const Edge& edge = edges_[e];
        if (edge.chord) continue;
        const std::int64_t columns = labels_[edge.high];
        const bool low = edge.low == i;
        const std::int64_t others = labels_[low ? edge.high : edge.low], step = low ? 1 : columns;
        for (std::size_t k = 0; k < n; ++k, ++m) {
            const double* x = table(e) + static_cast<std::int64_t>(k) * (low ? columns : 1);
            *m = least(others, [&](std::int64_t l) { return x[l * step]; });
            own[k] += *m;
        }
        ahead += low == forward, ++all;
        read_ += 2.0 * static_cast<double>(size(e));
    }
    const double lowest = *std::min_element(own, own + n), weight = share(ahead, all - ahead, all, false);
    belief_.assign(own, own + n);
    for (double& b : belief_) b = weight * (b - lowest);
    m = gathered_.data();
    for (const std::int64_t e : edges_of_[i]) {
        const Edge& edge = edges_[e];
        if (edge.chord) continue;
        const std::int32_t rows = labels_[edge.low], columns = labels_[edge.high];
        const bool low = edge.low == i, gets = low == forward || temperature_ > 0.0;
        double* message = messages_.data() + edge.message_at + (low ? 0 : rows);
        for (std::size_t k = 0; k < n; ++k) {
            const double given = gets ? belief_[k] : 0.0;
            own[k] -= given;
            m[k] = given - m[k];
            message[k] += m[k];
        }
        double* x = now_.data() + edge.at;
        for (std::int32_t k = 0; k < rows; ++k)
            for (std::int32_t l = 0; l < columns; ++l, ++x) *x += m[low ? k : l];
        m += n;
    }
}

// The same for an edge and its triplets. It keeps a part for its nodes.
bool Triplets::edge_step(std::int64_t e, bool forward, const StopTest& stop) {
    const auto n = static_cast<std::size_t>(size(e));
    const auto& mine = triplets_of_[e];
    double* own = now_.data() + edges_[e].at;
    gathered_.resize(n * mine.size());
    const auto place = [&](std::int64_t t) {
        const auto& edges = triplets_[t].edge;
        return static_cast<int>(std::find(edges.begin(), edges.end(), e) - edges.begin());
    };
    const auto goes_on = [&](int which) { return temperature_ > 0.0 || (forward ? which < 2 : which > 0); };
    std::int64_t ahead = 0, back = 0;
    for (std::size_t c = 0; c < mine.size(); ++c) {
        const int which = place(mine[c]);
        double* m = gathered_.data() + c * n;
        marginal(triplets_[mine[c]], which, m);
        ahead += forward ? which < 2 : which > 0, back += forward ? which > 0 : which < 2;
        for (std::size_t x = 0; x < n; ++x) own[x] += m[x];
        if (untested_ < kWorkPerStopTest) continue;
        untested_ = 0.0;
        if (stop && stop()) return false;  // bound() makes the edge's own anew
    }
    const double lowest = *std::min_element(own, own + n), weight = share(ahead, back, std::ssize(mine), true);
    belief_.assign(own, own + n);
    for (double& b : belief_) b = weight * (b - lowest);
    for (std::size_t c = 0; c < mine.size(); ++c) {
        const int which = place(mine[c]);
        const bool gets = goes_on(which);
        double* part = parts_.data() + triplets_[mine[c]].part[which];
        const double* m = gathered_.data() + c * n;
        for (std::size_t x = 0; x < n; ++x) {
            const double given = gets ? belief_[x] : 0.0;
            own[x] -= given;
            part[x] += given - m[x];
        }
    }
    read_ += 3.0 * static_cast<double>(n * mine.size());
    return true;
}

// The least of the triplet's entries for each entry of one of its edges.
void Triplets::marginal(const Triplet& t, int which, double* out) {
    const Edge &ij = edges_[t.edge[0]], &jk = edges_[t.edge[2]];
    const std::int64_t ni = labels_[ij.low], nj = labels_[ij.high], nk = labels_[jk.high];
    untested_ += static_cast<double>(ni * nj * nk);
    const double *a = parts_.data() + t.part[0], *b = parts_.data() + t.part[1], *c = parts_.data() + t.part[2];
    // out[p, q] = own[p, q] + min over r of first[p, r] + second[q, r]
    const auto all = [&](std::int64_t np, std::int64_t nq, std::int64_t nr, const double* own, const double* first,
                         std::int64_t p1, std::int64_t r1, const double* second, std::int64_t q2, std::int64_t r2) {
        for (std::int64_t p = 0; p < np; ++p)
            for (std::int64_t q = 0; q < nq; ++q)
                *out++ = *own++ +
                         least(nr, [&](std::int64_t r) { return first[p * p1 + r * r1] + second[q * q2 + r * r2]; });
    };
    if (which == 0)
        all(ni, nj, nk, a, b, nk, 1, c, nk, 1);
    else if (which == 1)
        all(ni, nk, nj, b, a, nj, 1, c, 1, nk);
    else
        all(nj, nk, ni, c, a, 1, nj, b, 1, nk);
}

double Triplets::work() const {
    double sum = 0.0;
    for (const Triplet& t : triplets_) sum += static_cast<double>(size(t.edge[0])) * labels_[edges_[t.edge[2]].high];
    return sum;
}

double Triplets::mean_range() const {
    double sum = 0.0, count = 0.0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        if (edges_[e].chord) continue;
        const auto [low, high] = std::minmax_element(given_.data() + edges_[e].at,
                                                     given_.data() + edges_[e].at + size(static_cast<std::int64_t>(e)));
        sum += *high - *low, count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

void Triplets::spread() {
    for (std::int32_t i = 0; i < n_nodes(); ++i) {
        const auto& mine = edges_of_[i];
        const auto degree = std::count_if(mine.begin(), mine.end(), [&](auto e) { return !edges_[e].chord; });
        if (degree == 0) continue;
        double* own = node_.data() + unary_at_[i];
        const double least = *std::min_element(own, own + labels_[i]), share = 1.0 / static_cast<double>(degree);
        for (const std::int64_t e : mine) {
            const Edge& edge = edges_[e];
            if (edge.chord) continue;
            const std::int32_t rows = labels_[edge.low], columns = labels_[edge.high];
            const bool low = edge.low == i;
            double* message = messages_.data() + edge.message_at + (low ? 0 : rows);
            for (std::int32_t k = 0; k < labels_[i]; ++k) message[k] += share * (own[k] - least);
            double* x = now_.data() + edge.at;
            for (std::int32_t k = 0; k < rows; ++k)
                for (std::int32_t l = 0; l < columns; ++l) *x++ += share * (own[low ? k : l] - least);
        }
        std::fill_n(own, labels_[i], least);
    }
}

double Triplets::bound() {
    LowerSum total;
    node_ = unary_;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const Edge& edge = edges_[e];
        const std::int32_t rows = labels_[edge.low], columns = labels_[edge.high];
        const double *low = messages_.data() + edge.message_at, *high = low + rows;
        double* x = now_.data() + edge.at;
        const double* given = given_.data() + edge.at;
        for (std::int32_t k = 0; k < rows; ++k)
            for (std::int32_t l = 0; l < columns; ++l) *x++ = down(down(*given++ + low[k]) + high[l]);
        for (std::int32_t k = 0; k < rows; ++k)
            node_[unary_at_[edge.low] + k] = down(node_[unary_at_[edge.low] + k] - low[k]);
        for (std::int32_t l = 0; l < columns; ++l)
            node_[unary_at_[edge.high] + l] = down(node_[unary_at_[edge.high] + l] - high[l]);
    }
    for (const Triplet& t : triplets_) {
        for (int which = 0; which < 3; ++which) {
            double* x = now_.data() + edges_[t.edge[which]].at;
            const double* part = parts_.data() + t.part[which];
            for (std::int64_t i = 0; i < size(t.edge[which]); ++i) x[i] = down(x[i] - part[i]);
        }
        const Edge &ij = edges_[t.edge[0]], &jk = edges_[t.edge[2]];
        const std::int64_t n = labels_[ij.low], m = labels_[ij.high], o = labels_[jk.high];
        const double *a = parts_.data() + t.part[0], *b = parts_.data() + t.part[1], *c = parts_.data() + t.part[2];
        double least = kInfinity;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < m; ++j)
                for (std::int64_t k = 0; k < o; ++k)
                    least = std::min(least, down(down(b[i * o + k] + c[j * o + k]) + a[i * m + j]));
        total.add(least);
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const double* x = now_.data() + edges_[e].at;
        total.add(*std::min_element(x, x + size(static_cast<std::int64_t>(e))));
    }
    for (std::int32_t i = 0; i < n_nodes(); ++i) {
        const double* x = node_.data() + unary_at_[i];
        total.add(*std::min_element(x, x + labels_[i]));
    }
    return total.value();
}

double Triplets::decode(std::vector<std::int32_t>& labels) const {
    labels.assign(labels_.size(), 0);
    std::vector<double> cost;
    for (std::int32_t i = 0; i < n_nodes(); ++i) {
        cost.assign(node_.data() + unary_at_[i], node_.data() + unary_at_[i] + labels_[i]);
        for (const std::int64_t e : edges_of_[i]) {
            const Edge& edge = edges_[e];
            const std::int32_t columns = labels_[edge.high];
            const double* x = table(e);
            for (std::int32_t k = 0; k < labels_[i]; ++k)
                cost[k] += edge.high == i ? x[labels[edge.low] * columns + k]
                                          : *std::min_element(x + k * columns, x + (k + 1) * columns);
        }
        labels[i] = static_cast<std::int32_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
    }
    double energy = 0.0;
    for (std::int32_t i = 0; i < n_nodes(); ++i) energy += unary_[unary_at_[i] + labels[i]];
    for (const Edge& edge : edges_)
        energy += given_[edge.at + std::int64_t{labels[edge.low]} * labels_[edge.high] + labels[edge.high]];
    return energy;
}

}  // namespace gapcut::infer
