// The labels of the primal-dual iteration: scores of every node, the step of z, and the gradient of the unary weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "edge_phase.hpp"
#include "gapcut/learn/metric.hpp"
#include "gapcut/problem.hpp"

namespace gapcut {

class NodePhase {
  public:
    static constexpr std::int64_t kShards = 16;

    // loss_scale divides every loss. simplex: the labels of a node add up to 1; otherwise each is in [0, 1].
    NodePhase(const Problem& problem, double loss_scale, bool simplex);

    // Nothing where the features are sparse.
    FloatRows rows() const { return rows_.empty() ? FloatRows{} : FloatRows{rows_.data(), width_}; }
    const std::vector<float>& z() const { return z_; }                 // (K, N)
    const std::vector<float>& z_rows() const { return z_rows_; }       // the same as rows of nodes, for the edges
    const std::vector<float>& z_step() const { return z_step_; }       // (K, N) z~, before over-relaxation
    void set_labels(std::vector<float> z, std::vector<float> z_step);  // from a snapshot
    // Steps sigma / kappa_k * inverse degree of the node.
    void set_sigma(double sigma, std::span<const double> kappa);
    void set_weights(std::span<const double> unary);  // (K, Dn)

    // Gradient of the labels as they are, without a step.
    void compute_gradient(std::int64_t shard);
    void step(std::int64_t shard, float relax, const EdgePhase& edges);

    void gradient(std::vector<double>& sum) const;  // (K, Dn) sum_u z_uk phi_u
    double residual() const;

    // sum_uk (z_uk - y_uk)^2 / sigma_uk: squared distance from the truth, where z began, in the metric.
    double squared_distance() const;

  private:
    struct Shard {
        std::int64_t begin = 0, end = 0;
        std::vector<float> score, row, sums;
        std::vector<double> gradient;
        double residual = 0.0;
    };

    void move(Shard& s, std::int64_t begin, std::int64_t n, float relax);
    void scores(Shard& s, std::int64_t begin, std::int64_t n) const;
    void add_gradient(Shard& s, std::int64_t begin, std::int64_t n) const;
    void copy_rows(std::int64_t begin, std::int64_t end);

    static constexpr std::int64_t kChunk = 256;

    const Problem& problem_;
    bool simplex_;
    std::int64_t width_, label_width_;
    std::vector<float> rows_;        // (N, width); empty where the features are sparse
    std::vector<float> by_feature_;  // (Dn, label_width)
    std::vector<double> inverse_degree_;
    std::vector<float> loss_, costs_, z_, z_rows_, z_step_, sigma_;
    std::vector<Shard> shards_;
};

}  // namespace gapcut
