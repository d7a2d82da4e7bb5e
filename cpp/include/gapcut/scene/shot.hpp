// SHOT, signature of histograms of orientations (Tombari, Salti, Di Stefano, ECCV 2010), shape part: 32 cells of a ball
// around the point (8 azimuth sectors, 2 shells, 2 hemispheres), in each a histogram of 11 bins of the cosine between
// the neighbours' normals and the local z axis. Votes are interpolated as the Point Cloud Library 1.13 does it: the
// weights of the own bin add up over the four directions instead of multiplying.
#pragma once

#include <cstdint>
#include <span>

#include "gapcut/parallel.hpp"
#include "gapcut/scene/radius_grid.hpp"

namespace gapcut::scene {

inline constexpr int kShotSize = 352;
inline constexpr int kFrameSize = 9;

struct ShotSettings {
    // The cosine neighbour of bin 9 is bin 0 (as in PCL 1.13) instead of bin 10.
    bool wrap_cosine = false;
    int threads = 1;
};

// Describes the points `at` by the neighbours within the grid's radius. normals: 3 N values, N the grid's points.
// descriptors: at.size() rows of kShotSize, unit length; frames: at.size() rows of kFrameSize, the axes x, y, z. Rows
// are NaN where fewer than 5 neighbours lie apart from the point or all lie exactly at the radius (no frame), and the
// descriptor alone where no neighbour has a finite normal; neighbours with other normals than finite ones do not vote.
void shot(const RadiusGrid& grid, std::span<const float> normals, std::span<const std::int64_t> at,
          const ShotSettings& settings, std::span<float> descriptors, std::span<float> frames,
          const StopTest& stop = {});

}  // namespace gapcut::scene
