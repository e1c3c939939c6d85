#include "roofline/limits.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel {
namespace {

struct VerdictConstants {
    double near_roof = 0, low_occupancy = 0;
};

const VerdictConstants& verdict_constants() {
    static const VerdictConstants constants = [] {
        for (const auto& [name, text] : embedded("advice"))
            if (name == "verdict") {
                const auto table = nlohmann::json::parse(text).at("constants");
                return VerdictConstants{table.at("near_roof").at("value"), table.at("low_occupancy").at("value")};
            }
        throw std::logic_error("data/advice/verdict.json is not in the binary");
    }();
    return constants;
}

// A unit of which the profiler says how busy it was.
struct Use {
    Bound unit;
    std::string_view gauge, title;
};
const std::array<Use, 4> kUses = {{{Level::dram, "use_dram", "DRAM"},
                                   {Level::l2, "use_l2", "L2"},
                                   {Level::l1, "use_l1", "L1/TEX"},
                                   {OffRoof::sm, "use_sm", "SM"}}};

bool judged(const Roofline& v, Level level) {
    return std::any_of(v.levels.begin(), v.levels.end(), [&](const auto& l) { return l.level == level; });
}

// Whether the counters already say what the gauge would.
bool counted(const Kernel& k, const Roofline& v, const Use& use) {
    if (const auto* level = std::get_if<Level>(&use.unit)) return judged(v, *level);
    return flop(k).has_value();
}

std::string by_profiler_text(const Use& use, double share) {
    return fmt::format("by Nsight Compute's own percentages: {} {:.0f} %", use.title, 100 * share);
}

// Units that nobody counted are judged by the profiler's percentages, if it stored any.
void use_percentages(const Kernel& k, Roofline& out) {
    for (const Use& use : kUses) {
        const auto* share = gauge(k, use.gauge);
        if (!share || counted(k, out, use) || share->value <= out.of_roof.value_or(0) || !k.time) continue;
        out.nearest = use.unit;
        out.by_profiler = true;
        out.of_roof = share->value;
        out.shortest = share->value * k.time->value;
        out.headroom = k.time->value - out.shortest;
        out.why = by_profiler_text(use, share->value);
    }
}

// No roof can be called far as long as one is unknown.
bool knows_every_roof(const Kernel& k, const Roofline& v) {
    const bool dram = judged(v, Level::dram) || gauge(k, "use_dram");
    const bool cache = judged(v, Level::l2) || judged(v, Level::l1) || gauge(k, "use_l2") || gauge(k, "use_l1");
    return (flop(k) || gauge(k, "use_sm")) && dram && cache;
}

const Use* busiest(const Kernel& k) {
    const Use* most = nullptr;
    for (const Use& use : kUses)
        if (const auto* share = gauge(k, use.gauge))
            if (!most || share->value > gauge(k, most->gauge)->value) most = &use;
    return most;
}

std::string occupancy_limit(const Kernel& k) {
    struct Resource {
        std::string_view gauge;
        std::string text;
    };
    const auto reading = [&](std::string_view name) { return gauge(k, name) ? gauge(k, name)->value : 0; };
    const std::array<Resource, 4> resources = {
        {{"limit_registers", fmt::format("{:.0f} registers a thread", reading("registers_per_thread"))},
         {"limit_shared", fmt::format("{:.1f} KiB of shared memory a block", reading("shared_bytes_per_block") / 1024)},
         {"limit_warps", "the size of its blocks"},
         {"limit_blocks", "its number of blocks on an SM"}}};
    const Resource* least = nullptr;
    for (const Resource& r : resources)
        if (const auto* blocks = gauge(k, r.gauge))
            if (!least || blocks->value < gauge(k, least->gauge)->value) least = &r;
    return least ? ": limited by " + least->text : "";
}

// "0.4 waves", "12 % occupancy: limited by 168 registers a thread"; empty where the launch fills the GPU.
std::vector<std::string> empty_places(const Machine& m, const Kernel& k) {
    std::vector<std::string> out;
    if (const auto* waves = gauge(k, "waves_per_sm"); waves && waves->value < 1)
        out.push_back(fmt::format("{:.2g} waves: the grid does not fill the GPU", waves->value));
    else if (!waves && k.shape && m.sm.sms && k.shape->ctas() < static_cast<double>(m.sm.sms->value))
        out.push_back(fmt::format("{:.0f} blocks for {} SMs", k.shape->ctas(), m.sm.sms->value));
    const auto* achieved = gauge(k, "achieved_occupancy");
    const auto* possible = gauge(k, "theoretical_occupancy");
    const double low = verdict_constants().low_occupancy;
    if (possible && possible->value < low)
        out.push_back(fmt::format("{:.0f} % occupancy is possible{}", 100 * possible->value, occupancy_limit(k)));
    else if (achieved && achieved->value < low)
        out.push_back(possible ? fmt::format("{:.0f} % occupancy, where {:.0f} % is possible", 100 * achieved->value,
                                             100 * possible->value)
                               : fmt::format("{:.0f} % occupancy", 100 * achieved->value));
    return out;
}

// What else is known of a kernel that waits.
std::vector<std::string> known_of_wait(const Kernel& k) {
    std::vector<std::string> out;
    const auto* achieved = gauge(k, "achieved_occupancy");
    if (achieved) out.push_back(fmt::format("{:.0f} % occupancy", 100 * achieved->value));
    const Kernel::Gauge* longest = nullptr;
    double all = 0;
    for (const auto& g : k.gauges) {
        if (!g.name.str().starts_with("stall_")) continue;
        all += g.reading.value;
        if (!longest || g.reading.value > longest->reading.value) longest = &g;
    }
    if (longest && longest->reading.value > 0) {
        std::string reason = longest->name.str().substr(6);
        std::replace(reason.begin(), reason.end(), '_', ' ');
        out.push_back(fmt::format("{:.0f} % of the stalls: {}", 100 * longest->reading.value / all, reason));
    }
    return out;
}

}  // namespace

double near_roof() { return verdict_constants().near_roof; }

void settle_bound(const Machine& machine, const Kernel& kernel, Roofline& out) {
    use_percentages(kernel, out);
    out.bound = out.nearest;
    const double near = near_roof();
    if (!out.of_roof || *out.of_roof >= near || !knows_every_roof(kernel, out)) return;
    if (const Use* use = busiest(kernel); use && gauge(kernel, use->gauge)->value >= near) {
        out.bound = use->unit;
        out.why = by_profiler_text(*use, gauge(kernel, use->gauge)->value);
        return;
    }
    const auto empty = empty_places(machine, kernel);
    out.bound = empty.empty() ? OffRoof::latency : OffRoof::occupancy;
    const auto known = empty.empty() ? known_of_wait(kernel) : empty;
    out.why = fmt::format("under {:.0f} % of every roof", 100 * near);
    if (!known.empty()) out.why += fmt::format("; {}", fmt::join(known, "; "));
    if (out.by_profiler) out.why += "; by Nsight Compute's own percentages";
}

}  // namespace gambrel
