// The fitted numbers of grouped GEMMs: data/model/experts.json, which says what each stands for.
#pragma once

#include <string_view>

#include <gambrel/machine.hpp>

namespace gambrel::delta_detail {

struct ExpertCosts {
    double reach, narrow, memory, blend, floor, gather, scatter, rate;
};
// `kind`: "bf16", "fp8", "fp8_tensor", "int4"; where an architecture has none of it, its bf16.
const ExpertCosts& expert_costs(const Architecture& architecture, std::string_view kind);

}  // namespace gambrel::delta_detail
