#include "measure/roofs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr double kShortfall = 0.05;  // what noise may take from an inner level
constexpr double kUnsteady = 0.05;   // width of the 95 % interval
constexpr double kDoubtful = 0.1;    // how far a median may lie from the best sample or from theory

bool is_level_load(const MeasuredCeiling& c) {
    return !c.fault && c.kind == CeilingKind::bandwidth && c.action == ProbeAction::load && c.level &&
           *c.level != Level::shared;
}

// The fastest of those further out; null if none is faster.
const MeasuredCeiling* faster_outer(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    if (!is_level_load(c)) return nullptr;
    const MeasuredCeiling* best = nullptr;
    for (const MeasuredCeiling& other : all)
        if (is_level_load(other) && other.units == c.units && *other.level > *c.level &&
            other.value.median > (best ? best->value.median : c.value.median))
            best = &other;
    return best;
}

// The fastest run of the same probe on fewer units; null if none is faster.
const MeasuredCeiling* faster_alone(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    if (c.fault || !is_rate(c.kind)) return nullptr;
    const MeasuredCeiling* best = nullptr;
    for (const MeasuredCeiling& other : all)
        if (!other.fault && other.kind == c.kind && other.action == c.action && other.pipe == c.pipe &&
            other.level == c.level && other.units < c.units &&
            other.value.median > (best ? best->value.median : c.value.median))
            best = &other;
    return best;
}

std::string rate_text(const MeasuredCeiling& c) {
    return c.kind == CeilingKind::compute ? to_text(FlopRate{c.value.median}, 3)
                                          : to_text(Bandwidth{c.value.median}, 3);
}

// What passes a cache is judged by its loads. Memory has one bus for both ways, and a few cores that only load wait for
// their misses, while writes leave without being waited for: a copy can move more. Half of its bytes do not come
// through the caches, so one that beats a cache is no roof.
bool is_bandwidth_roof(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    if (c.action == ProbeAction::load) return true;
    if (c.level != Level::dram || (c.action != ProbeAction::copy && c.action != ProbeAction::triad)) return false;
    return std::none_of(all.begin(), all.end(), [&](const MeasuredCeiling& cache) {
        return is_level_load(cache) && cache.level != Level::dram && cache.units == c.units &&
               cache.value.median < c.value.median;
    });
}

bool can_be_roof(const MeasuredCeiling& c, const Measurement& m) {
    if (c.fault || c.units != m.device.units) return false;
    if (c.kind == CeilingKind::bandwidth) return is_bandwidth_roof(c, m.ceilings);
    return c.kind == CeilingKind::compute &&
           (c.action == ProbeAction::fma || c.action == ProbeAction::mma || c.action == ProbeAction::gemm);
}

}  // namespace

void set_estimate(MeasuredCeiling& c, const Repeater& samples, const std::vector<std::string>& notes) {
    const Repeater::Estimate found = samples.estimate();
    c.value = found.value;
    c.samples = samples.all();
    c.disturbed = found.disturbed;
    c.notes = notes;
    if (c.fault) return;
    if (c.disturbed)
        c.notes.push_back(
            fmt::format("disturbed: {} of {} samples agree, and other programs ran on the same cores in {}; "
                        "the hardware may give more",
                        c.value.count, samples.count(), samples.disturbed()));
    else if (c.value.relative_interval() > kUnsteady)
        c.notes.push_back(fmt::format("unsteady: the 95 % interval is {:.1f} % wide after {} samples",
                                      100 * c.value.relative_interval(), c.value.count));
}

bool looks_slowed(const MeasuredCeiling& c, const Measurement& measurement) {
    if (c.fault || c.value.count == 0) return false;
    if (c.disturbed || c.value.relative_interval() > kUnsteady || below_outer_level(c, measurement.ceilings) ||
        below_fewer_units(c, measurement.ceilings))
        return true;
    if (!is_rate(c.kind)) return c.value.median > (1 + kDoubtful) * c.value.minimum;
    // A host's theory is what its instructions can do, and they do it; a GPU's is a data sheet.
    const double theory = measurement.device.kind == DeviceKind::host ? c.theoretical.value_or(0) : 0;
    return c.value.median < (1 - kDoubtful) * std::max(c.value.maximum, theory);
}

bool below_outer_level(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    return faster_outer(c, all) != nullptr;
}

void check_level_order(std::vector<MeasuredCeiling>& all) {
    // From the outside in, so that a rate that was passed on is passed on again.
    for (const Level level : {Level::l3, Level::l2, Level::l1})
        for (MeasuredCeiling& c : all) {
            if (c.level != level) continue;
            const MeasuredCeiling* outer = faster_outer(c, all);
            if (outer == nullptr) continue;
            const bool beaten = std::any_of(all.begin(), all.end(), [&](const MeasuredCeiling& other) {
                return is_level_load(other) && other.level == c.level && other.units == c.units &&
                       other.value.median > c.value.median;
            });
            if (beaten) continue;  // another way to load from this level is faster
            if (c.value.median < (1 - kShortfall) * outer->value.median) {
                c.disturbed = true;
                c.fault = fmt::format("disturbed: {} is below the {} of {}, whose bytes pass through it",
                                      to_text(Bandwidth{c.value.median}, 3), to_text(Bandwidth{outer->value.median}, 3),
                                      outer->title);
            } else {
                c.notes.push_back(fmt::format("the rate of {}, whose bytes pass through it", outer->title));
                c.value = outer->value;
            }
        }
}

bool below_fewer_units(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    return faster_alone(c, all) != nullptr;
}

void check_unit_order(std::vector<MeasuredCeiling>& all) {
    for (MeasuredCeiling& c : all) {
        const MeasuredCeiling* alone = faster_alone(c, all);
        if (alone == nullptr) continue;
        c.disturbed = true;
        if (c.value.median < (1 - kShortfall) * alone->value.median)
            c.fault = fmt::format("disturbed: {} on {} units is below the {} of {}", rate_text(c), c.units,
                                  rate_text(*alone), alone->title);
    }
}

void choose_roofs(Measurement& m) {
    for (MeasuredCeiling& c : m.ceilings) {
        if (!can_be_roof(c, m)) continue;
        c.primary = std::none_of(m.ceilings.begin(), m.ceilings.end(), [&](const auto& other) {
            return &other != &c && other.kind == c.kind && other.pipe == c.pipe && other.level == c.level &&
                   (other.primary || (can_be_roof(other, m) && other.value.median > c.value.median));
        });
    }
}

}  // namespace gambrel::measure_detail
