// The energy that solvers of several topics take.
#pragma once

#include "arrays.hpp"
#include "gapcut/infer/energy.hpp"

namespace gapcut::bindings {

// Keeps the arrays alive that the view looks at.
struct PairwiseEnergy {
    In1<std::int32_t> labels;
    In1<std::int64_t> unary_at;
    In1<double> unary;
    In1<std::int32_t> tail, head;
    In1<std::int64_t> table_at;
    In1<double> tables;
    infer::EnergyView view;

    PairwiseEnergy(In1<std::int32_t> labels_, In1<std::int64_t> unary_at_, In1<double> unary_, In1<std::int32_t> tail_,
                   In1<std::int32_t> head_, In1<std::int64_t> table_at_, In1<double> tables_)
        : labels(std::move(labels_)), unary_at(std::move(unary_at_)), unary(std::move(unary_)), tail(std::move(tail_)),
          head(std::move(head_)), table_at(std::move(table_at_)), tables(std::move(tables_)) {
        view = {span(labels), span(unary_at), span(unary), span(tail), span(head), span(table_at), span(tables)};
        infer::check(view);
    }
};

}  // namespace gapcut::bindings
