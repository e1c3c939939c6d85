#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <gambrel/measure.hpp>

namespace gambrel {
namespace {

std::string identifier(const std::string& name) {
    std::string id;
    for (const char c : name) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isalnum(u) != 0)
            id += static_cast<char>(std::tolower(u));
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && id.back() == '-') id.pop_back();
    return id.empty() ? "measured" : id;
}

std::string cite_of(const Measurement& m, const MeasuredCeiling& c) {
    const std::string of =
        c.value.count == c.samples.count ? "" : fmt::format(" of {} samples, the fastest that agree", c.samples.count);
    std::string cite = fmt::format("gambrel measure on {}{}: {}, median of {}{}, 95 % interval {:.4f} to {:.4f} of it",
                                   m.device.id, m.date.empty() ? "" : ", " + m.date, c.title, c.value.count, of,
                                   c.value.low / c.value.median, c.value.high / c.value.median);
    if (c.disturbed) cite += ", disturbed";
    if (c.working_set) cite += fmt::format(", working set {}", binary_text(*c.working_set));
    return cite;
}

Machine known(const DeviceInfo& device) {
    if (device.theoretical) return *device.theoretical;
    Machine m;
    m.id = identifier(device.name);
    m.name = device.name;
    const std::string said_by = fmt::format("as the {} device reports it", name(device.kind));
    m.sm.sms = Sourced<double>{static_cast<double>(device.units), Origin::measured, said_by};
    for (const DeviceLevel& l : device.levels) {
        MemoryLevel& level = m.at(l.level);
        level.per_sm = l.sharers == 1 && l.level != Level::dram;
        level.capacity = Sourced<Bytes>{l.capacity, Origin::measured, said_by};
    }
    return m;
}

}  // namespace

Machine measured_machine(const Measurement& measurement) {
    Machine m = known(measurement.device);
    const Origin origin = measurement.device.kind == DeviceKind::simulated ? Origin::simulated : Origin::measured;
    if (origin == Origin::simulated)
        m.note = "Measured on a simulated device: these numbers test gambrel, not hardware.";
    if (measurement.interrupted)
        m.partial = fmt::format("interrupted after {}; ceilings that it did not reach are missing",
                                to_text(measurement.took, 2));
    // A core clocks vector code lower than the scalar chain that its clock is read from, and memory follows neither. So
    // ceilings of a host hold as they were measured and are not carried to another clock.
    const bool carried = measurement.device.kind != DeviceKind::host;
    for (const MeasuredCeiling& c : measurement.ceilings) {
        if (c.fault) continue;
        std::string cite = cite_of(measurement, c);
        if (!carried && c.clock) cite += fmt::format(", scalar clock {}", to_text(*c.clock, 3));
        const auto clock = carried ? c.clock : std::nullopt;
        if (c.primary && c.pipe)
            m.pipes[*c.pipe].measured = AtClock<FlopRate>{{FlopRate{c.value.median}, origin, cite}, clock};
        if (c.primary && c.level)
            m.at(*c.level).measured = AtClock<Bandwidth>{{Bandwidth{c.value.median}, origin, cite}, clock};
        if (c.kind == CeilingKind::latency && c.level && c.clock)
            m.at(*c.level).latency = Sourced<Cycles>{Seconds{c.value.median} * *c.clock, origin, cite};
    }
    m.source = "gambrel measure";
    m.made_from = MachineSource::measurement;
    return m;
}

}  // namespace gambrel
