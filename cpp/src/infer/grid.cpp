#include "gapcut/infer/grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "gapcut/kernels.hpp"

namespace gapcut::infer {
namespace {

constexpr int kJudgeInterval = 8;  // sweeps between two bounds; they cost about as much as one

// Memory of zeros that the system only provides where it is touched.
struct Free {
    void operator()(float* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float, Free>;
Floats zeros(std::int64_t size) {
    Floats out(static_cast<float*>(std::calloc(static_cast<std::size_t>(size), sizeof(float))));
    if (!out) throw std::bad_alloc();
    return out;
}

// Sets kind, step and top.
void classify(GridPlan& plan) {
    const std::int64_t n = plan.grid.labels;
    const double* table = plan.grid.table;
    plan.step = table[1];
    plan.top = *std::max_element(table, table + n * n);
    bool potts = true, linear = true;
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t l = 0; l < n; ++l) {
            const double x = table[k * n + l];
            potts &= x == (k == l ? 0.0 : plan.top);
            linear &= x == std::min(plan.step * static_cast<double>(std::abs(k - l)), plan.top);
        }
    plan.kind = potts ? GridTable::potts : linear ? GridTable::linear : GridTable::general;
}

class Solver {
  public:
    Solver(const GridView& grid, const TrwsSettings& settings, const StopTest& stop)
        : settings_(settings), stop_(stop) {
        plan_.grid = grid;
        classify(plan_);
        plan_.bands = (grid.height + kGridRows - 1) / kGridRows;
        plan_.steps = grid.width + kGridRows - 1;
        const std::int64_t plane = plan_.bands * (plan_.steps + 1) * plan_.labels16(), n = grid.labels;
        right_ = zeros(plane);
        down_ = zeros(plane + kGridRows);  // the first step's row -1 lies before
        borders_ = zeros((plan_.bands - 1) * grid.width * n);
        scratch_ = zeros(2 * plan_.labels16());
        plan_.right = right_.get(), plan_.down = down_.get() + kGridRows, plan_.borders = borders_.get();
        plan_.scratch = scratch_.get();
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t l = 0; l < n; ++l) by_receiver_[0].push_back(static_cast<float>(grid.table[k * n + l]));
        for (std::int64_t l = 0; l < n; ++l)
            for (std::int64_t k = 0; k < n; ++k) by_receiver_[1].push_back(static_cast<float>(grid.table[k * n + l]));
        for (int i = 0; i < 2; ++i) plan_.by_receiver[i] = by_receiver_[i].data();
        found_.labels = grid_unary_labels(grid);
        found_.bound = grid_independent_bound(grid);
        energy_ = grid_energy(grid, found_.labels);
    }

    TrwsResult solve(const TrwsListener& listener) {
        bool open = !closed();
        for (int next = 1; open && found_.sweeps < settings_.max_sweeps;) {
            const bool judged = found_.sweeps + 1 >= std::min(next, settings_.max_sweeps);
            if (!sweep(judged)) break;
            if (!judged) continue;
            next = found_.sweeps + std::min(found_.sweeps, kJudgeInterval);
            history_.push_back({found_.sweeps, found_.bound, energy_});
            open = !closed() && !stalled();
            if (listener && open) listener(found_);
        }
        return std::move(found_);
    }

  private:
    struct Moment {
        int sweeps;
        double bound, energy;
    };

    // f(band) on all bands, the last first if `backward`; false if stop() struck.
    template <class F>
    bool each_band(bool backward, F&& f) {
        for (std::int64_t i = 0; i < plan_.bands; ++i) {
            if (stop_ && stop_()) return found_.stopped = true, false;
            f(backward ? plan_.bands - 1 - i : i);
        }
        return true;
    }

    // Backward, a look at what that proves if `judged`, forward; false if stop() struck.
    bool sweep(bool judged) {
        if (!each_band(true, [&](std::int64_t band) { kernels().grid_backward(plan_, band); })) return false;
        if (judged && !judge()) return false;
        if (!each_band(false, [&](std::int64_t band) { kernels().grid_forward(plan_, band); })) return false;
        ++found_.sweeps;
        return true;
    }

    bool judge() {
        const std::int64_t n = plan_.grid.labels, padded = n * (kGridRows + 1);
        std::vector<double> memory(static_cast<std::size_t>(plan_.grid.width * n + 5 * padded), 0.0);
        std::vector<std::int32_t> labels(found_.labels.size());
        double* at = memory.data() + plan_.grid.width * n;
        GridJudge judge{{},           memory.data(), at, at + padded, at + 2 * padded, at + 3 * padded, at + 4 * padded,
                        labels.data()};
        if (!each_band(false, [&](std::int64_t band) { kernels().grid_judge(plan_, judge, band); })) return false;
        found_.bound = std::max(found_.bound, judge.bound.value());
        take_better_regions(plan_.grid, found_.labels, std::move(labels));
        energy_ = grid_energy(plan_.grid, found_.labels);
        return true;
    }

    // Terms are not negative where methods see them, so the energy is the sum of their magnitudes.
    bool closed() const { return energy_ - found_.bound <= settings_.tolerance * std::abs(energy_); }

    bool stalled() const {
        const auto old = std::find_if(history_.rbegin(), history_.rend(),
                                      [&](const Moment& m) { return m.sweeps + settings_.patience <= found_.sweeps; });
        if (old == history_.rend()) return false;
        return std::max(found_.bound - old->bound, old->energy - energy_) <=
               settings_.least_progress * (energy_ - found_.bound);
    }

    TrwsSettings settings_;
    const StopTest& stop_;
    GridPlan plan_{};
    Floats right_, down_, borders_, scratch_;
    std::vector<float> by_receiver_[2];
    std::vector<Moment> history_;
    double energy_ = kInfinity;
    TrwsResult found_{};
};

}  // namespace

TrwsResult grid_trws(const GridView& grid, const TrwsSettings& settings, const StopTest& stop,
                     const TrwsListener& listener) {
    return Solver(grid, settings, stop).solve(listener);
}

}  // namespace gapcut::infer
