// Relaxed labels and label pairs that come from Python.
#pragma once

#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "gapcut/problem.hpp"

namespace gapcut::bindings {

inline void check_unit(const In2<float>& x, const char* what) {
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(x.data()[i] >= 0.0F && x.data()[i] <= 1.0F))
            throw std::invalid_argument(std::string(what) + " must lie in [0, 1]");
}

inline std::span<const float> labels_of(const Problem& p, const In2<float>& z) {
    if (static_cast<std::int64_t>(z.shape(0)) != p.nodes.rows() || static_cast<std::int64_t>(z.shape(1)) != p.n_labels)
        throw std::invalid_argument("relaxed labels must be (nodes, labels)");
    check_unit(z, "relaxed labels");
    return {z.data(), z.size()};
}

}  // namespace gapcut::bindings
