// Scaling answers between any two GPUs: the ratio of the times of one shape, measured, by the model and by a Roofline.
#include "explore/measured_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>
#include <gambrel/explore.hpp>

namespace gambrel {

namespace explore_detail {

std::string shape_of(const Layer& layer) {
    if (const auto* v = std::get_if<Convolution>(&layer.op))
        return fmt::format("conv {}x{}x{}x{} {}x{}x{} pad {},{} stride {},{} dilation {},{} groups {}", v->n, v->c,
                           v->h, v->w, v->k, v->r, v->s, v->pad_top, v->pad_left, v->stride_h, v->stride_w,
                           v->dilation_h, v->dilation_w, v->groups);
    if (const auto* g = std::get_if<Gemm>(&layer.op))
        return fmt::format("gemm {}x{}x{} batch {}{}{}", g->m, g->n, g->k, g->batch, g->a_transposed ? " At" : "",
                           g->b_transposed ? " Bt" : "");
    return {};
}

double measured_time(const LayerTable& table, const LayerRow& row) {
    constexpr std::array<std::pair<std::string_view, double>, 4> kColumns = {
        {{"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_s", 1}, {"latency_ms_median", 1e-3}}};
    for (const auto& [column, unit] : kColumns) {
        const auto it = std::find(table.columns.begin(), table.columns.end(), column);
        const auto at = static_cast<std::size_t>(it - table.columns.begin());
        if (at >= row.cells.size()) continue;
        double value = 0;
        const std::string& text = row.cells[at];
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault == std::errc{} && value > 0) return value * unit;
    }
    return 0;
}

}  // namespace explore_detail

namespace {

struct TimedShape {
    double measured = 0, predicted = 0, roofline = 0;  // s
    double place = 0;  // of a framework's call, among those of its GPU: first 0, second 1, ...
    bool of_framework = false;
};
using Shapes = std::map<std::string, TimedShape>;

// The longer of FLOP at the peak and compulsory bytes at the peak.
double roofline_time(const Layer& layer, const Estimate& e) {
    const auto compute = compute_ceiling(e.on->machine, e.mapping.pipe);
    const auto memory = memory_ceiling(e.on->machine, Level::dram);
    const OperandBytes once = compulsory_bytes(layer);
    Seconds longest;
    if (compute) longest = flop(layer) / compute->value;
    if (memory) longest = std::max(longest, (once.input + once.filter + once.output + once.bias) / memory->value);
    return longest.value();
}

// Two versions of a library may run different kernels for one shape: their ratio is not that of two GPUs.
std::string_view library_version(const LayerTable& table, const LayerRow& row) {
    for (const std::string_view column : {"cudnn", "version"}) {
        const auto it = std::find(table.columns.begin(), table.columns.end(), column);
        const auto at = static_cast<std::size_t>(it - table.columns.begin());
        if (at < row.cells.size()) return row.cells[at];
    }
    return {};
}

std::string kind_of(const Layer& layer) {
    return fmt::format("{} {}", std::holds_alternative<Gemm>(layer.op) ? "gemm" : "conv", name(layer.precision));
}

// `calls` is the number of a framework's calls on this GPU.
void add_host_drift(double calls, Shapes& shapes) {
    std::vector<TimedCall> timed;
    const double last = std::max(1.0, calls - 1);
    for (const auto& [key, s] : shapes)
        if (s.of_framework) timed.push_back({s.place / last, Seconds{s.measured}, Seconds{s.predicted}});
    const auto drift = host_drift(timed);
    if (!drift) return;
    for (auto& [key, s] : shapes)
        if (s.of_framework) s.predicted += drift->at(s.place / last).value();
}

}  // namespace

std::vector<GpuPair> gpu_pairs(const LayerTable& table, double min_time, bool host_drift) {
    Estimator estimator{EstimatorOptions{}};
    std::map<std::string, std::map<std::string, Shapes>> by_kind;  // kind, GPU, shape
    std::map<std::pair<std::string, std::string>, double> calls;  // of a framework, by kind and GPU as the table has it
    std::map<std::pair<std::string, std::string>, const double*> of_gpu;  // of these, by kind and GPU of the catalogue
    for (const LayerRow& row : table.rows) {
        if (row.layers.size() != 1) continue;
        const Layer& layer = row.layers.front();
        const std::string shape = explore_detail::shape_of(layer);
        const double time = explore_detail::measured_time(table, row);
        const bool of_framework = timing_of(layer.hints) == Timing::framework;
        double& before = calls[{kind_of(layer), layer.hints.gpu}];
        const double place = of_framework ? before++ : 0;
        if (shape.empty() || layer.hints.gpu.empty() || time <= 0 || time < min_time) continue;
        const auto e = estimator(layer);
        if (!e || !e->kernel.time) continue;
        // The same algorithm, pass and version of the library on both sides.
        const std::string key =
            fmt::format("{} {} {} {}", shape, layer.hints.algorithm, name(layer.pass), library_version(table, row));
        by_kind[kind_of(layer)][e->on->machine.id].try_emplace(
            key, TimedShape{time, e->kernel.time->value.value(), roofline_time(layer, *e), place, of_framework});
        of_gpu[{kind_of(layer), e->on->machine.id}] = &before;
    }
    if (host_drift)
        for (auto& [kind, gpus] : by_kind)
            for (auto& [gpu, shapes] : gpus) add_host_drift(*of_gpu[{kind, gpu}], shapes);
    std::vector<GpuPair> pairs;
    for (const auto& [kind, gpus] : by_kind)
        for (auto from = gpus.begin(); from != gpus.end(); ++from)
            for (auto to = std::next(from); to != gpus.end(); ++to) {
                GpuPair pair{from->first, to->first, kind};
                for (const auto& [shape, a] : from->second) {
                    const auto found = to->second.find(shape);
                    if (found == to->second.end()) continue;
                    const TimedShape& b = found->second;
                    const double measured = a.measured / b.measured;
                    ++pair.rows;
                    pair.error += std::abs(a.predicted / b.predicted / measured - 1);
                    pair.roofline_error += std::abs(a.roofline / b.roofline / measured - 1);
                }
                if (pair.rows < kFewestShared) continue;
                pair.error /= static_cast<double>(pair.rows);
                pair.roofline_error /= static_cast<double>(pair.rows);
                pairs.push_back(pair);
            }
    return pairs;
}

}  // namespace gambrel
