#include "measure/theory.hpp"

namespace gambrel::measure_detail {

void compare_with_theory(MeasuredCeiling& c, const Probe& probe, const DeviceInfo& device) {
    if (!device.theoretical) return;
    const Machine& m = *device.theoretical;
    const double part = static_cast<double>(c.units) / device.units;
    if (c.kind == CeilingKind::compute) {
        if (const auto roof = compute_ceiling(m, probe.pipe)) {
            const bool half = (probe.action == ProbeAction::add || probe.action == ProbeAction::multiply);
            c.theoretical = roof->value.value() * part * (half && !is_integer(probe.pipe) ? 0.5 : 1.0);
            c.theoretical_cite = roof->cite;
        }
    } else if (c.kind == CeilingKind::bandwidth && probe.level) {
        const MemoryLevel* level = m.find(*probe.level);
        if (!level || (part < 1 && !level->per_sm)) return;
        // On-chip widths are those of loads; stores have pipes of their own. What only a benchmark knows is
        // not theory.
        if (probe.action != ProbeAction::load && *probe.level != Level::dram) return;
        if (!level->width && !level->bandwidth) return;
        if (const auto roof = memory_ceiling(m, *probe.level)) {
            c.theoretical = roof->value.value() * part;
            c.theoretical_cite = roof->cite;
        }
    }
}

}  // namespace gambrel::measure_detail
