#include "gapcut/scene/shot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace gapcut::scene {
namespace {

constexpr int kBins = 11, kSectors = 8, kLeastNeighbours = 5;
constexpr double kPi = std::numbers::pi;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kBlock = 256;

using Vec3f = std::array<float, 3>;
struct Frame {
    Vec3f x, y, z;
};

Vec3f rounded(const Vec3& v) { return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}; }

float dot(const Vec3f& a, const Vec3f& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Describes one point after the other; holds scratch memory.
class Describer {
  public:
    Describer(const RadiusGrid& grid, std::span<const float> normals, bool wrap_cosine)
        : search_(grid), radius_(grid.radius()), normals_(normals), wrap_cosine_(wrap_cosine) {}

    void describe(std::int32_t point, float* descriptor, float* frame) {
        near_.clear();
        for (const Neighbour& n : search_.around(point))
            if (n.squared > 0.0) near_.push_back(n);
        Frame f;
        if (!find_frame(f)) {
            std::fill_n(frame, kFrameSize, kNaN);
            std::fill_n(descriptor, kShotSize, kNaN);
            return;
        }
        std::copy_n(f.x.begin(), 3, frame);
        std::copy_n(f.y.begin(), 3, frame + 3);
        std::copy_n(f.z.begin(), 3, frame + 6);
        std::fill_n(descriptor, kShotSize, 0.0f);
        for (const Neighbour& n : near_) vote(n, f, descriptor);
        normalise(descriptor);
    }

  private:
    bool find_frame(Frame& frame) {
        if (near_.size() < kLeastNeighbours) return false;
        Scatter scatter;
        double total = 0.0;
        for (const Neighbour& n : near_) {
            const double weight = std::max(0.0, radius_ - std::sqrt(n.squared));
            scatter.add(n.offset, weight);
            total += weight;
        }
        if (!(total > 0.0)) return false;
        const Eigen3 e = eigen(scatter);
        sorted_ = false;
        frame.x = rounded(towards_most(e.vectors[2]));
        frame.z = rounded(towards_most(e.vectors[0]));
        const Vec3f &x = frame.x, &z = frame.z;
        frame.y = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
        return true;
    }

    // The axis turned to the side where at least half of the neighbours are; a tie is settled by the five whose
    // distance is about the median.
    Vec3 towards_most(const Vec3& axis) {
        const std::int64_t n = static_cast<std::int64_t>(near_.size());
        std::int64_t ahead = 0;
        for (const Neighbour& v : near_) ahead += scene::dot(v.offset, axis) >= 0.0;
        bool turn = 2 * ahead < n;
        if (2 * ahead == n) {
            sort_by_distance();
            int above = 0;
            for (std::int64_t i = n / 2 - 2; i <= n / 2 + 2; ++i) above += scene::dot(near_[i].offset, axis) > 0.0;
            turn = above < 3;
        }
        return turn ? Vec3{-axis[0], -axis[1], -axis[2]} : axis;
    }

    void sort_by_distance() {
        if (sorted_) return;
        sorted_ = true;
        std::sort(near_.begin(), near_.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.squared != b.squared ? a.squared < b.squared : a.index < b.index;
        });
    }

    void vote(const Neighbour& n, const Frame& frame, float* bins) const {
        const float* raw = normals_.data() + 3 * static_cast<std::int64_t>(n.index);
        const Vec3f normal{raw[0], raw[1], raw[2]}, offset = rounded(n.offset);
        if (!std::isfinite(normal[0] + normal[1] + normal[2])) return;
        const double x = dot(offset, frame.x) + 0.0f, y = dot(offset, frame.y) + 0.0f, z = dot(offset, frame.z);
        const double distance = std::sqrt(n.squared);

        // Position in units of bins on each direction.
        const double cosine = (1.0 + std::clamp<double>(dot(normal, frame.z), -1.0, 1.0)) * ((kBins - 1) / 2.0);
        const bool on_axis = x == 0.0 && y == 0.0;
        const double azimuth = on_axis ? 0.0 : (std::atan2(y, x) + kPi) / (2.0 * kPi / kSectors);
        const double shell = distance / (radius_ / 2.0);  // centres 0.5 and 1.5
        const double inclination = std::acos(std::clamp(z / distance, -1.0, 1.0)) / (kPi / 2.0);

        const int step = static_cast<int>(std::floor(cosine + 0.5));
        const int sector = std::min(kSectors - 1, static_cast<int>(azimuth));
        const int outer = shell > 1.0, upper = z > 0.0;
        const auto bin = [&](int s, int o, int u) { return bins + (4 * s + 2 * o + u) * kBins + step; };
        float* const own = bin(sector, outer, upper);

        const double across = cosine - step;
        double weight = 1.0 - std::abs(across);
        if (across != 0.0) {
            int other = step + (across > 0.0 ? 1 : -1);
            if (wrap_cosine_) other = (other + kBins - 1) % (kBins - 1);
            own[other - step] += static_cast<float>(std::abs(across));
        }
        const double radial = shell - (outer + 0.5);
        weight += 1.0 - std::abs(radial);
        if (outer ? radial < 0.0 : radial > 0.0) *bin(sector, 1 - outer, upper) += static_cast<float>(std::abs(radial));

        const double tilt = inclination - (upper ? 0.5 : 1.5);
        weight += 1.0 - std::abs(tilt);
        if (upper ? tilt > 0.0 : tilt < 0.0) *bin(sector, outer, 1 - upper) += static_cast<float>(std::abs(tilt));

        if (!on_axis) {
            const double turn = std::clamp(azimuth - sector - 0.5, -0.5, 0.5);
            weight += 1.0 - std::abs(turn);
            const int other = (sector + (turn > 0.0 ? 1 : kSectors - 1)) % kSectors;
            *bin(other, outer, upper) += static_cast<float>(std::abs(turn));
        }
        *own += static_cast<float>(weight);
    }

    static void normalise(float* bins) {
        double sum = 0.0;
        for (int i = 0; i < kShotSize; ++i) sum += static_cast<double>(bins[i]) * bins[i];
        const float scale = sum > 0.0 ? static_cast<float>(1.0 / std::sqrt(sum)) : kNaN;
        for (int i = 0; i < kShotSize; ++i) bins[i] *= scale;
    }

    RadiusSearch search_;
    double radius_;
    std::span<const float> normals_;
    bool wrap_cosine_;
    bool sorted_ = false;
    std::vector<Neighbour> near_;
};

}  // namespace

void shot(const RadiusGrid& grid, std::span<const float> normals, std::span<const std::int64_t> at,
          const ShotSettings& settings, std::span<float> descriptors, std::span<float> frames, const StopTest& stop) {
    if (static_cast<std::int64_t>(normals.size()) != 3 * grid.n_points())
        throw std::invalid_argument("normals must have one row a point");
    if (descriptors.size() != at.size() * kShotSize || frames.size() != at.size() * kFrameSize)
        throw std::invalid_argument("room for descriptors and frames must match the number of points asked for");
    const std::vector<std::int64_t> order = grid.by_cube(at);
    const std::int64_t n = static_cast<std::int64_t>(at.size());
    std::vector<Describer> workers(static_cast<std::size_t>(std::max(1, settings.threads)),
                                   Describer(grid, normals, settings.wrap_cosine));
    parallel_for((n + kBlock - 1) / kBlock, settings.threads,
                 [&](std::int64_t block, int worker) {
                     for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
                         const std::int64_t row = order[i];
                         workers[worker].describe(static_cast<std::int32_t>(at[row]),
                                                  descriptors.data() + row * kShotSize,
                                                  frames.data() + row * kFrameSize);
                     }
                 },
                 stop);
}

}  // namespace gapcut::scene
