// Exact new labels of many nodes at once, given all others, by variable elimination (Bertele and Brioschi, Nonserial
// Dynamic Programming, 1972; Dechter, Bucket elimination, 1999); internal to infer.
//
// Nodes are eliminated one after the other, the one with the smallest table first. Where every table would be larger
// than allowed, a random node keeps its label instead (cutset conditioning, Pearl 1988).
#pragma once

#include <cstdint>
#include <queue>
#include <random>
#include <vector>

#include "links.hpp"

namespace gapcut::infer {

class Elimination {
  public:
    explicit Elimination(const Links& links) : links_(links), place_(links.size(), -1) {}

    // Plans the elimination of these nodes with tables of at most `most` entries.
    void plan(const std::vector<std::int32_t>& nodes, double most, std::mt19937_64& random);

    // Nodes of the plan that keep their labels.
    const std::vector<std::int32_t>& kept() const { return kept_; }

    // Sets the labels of all others to the best ones; ties are broken at random.
    void run(std::vector<std::int32_t>& labels, std::mt19937_64& random);

    double read() const { return read_; }  // table entries so far, about

  private:
    static constexpr std::int32_t kLive = -1, kKept = -2;

    // A table over nodes eliminated later, and the node at which it is added up, whose labels run fastest.
    struct Table {
        std::vector<std::int32_t> scope;  // ascending turns
        std::vector<std::int64_t> step;   // of every node in scope, then of the node itself
        std::size_t at;                   // in entries_
    };

    struct Bucket {
        std::int32_t node = 0, turn = kLive;  // turn: place in order_, or one of the marks above
        std::vector<std::int32_t> scope;      // live neighbours; then those eliminated later
        std::vector<Table> tables;
    };

    double size(std::int32_t i) const;
    void join_neighbours(std::int32_t i);
    void forget(std::int32_t i);
    void rank(std::int32_t i, std::mt19937_64& random);
    std::int32_t choose_kept(std::mt19937_64& random);
    void collect(Bucket& bucket, const std::vector<std::int32_t>& labels);
    void add_up(const Bucket& bucket, const Table& table);
    void send(std::int32_t i);
    std::int32_t best(const Bucket& bucket, const std::vector<std::int32_t>& labels, std::mt19937_64& random);

    struct Candidate {
        double size;
        std::uint64_t tie;
        std::int32_t bucket;
        bool operator<(const Candidate& other) const {
            return size != other.size ? size > other.size : tie > other.tie;
        }
    };

    const Links& links_;
    std::vector<std::int32_t> place_;  // bucket of a node, -1 outside
    std::vector<Bucket> buckets_;
    std::vector<std::int32_t> order_, live_, live_at_, kept_;
    std::priority_queue<Candidate> queue_;
    std::vector<double> entries_, joint_, cost_;
    double read_ = 0.0;
};

}  // namespace gapcut::infer
