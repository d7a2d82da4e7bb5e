#include "elimination.hpp"

#include <algorithm>
#include <utility>

namespace gapcut::infer {
namespace {

constexpr int kCandidatesToKeep = 10;

std::size_t below(std::mt19937_64& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

}  // namespace

double Elimination::size(std::int32_t i) const {
    double product = links_.n_labels(buckets_[i].node);
    for (const std::int32_t j : buckets_[i].scope) product *= links_.n_labels(buckets_[j].node);
    return product;
}

void Elimination::rank(std::int32_t i, std::mt19937_64& random) { queue_.push({size(i), random(), i}); }

void Elimination::forget(std::int32_t i) {
    for (const std::int32_t j : buckets_[i].scope) std::erase(buckets_[j].scope, i);
    const std::int32_t last = live_.back();
    live_[live_at_[i]] = last;
    live_at_[last] = live_at_[i];
    live_.pop_back();
}

void Elimination::join_neighbours(std::int32_t i) {
    const auto& scope = buckets_[i].scope;
    for (const std::int32_t a : scope)
        for (const std::int32_t b : scope) {
            auto& of_a = buckets_[a].scope;
            if (a != b && std::find(of_a.begin(), of_a.end(), b) == of_a.end()) of_a.push_back(b);
        }
}

// Of some random ones that with the most neighbours.
std::int32_t Elimination::choose_kept(std::mt19937_64& random) {
    std::int32_t chosen = live_[below(random, live_.size())];
    for (int t = 1; t < kCandidatesToKeep; ++t) {
        const std::int32_t i = live_[below(random, live_.size())];
        if (buckets_[i].scope.size() > buckets_[chosen].scope.size()) chosen = i;
    }
    return chosen;
}

void Elimination::plan(const std::vector<std::int32_t>& nodes, double most, std::mt19937_64& random) {
    for (const Bucket& bucket : buckets_) place_[bucket.node] = -1;
    const auto n = static_cast<std::int32_t>(nodes.size());
    buckets_.assign(nodes.size(), {}), order_.clear(), kept_.clear(), queue_ = {};
    live_.resize(nodes.size()), live_at_.resize(nodes.size());
    for (std::int32_t i = 0; i < n; ++i) {
        buckets_[i].node = nodes[i];
        place_[nodes[i]] = live_[i] = live_at_[i] = i;
    }
    for (std::int32_t i = 0; i < n; ++i) {
        for (const Link& link : links_.of(nodes[i]))
            if (place_[link.other] >= 0) buckets_[i].scope.push_back(place_[link.other]);
        read_ += static_cast<double>(links_.of(nodes[i]).size());
    }
    for (std::int32_t i = 0; i < n; ++i) rank(i, random);
    while (!live_.empty()) {
        const Candidate next = queue_.top();
        const bool too_large = next.size > most;
        const std::int32_t i = too_large ? choose_kept(random) : next.bucket;
        if (!too_large) {
            queue_.pop();
            if (buckets_[i].turn != kLive || next.size != size(i)) continue;  // ranked anew since
            join_neighbours(i);
        } else if (buckets_[next.bucket].turn != kLive || next.size != size(next.bucket)) {
            queue_.pop();
            continue;
        }
        Bucket& bucket = buckets_[i];
        forget(i);
        bucket.turn = too_large ? kKept : static_cast<std::int32_t>(order_.size());
        if (too_large)
            kept_.push_back(bucket.node);
        else
            order_.push_back(i);
        for (const std::int32_t j : bucket.scope) rank(j, random);
        read_ += 4.0 * static_cast<double>(bucket.scope.size() * bucket.scope.size());
    }
}

// The node's own costs, given neighbours that keep their labels, and tables of the pairs to those eliminated later.
void Elimination::collect(Bucket& bucket, const std::vector<std::int32_t>& labels) {
    const std::int32_t u = bucket.node, n = links_.n_labels(u);
    const std::size_t own = entries_.size();
    for (std::int32_t k = 0; k < n; ++k) entries_.push_back(links_.unary(u, k));
    bucket.tables.push_back({{}, {1}, own});
    for (const Link& link : links_.of(u)) {
        const std::int32_t j = place_[link.other];
        if (j < 0 || buckets_[j].turn == kKept) {
            for (std::int32_t k = 0; k < n; ++k) entries_[own + k] += links_.entry(link, u, k, labels[link.other]);
        } else if (buckets_[j].turn > bucket.turn) {
            bucket.tables.push_back({{j}, {n, 1}, entries_.size()});
            for (std::int32_t l = 0; l < links_.n_labels(link.other); ++l)
                for (std::int32_t k = 0; k < n; ++k) entries_.push_back(links_.entry(link, u, k, l));
        }
    }
    read_ += static_cast<double>(entries_.size() - own);
}

// joint_ over the bucket's scope, the node's own labels fastest, plus this table.
void Elimination::add_up(const Bucket& bucket, const Table& table) {
    const auto dimensions = bucket.scope.size();
    const std::int32_t n = links_.n_labels(bucket.node);
    const std::int64_t own = table.step.back();
    std::vector<std::int64_t> step(dimensions, 0), back(dimensions, 0);
    std::vector<std::int32_t> digit(dimensions, 0), base(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
        base[d] = links_.n_labels(buckets_[bucket.scope[d]].node);
        const auto found = std::find(table.scope.begin(), table.scope.end(), bucket.scope[d]);
        if (found != table.scope.end()) step[d] = table.step[static_cast<std::size_t>(found - table.scope.begin())];
        back[d] = step[d] * (base[d] - 1);
    }
    const double* from = entries_.data() + table.at;
    for (double *out = joint_.data(), *end = out + joint_.size(); out != end; out += n) {
        for (std::int32_t k = 0; k < n; ++k) out[k] += from[k * own];
        for (std::size_t d = 0; d < dimensions; ++d) {
            if (++digit[d] < base[d]) {
                from += step[d];
                break;
            }
            digit[d] = 0;
            from -= back[d];
        }
    }
    read_ += static_cast<double>(joint_.size());
}

// What the bucket's node adds at best to every labeling of its scope, to the first of those that comes.
void Elimination::send(std::int32_t i) {
    Bucket& bucket = buckets_[i];
    if (bucket.scope.empty()) return;
    const std::int32_t n = links_.n_labels(bucket.node);
    joint_.assign(static_cast<std::size_t>(size(i)), 0.0);
    for (const Table& table : bucket.tables) add_up(bucket, table);
    Table message{{bucket.scope.begin() + 1, bucket.scope.end()}, {}, entries_.size()};
    std::int64_t step = links_.n_labels(buckets_[bucket.scope[0]].node);
    for (const std::int32_t j : message.scope) {
        message.step.push_back(step);
        step *= links_.n_labels(buckets_[j].node);
    }
    message.step.push_back(1);
    for (std::size_t at = 0; at < joint_.size(); at += static_cast<std::size_t>(n))
        entries_.push_back(*std::min_element(joint_.begin() + static_cast<std::ptrdiff_t>(at),
                                             joint_.begin() + static_cast<std::ptrdiff_t>(at) + n));
    buckets_[bucket.scope[0]].tables.push_back(std::move(message));
}

std::int32_t Elimination::best(const Bucket& bucket, const std::vector<std::int32_t>& labels, std::mt19937_64& random) {
    const auto n = static_cast<std::size_t>(links_.n_labels(bucket.node));
    cost_.assign(n, 0.0);
    for (const Table& table : bucket.tables) {
        const double* from = entries_.data() + table.at;
        for (std::size_t d = 0; d < table.scope.size(); ++d)
            from += table.step[d] * labels[buckets_[table.scope[d]].node];
        for (std::size_t k = 0; k < n; ++k) cost_[k] += from[static_cast<std::int64_t>(k) * table.step.back()];
    }
    std::size_t k = below(random, n), least = k;
    for (std::size_t i = 1; i < n; ++i) {
        k = k + 1 < n ? k + 1 : 0;
        if (cost_[k] < cost_[least]) least = k;
    }
    return static_cast<std::int32_t>(least);
}

void Elimination::run(std::vector<std::int32_t>& labels, std::mt19937_64& random) {
    entries_.clear();
    for (const std::int32_t i : order_) {
        Bucket& bucket = buckets_[i];
        bucket.tables.clear();
        std::erase_if(bucket.scope, [&](std::int32_t j) { return buckets_[j].turn == kKept; });
        std::sort(bucket.scope.begin(), bucket.scope.end(),
                  [&](std::int32_t a, std::int32_t b) { return buckets_[a].turn < buckets_[b].turn; });
    }
    for (const std::int32_t i : order_) {
        collect(buckets_[i], labels);
        send(i);
    }
    for (auto i = order_.rbegin(); i != order_.rend(); ++i)
        labels[buckets_[*i].node] = best(buckets_[*i], labels, random);
}

}  // namespace gapcut::infer
