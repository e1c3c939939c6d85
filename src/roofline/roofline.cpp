#include <gambrel/roofline.hpp>

#include <algorithm>

#include "roofline/diagnosis.hpp"
#include "roofline/limits.hpp"

namespace gambrel {
namespace {

// The peak that the profiler saw during the run beats the catalogue, unless the caller asked for another clock or kind.
template <class Peaks, class Key>
auto reported(const Peaks& peaks, Key matches, const RooflineOptions& options)
    -> std::optional<decltype(peaks.front().peak)> {
    if (!options.use_reported_peaks || options.clock || options.roofs == Roofs::measured) return std::nullopt;
    const auto it = std::find_if(peaks.begin(), peaks.end(), matches);
    if (it == peaks.end() || !(it->peak.value.value() > 0)) return std::nullopt;
    return it->peak;
}

std::optional<Ceiling<FlopRate>> pipe_ceiling(const Machine& m, const Kernel& k, Pipe pipe,
                                              std::optional<Frequency> clock, const RooflineOptions& options) {
    if (const auto peak = reported(
            k.pipe_peaks, [&](const auto& p) { return p.pipe == pipe; }, options))
        return Ceiling<FlopRate>{peak->value, Origin::derived, peak->rule.str()};
    return compute_ceiling(m, pipe, clock, options.roofs);
}

// Work in sparse mode runs at the sparse rate; a mix takes the time of its parts.
void use_sparse_rate(Ceiling<FlopRate>& dense, const Machine& m, Pipe pipe, std::optional<Frequency> clock,
                     double share) {
    const auto sparse = compute_ceiling(m, pipe, clock, Roofs::theoretical, true);
    if (!sparse || share <= 0) return;
    dense.value = FlopRate{1 / ((1 - share) / dense.value.value() + share / sparse->value.value())};
    dense.cite += ", sparse part at " + sparse->cite;
}

double sparse_share(const Kernel& k) {
    if (!k.sparse_work) return 0;
    double tensor = 0;
    for (const Pipe p : all_pipes())
        if (is_tensor(p) && k.work[p]) tensor += k.work[p]->value.value();
    return tensor > 0 ? std::min(1.0, k.sparse_work->value.value() / tensor) : 0;
}

void judge_pipes(const Machine& m, const Kernel& k, const RooflineOptions& options, Roofline& out) {
    const double sparse = sparse_share(k);
    for (const Pipe p : all_pipes()) {
        const auto& work = k.work[p];
        if (!work || work->value.value() <= 0) continue;
        auto ceiling = pipe_ceiling(m, k, p, out.clock, options);
        if (!ceiling) {
            out.findings.push_back(std::string(title(p)) + " work has no ceiling: " + m.name + " does not say its " +
                                   std::string(name(p)) + " rate");
            continue;
        }
        if (is_tensor(p)) use_sparse_rate(*ceiling, m, p, out.clock, sparse);
        PipeVerdict v;
        v.pipe = p;
        v.ceiling = ceiling->value;
        v.ceiling_origin = ceiling->origin;
        v.ceiling_cite = ceiling->cite;
        v.shortest = work->value / ceiling->value;
        if (k.time && k.time->value.value() > 0) {
            v.achieved = work->value / k.time->value;
            v.of_ceiling = v.achieved / v.ceiling;
        }
        out.pipes.push_back(std::move(v));
    }
}

void judge_levels(const Machine& m, const Kernel& k, const RooflineOptions& options, Roofline& out) {
    for (const Level l : all_levels()) {
        const auto& bytes = k.bytes[l];
        if (!bytes) continue;
        std::optional<Ceiling<Bandwidth>> ceiling = counter_ceiling(m, l, out.clock, options.roofs);
        if (const auto peak = reported(
                k.level_peaks, [&](const auto& p) { return p.level == l; }, options))
            ceiling = Ceiling<Bandwidth>{peak->value, Origin::derived, peak->rule.str()};
        if (!ceiling || ceiling->value.value() <= 0) {
            if (bytes->value.value() > 0)
                out.findings.push_back(std::string(name(l)) + " bytes have no ceiling: " + m.name +
                                       " does not say its " + std::string(name(l)) + " bandwidth");
            continue;
        }
        LevelVerdict v;
        v.level = l;
        v.ceiling = ceiling->value;
        v.ceiling_origin = ceiling->origin;
        v.ceiling_cite = ceiling->cite;
        v.intensity = intensity(k, l);
        v.shortest = bytes->value / ceiling->value;
        if (k.time && k.time->value.value() > 0) {
            v.achieved = bytes->value / k.time->value;
            v.of_ceiling = v.achieved / v.ceiling;
        }
        out.levels.push_back(std::move(v));
    }
}

}  // namespace

std::string to_text(Bound bound) {
    if (const auto* pipe = std::get_if<Pipe>(&bound)) return std::string(name(*pipe));
    if (const auto* level = std::get_if<Level>(&bound)) return std::string(name(*level));
    if (const auto* off = std::get_if<OffRoof>(&bound))
        return *off == OffRoof::latency ? "latency" : *off == OffRoof::occupancy ? "occupancy" : "SM";
    return "";
}

Roofline roofline(const Machine& machine, const Kernel& kernel, const RooflineOptions& options) {
    Roofline out;
    out.clock = options.clock;
    if (!out.clock && kernel.clock) out.clock = kernel.clock->value;
    if (!out.clock && machine.clocks.boost) out.clock = machine.clocks.boost->value;
    out.achieved = flop_rate(kernel);
    judge_pipes(machine, kernel, options, out);
    judge_levels(machine, kernel, options, out);

    Seconds longest_pipe{}, longest{};
    for (const auto& v : out.pipes) {
        if (!is_integer(v.pipe)) longest_pipe = std::max(longest_pipe, v.shortest);
        if (v.shortest > longest) longest = v.shortest, out.nearest = v.pipe;
    }
    for (const auto& v : out.levels)
        if (v.shortest > longest) longest = v.shortest, out.nearest = v.level;
    out.shortest = longest;

    const auto work = flop(kernel);
    if (work && longest_pipe.value() > 0) out.compute_roof = work->value / longest_pipe;
    for (auto& v : out.levels) {
        if (!v.intensity || v.intensity->value() <= 0) continue;
        v.roof = *v.intensity * v.ceiling;
        if (out.compute_roof) v.roof = std::min(*v.roof, *out.compute_roof);
    }
    const bool judged = !std::holds_alternative<std::monostate>(out.nearest);
    if (judged && kernel.time && kernel.time->value.value() > 0) {
        out.of_roof = out.shortest / kernel.time->value;
        out.headroom = kernel.time->value - out.shortest;
    }
    if (!work && !out.levels.empty())
        out.findings.emplace_back("work unknown: judged by its bytes alone, so it is at least that near to its roof");
    diagnose_above_roof(machine, kernel, out);
    settle_bound(machine, kernel, out);
    return out;
}

}  // namespace gambrel
