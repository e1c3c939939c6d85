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
    std::string cite = fmt::format("gambrel measure on {}{}: {}, median of {}, 95 % interval {} to {} of it",
                                   m.device.id, m.date.empty() ? "" : ", " + m.date, c.title, c.value.count,
                                   fmt::format("{:.4f}", c.value.low / c.value.median),
                                   fmt::format("{:.4f}", c.value.high / c.value.median));
    if (c.working_set) cite += fmt::format(", working set {}", binary_text(*c.working_set));
    return cite;
}

Machine known(const DeviceInfo& device) {
    if (device.theoretical) return *device.theoretical;
    Machine m;
    m.id = identifier(device.name);
    m.name = device.name;
    m.sm.sms = Sourced<double>{static_cast<double>(device.units), Origin::measured, device.kind + " device says so"};
    for (const DeviceLevel& l : device.levels) {
        MemoryLevel& level = m.at(l.level);
        level.per_sm = l.sharers == 1 && l.level != Level::dram;
        level.capacity = Sourced<Bytes>{l.capacity, Origin::measured, device.kind + " device says so"};
    }
    return m;
}

}  // namespace

Machine measured_machine(const Measurement& measurement) {
    Machine m = known(measurement.device);
    const Origin origin = measurement.device.kind == "simulated" ? Origin::simulated : Origin::measured;
    if (origin == Origin::simulated)
        m.note = "Measured on a simulated device: these numbers test gambrel, not hardware.";
    for (const MeasuredCeiling& c : measurement.ceilings) {
        if (c.fault) continue;
        const std::string cite = cite_of(measurement, c);
        if (c.primary && c.pipe)
            m.pipes[*c.pipe].measured = AtClock<FlopRate>{{FlopRate{c.value.median}, origin, cite}, c.clock};
        if (c.primary && c.level)
            m.at(*c.level).measured = AtClock<Bandwidth>{{Bandwidth{c.value.median}, origin, cite}, c.clock};
        if (c.kind == CeilingKind::latency && c.level && c.clock)
            m.at(*c.level).latency = Sourced<Cycles>{Seconds{c.value.median} * *c.clock, origin, cite};
    }
    m.source = "gambrel measure";
    m.made_from = MachineSource::measurement;
    return m;
}

}  // namespace gambrel
