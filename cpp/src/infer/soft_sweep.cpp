#include "gapcut/infer/soft_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "gapcut/kernels.hpp"

namespace gapcut::infer {
namespace {

// Sums of weights below this may have lost the terms that matter to underflow, and are made again term by term.
constexpr double kLeastSum = 1e-200;

std::int64_t entries(const Packed& p, std::int64_t e) {
    return std::int64_t{p.labels[p.source[e]]} * p.labels[p.target[e]];
}

// out[l] = sum_k x[k] a[k, l]
void add_rows(const double* x, const double* a, std::int64_t rows, std::int64_t columns, double* out) {
    std::fill_n(out, columns, 0.0);
    kernels().add_rows(rows, columns, x, a, out);
}

// out[k] = sum_l x[l] a[k, l]
void add_columns(const double* x, const double* a, std::int64_t rows, std::int64_t columns, double* out) {
    for (std::int64_t k = 0; k < rows; ++k, a += columns) {
        double sum = 0.0;
        for (std::int64_t l = 0; l < columns; ++l) sum += x[l] * a[l];
        out[k] = sum;
    }
}

// The least entry of an edge's table, and the finite range above it.
std::pair<double, double> table_range(const Packed& p, std::int64_t e) {
    const double* t = p.tables.data() + p.table_at[e];
    double low = kInfinity, high = -kInfinity;
    for (std::int64_t i = 0; i < entries(p, e); ++i) {
        low = std::min(low, t[i]);
        if (t[i] < kInfinity) high = std::max(high, t[i]);
    }
    return {low, low < kInfinity ? high - low : 0.0};
}

}  // namespace

SoftSweep::SoftSweep(Packed& packed, std::int64_t first, std::int64_t last)
    : packed_(packed), first_edge_(packed.forward_at[first]), end_edge_(packed.forward_at[last]),
      table_base_(packed.table_at[first_edge_]) {
    const std::int64_t end = end_edge_;
    std::int64_t table_end = 0, sum_of_entries = 0;  // the component's tables lie between, whether shared or not
    for (std::int64_t e = first_edge_; e < end; ++e) {
        table_base_ = std::min(table_base_, packed.table_at[e]);
        table_end = std::max(table_end, packed.table_at[e] + entries(packed, e));
        sum_of_entries += entries(packed, e);
    }
    weights_.resize(table_end - table_base_);
    least_.resize(end - first_edge_);
    owns_.resize(end - first_edge_, 0);
    for (auto* v : {&own_, &sent_, &part_, &out_}) v->resize(packed.widest);
    std::size_t size = 0;
    std::unordered_map<std::int64_t, std::pair<double, double>> seen;  // least entry and range of the tables, by place
    const bool shares = table_end - table_base_ < sum_of_entries;
    for (std::int64_t e = first_edge_; e < end; ++e) {
        const auto known = shares ? seen.find(packed.table_at[e]) : seen.end();
        owns_[e - first_edge_] = known == seen.end();
        const auto [low, range] = known == seen.end() ? table_range(packed, e) : known->second;
        if (shares && known == seen.end()) seen.emplace(packed.table_at[e], std::pair(low, range));
        least_[e - first_edge_] = low;
        size += packed.labels[packed.target[e]];
        scale_ += range / static_cast<double>(end - first_edge_);
    }
    previous_.resize(size);
}

void SoftSweep::set_temperature(double t, std::int64_t from, std::int64_t to) {
    t_ = t;
    for (std::int64_t e = packed_.forward_at[from]; e < packed_.forward_at[to]; ++e) {
        if (!owns_[e - first_edge_]) continue;
        const double* table = packed_.tables.data() + packed_.table_at[e];
        double* weight = weights_.data() + (packed_.table_at[e] - table_base_);
        const double low = least_[e - first_edge_];
        for (std::int64_t i = 0; i < entries(packed_, e); ++i)
            weight[i] = table[i] == kInfinity ? 0.0 : std::exp((low - table[i]) / t);
    }
}

// own = gamma_i * (H_i - min H_i), where H_i is the unary and all messages into i; returns min H_i.
double SoftSweep::gather(std::int64_t i) {
    const std::int32_t labels = packed_.labels[i];
    std::copy_n(packed_.unary.data() + packed_.unary_at[i], labels, own_.data());
    const auto add = [&](std::int64_t e) {
        const double* message = packed_.messages.data() + packed_.message_at[e];
        for (std::int32_t k = 0; k < labels; ++k) own_[k] += message[k];
    };
    for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1]; ++e) add(e);
    for (std::int64_t q = packed_.backward_at[i]; q < packed_.backward_at[i + 1]; ++q) add(packed_.backward[q]);
    const double least = *std::min_element(own_.begin(), own_.begin() + labels);
    infeasible_ |= least == kInfinity;
    if (infeasible_) return 0.0;
    for (std::int32_t k = 0; k < labels; ++k) own_[k] = packed_.chain_weight[i] * (own_[k] - least);
    return least;
}

