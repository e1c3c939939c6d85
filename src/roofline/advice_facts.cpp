#include "roofline/advice_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace gambrel::roofline_detail {
namespace {

using Known = std::optional<double>;
using RowFact = Known (*)(const Analysis&, const AnalysisRow&);
using WholeFact = Known (*)(const Analysis&);

template <class Amount>
Known value(const Amount& known) {
    return known ? Known(known->value.value()) : std::nullopt;
}

Known of_roof(const AnalysisRow& row, Level level, std::string_view use) {
    for (const auto& l : row.verdict.levels)
        if (l.level == level) return l.of_ceiling;
    const auto* share = gauge(row.kernel, use);
    return share ? Known(share->value) : std::nullopt;
}

Known most(std::initializer_list<Known> shares) {
    Known out;
    for (const Known share : shares)
        if (share) out = std::max(out.value_or(0), *share);
    return out;
}

Known dram_of_roof(const AnalysisRow& row) { return of_roof(row, Level::dram, "use_dram"); }
Known cache_of_roof(const AnalysisRow& row) {
    return most({of_roof(row, Level::l2, "use_l2"), of_roof(row, Level::l1, "use_l1")});
}

Known pipe_of_roof(const AnalysisRow& row, std::optional<Pipe> wanted) {
    Known out;
    for (const auto& p : row.verdict.pipes)
        if (!wanted || p.pipe == *wanted) out = std::max(out.value_or(0), p.of_ceiling);
    return out;
}

Known over_fp32(const Analysis& a, const AnalysisRow& row, Pipe pipe) {
    const Machine& m = a.machines.at(row.machine);
    const auto fast = compute_ceiling(m, pipe, row.verdict.clock, a.roofs);
    const auto fp32 = compute_ceiling(m, Pipe::fp32, row.verdict.clock, a.roofs);
    if (!fast || !fp32 || fp32->value.value() <= 0) return std::nullopt;
    return fast->value / fp32->value;
}

Known bytes_ratio(const AnalysisRow& row, Level above, Level below) {
    const auto over = value(row.kernel.bytes[above]), under = value(row.kernel.bytes[below]);
    return over && under && *under > 0 ? Known(*over / *under) : std::nullopt;
}

// By the types that a kernel's name holds: its tensors are FP16 or BF16 already, whatever pipe multiplies them.
bool has_half_operands(const std::string& name) {
    static const std::array<std::string_view, 7> kTypes = {"__half",        "c10::Half", "at::Half", "__nv_bfloat16",
                                                           "c10::BFloat16", "fp16",      "bf16"};
    return std::any_of(kTypes.begin(), kTypes.end(), [&](auto type) { return name.find(type) != std::string::npos; });
}

Seconds whole_time(const Analysis& a) {
    Seconds sum{};
    for (const auto& row : a.rows)
        if (row.kernel.time) sum += row.kernel.time->value;
    return sum;
}

const std::map<std::string, RowFact, std::less<>>& row_table() {
    static const std::map<std::string, RowFact, std::less<>> table = {
        {"time_s", [](const Analysis&, const AnalysisRow& r) { return value(r.kernel.time); }},
        {"launches",
         [](const Analysis&, const AnalysisRow& r) { return Known(static_cast<double>(r.kernel.launches)); }},
        {"zero_flop", [](const Analysis&, const AnalysisRow& r) { return Known(is_zero_flop(r.kernel) ? 1 : 0); }},
        {"of_roof", [](const Analysis&, const AnalysisRow& r) { return r.verdict.of_roof; }},
        {"headroom_s",
         [](const Analysis&, const AnalysisRow& r) {
             return r.verdict.headroom ? Known(std::max(0.0, r.verdict.headroom->value())) : std::nullopt;
         }},
        {"dram_of_roof", [](const Analysis&, const AnalysisRow& r) { return dram_of_roof(r); }},
        {"cache_of_roof", [](const Analysis&, const AnalysisRow& r) { return cache_of_roof(r); }},
        {"memory_of_roof",
         [](const Analysis&, const AnalysisRow& r) {
             return most({dram_of_roof(r), cache_of_roof(r)});
         }},
        {"compute_of_roof", [](const Analysis&, const AnalysisRow& r) { return pipe_of_roof(r, std::nullopt); }},
        {"fp32_of_roof", [](const Analysis&, const AnalysisRow& r) { return pipe_of_roof(r, Pipe::fp32); }},
        {"tensor_flop", [](const Analysis&, const AnalysisRow& r) { return value(tensor_flop(r.kernel)); }},
        {"fp32_share",
         [](const Analysis&, const AnalysisRow& r) {
             const auto all = value(flop(r.kernel)), fp32 = value(r.kernel.work[Pipe::fp32]);
             return all && fp32 && *all > 0 ? Known(*fp32 / *all) : std::nullopt;
         }},
        {"tf32_over_fp32", [](const Analysis& a, const AnalysisRow& r) { return over_fp32(a, r, Pipe::tensor_tf32); }},
        {"has_tf32",
         [](const Analysis& a, const AnalysisRow& r) {
             return Known(over_fp32(a, r, Pipe::tensor_tf32).value_or(0) > 0 ? 1 : 0);
         }},
        {"half_operands",
         [](const Analysis&, const AnalysisRow& r) { return Known(has_half_operands(r.kernel.name.str()) ? 1 : 0); }},
        {"fp16_over_fp32", [](const Analysis& a, const AnalysisRow& r) { return over_fp32(a, r, Pipe::tensor_fp16); }},
        {"dram_over_l2", [](const Analysis&, const AnalysisRow& r) { return bytes_ratio(r, Level::dram, Level::l2); }},
        {"dram_bytes_per_launch",
         [](const Analysis&, const AnalysisRow& r) {
             const auto bytes = value(r.kernel.bytes[Level::dram]);
             const auto launches = static_cast<double>(std::max<std::uint64_t>(1, r.kernel.launches));
             return bytes ? Known(*bytes / launches) : std::nullopt;
         }},
        {"l2_capacity_bytes",
         [](const Analysis& a, const AnalysisRow& r) {
             const auto* l2 = a.machines.at(r.machine).find(Level::l2);
             return l2 && l2->capacity ? Known(l2->capacity->value.value()) : std::nullopt;
         }},
        {"full_waves",
         [](const Analysis&, const AnalysisRow& r) {
             const auto* waves = gauge(r.kernel, "waves_per_sm");
             return waves ? Known(std::ceil(waves->value)) : std::nullopt;
         }},
        {"known_bytes_per_sector",
         [](const Analysis&, const AnalysisRow& r) { return Known(gauge(r.kernel, "load_bytes_per_sector") ? 1 : 0); }},
    };
    return table;
}

const std::map<std::string, WholeFact, std::less<>>& whole_table() {
    constexpr double kNanosecond = 1e-9;
    static const std::map<std::string, WholeFact, std::less<>> table = {
        {"whole_s", [](const Analysis& a) { return Known(whole_time(a).value()); }},
        {"run_tensor_flop",
         [](const Analysis& a) {
             double sum = 0;
             for (const auto& row : a.rows) sum += value(tensor_flop(row.kernel)).value_or(0);
             return Known(sum);
         }},
        {"wall_s",
         [](const Analysis& a) {
             return a.timeline ? Known(static_cast<double>(a.timeline->wall_ns) * kNanosecond) : std::nullopt;
         }},
        {"launch_bound_s",
         [](const Analysis& a) {
             return a.timeline ? Known(static_cast<double>(a.timeline->launch_bound_ns) * kNanosecond) : std::nullopt;
         }},
        {"mean_kernel_s",
         [](const Analysis& a) {
             const auto launches = static_cast<double>(a.total.launches);
             return launches > 0 ? Known(whole_time(a).value() / launches) : std::nullopt;
         }},
    };
    return table;
}

template <class Table>
std::vector<std::string> keys(const Table& table) {
    std::vector<std::string> out;
    for (const auto& [name, fact] : table) out.push_back(name);
    return out;
}

}  // namespace

Facts row_facts(const Analysis& analysis, const AnalysisRow& row) {
    return [&](std::string_view name) -> Known {
        if (const auto* reading = gauge(row.kernel, name)) return reading->value;
        const auto fact = row_table().find(name);
        return fact == row_table().end() ? std::nullopt : fact->second(analysis, row);
    };
}

Facts whole_facts(const Analysis& analysis) {
    return [&](std::string_view name) -> Known {
        const auto fact = whole_table().find(name);
        return fact == whole_table().end() ? std::nullopt : fact->second(analysis);
    };
}

std::vector<std::string> row_fact_names() { return keys(row_table()); }
std::vector<std::string> whole_fact_names() { return keys(whole_table()); }

}  // namespace gambrel::roofline_detail