// Soft minimum of sent + table over one row or column, term by term.
double SoftSweep::exact(const double* table, std::int64_t step, std::int64_t count, double low) const {
    double least = kInfinity, sum = 0.0;
    for (std::int64_t k = 0; k < count; ++k) least = std::min(least, sent_[k] + (table[k * step] - low));
    if (least == kInfinity) return least;
    for (std::int64_t k = 0; k < count; ++k) sum += std::exp((least - (sent_[k] + (table[k * step] - low))) / t_);
    return least - t_ * std::log(sum);
}

// Replaces the message of edge e by the one from the node in own_ to the other end; returns the least entry it had.
double SoftSweep::send(std::int64_t e, std::int64_t own_labels, std::int64_t labels, bool own_rows) {
    double* message = packed_.messages.data() + packed_.message_at[e];
    const double* table = packed_.tables.data() + packed_.table_at[e];
    const double* weight = weights_.data() + (packed_.table_at[e] - table_base_);
    const double low = least_[e - first_edge_];
    double first = kInfinity;
    for (std::int64_t k = 0; k < own_labels; ++k) {
        sent_[k] = own_[k] == kInfinity ? kInfinity : own_[k] - message[k];
        first = std::min(first, sent_[k]);
    }
    for (std::int64_t k = 0; k < own_labels; ++k) {
        sent_[k] -= first;
        part_[k] = std::exp(-sent_[k] / t_);
    }
    if (own_rows)
        add_rows(part_.data(), weight, own_labels, labels, out_.data());
    else
        add_columns(part_.data(), weight, labels, own_labels, out_.data());
    double least = kInfinity;
    for (std::int64_t l = 0; l < labels; ++l) {
        if (out_[l] > kLeastSum)
            out_[l] = -t_ * std::log(out_[l]);
        else
            out_[l] = own_rows ? exact(table + l, labels, own_labels, low)
                               : exact(table + l * own_labels, 1, own_labels, low);
        least = std::min(least, out_[l]);
    }
    infeasible_ |= least == kInfinity;
    for (std::int64_t l = 0; l < labels; ++l) message[l] = infeasible_ ? kInfinity : out_[l] - least;
    return first + low + least;
}

void SoftSweep::backward(std::int64_t from, std::int64_t to) {
    for (std::int64_t i = to - 1; i >= from; --i) {
        gather(i);
        for (std::int64_t q = packed_.backward_at[i + 1] - 1; q >= packed_.backward_at[i] && !infeasible_; --q) {
            const std::int64_t e = packed_.backward[q];
            send(e, packed_.labels[i], packed_.labels[packed_.source[e]], false);
        }
    }
}

void SoftSweep::forward(std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
        value_ += gather(i);
        const std::int64_t later = packed_.forward_at[i + 1] - packed_.forward_at[i];
        const std::int64_t ends = packed_.backward_at[i + 1] - packed_.backward_at[i] - later;
        if (ends > 0 && !infeasible_) {  // the soft minima of the chains that end here
            double sum = 0.0;
            for (std::int32_t k = 0; k < packed_.labels[i]; ++k) sum += std::exp(-own_[k] / t_);
            value_ -= static_cast<double>(ends) * t_ * std::log(sum);
        }
        for (std::int64_t e = packed_.forward_at[i]; e < packed_.forward_at[i + 1] && !infeasible_; ++e)
            value_ += send(e, packed_.labels[i], packed_.labels[packed_.target[e]], true);
    }
}

template <class F>
void SoftSweep::each_message(F&& f) {
    std::size_t at = 0;
    for (std::int64_t e = first_edge_; e < end_edge_; ++e) {
        double* message = packed_.messages.data() + packed_.message_at[e];
        for (std::int32_t l = 0; l < packed_.labels[packed_.target[e]]; ++l) f(message[l], previous_[at++]);
    }
}

void SoftSweep::extrapolate(double factor) {
    each_message([&](double& message, double& noted) {
        const double now = message;
        if (now < kInfinity && noted < kInfinity) message += factor * (now - noted);
        noted = now;
    });
}

void SoftSweep::restore() {
    each_message([](double& message, double noted) { message = noted; });
}

}  // namespace gapcut::infer
