#include "ingest/report_machine.hpp"

#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace gambrel::ingest_detail {
namespace {

constexpr const char* kAttributes[] = {
    "device__attribute_multiprocessor_count",
    "device__attribute_clock_rate",
    "device__attribute_memory_clock_rate",
    "device__attribute_global_memory_bus_width",
    "device__attribute_l2_cache_size",
    "device__attribute_max_shared_memory_per_multiprocessor",
    "device__attribute_max_shared_memory_per_block_optin",
    "device__attribute_max_registers_per_multiprocessor",
    "device__attribute_max_threads_per_multiprocessor",
    "device__attribute_compute_capability_major",
    "device__attribute_compute_capability_minor",
    "device__attribute_total_memory",
};

class Attributes {
public:
    Attributes(const Profile& profile, const Launch& launch, const MetricSet& metrics)
        : profile_(profile), launch_(launch), metrics_(metrics) {}

    template <class Q>
    Fact<Q> fact(const char* name, double factor = 1) const {
        const MetricId id = metrics_.find(name);
        for (std::size_t i = launch_.first_value; i < launch_.first_value + launch_.values; ++i)
            if (profile_.values[i].metric == id && std::isfinite(profile_.values[i].value) &&
                profile_.values[i].value > 0)
                return Sourced<Q>{Q{profile_.values[i].value * factor}, Origin::measured,
                                  fmt::format("{}: {}", profile_.source, name)};
        return std::nullopt;
    }

private:
    const Profile& profile_;
    const Launch& launch_;
    const MetricSet& metrics_;
};

std::string id_of(std::string_view name) {
    std::string id;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '.')
            id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && id.back() == '-') id.pop_back();
    return id;
}

template <class Q>
void inherit(Fact<Q>& own, const Fact<Q>& other, const std::string& from) {
    if (own || !other) return;
    own = Sourced<Q>{other->value, Origin::derived,
                     fmt::format("as {}, same compute capability; there: {}", from, other->cite)};
}

// SMs of one compute capability are alike: lanes, widths per SM, sizes of sector and line. Not what belongs to the
// chip.
void inherit_sm(Machine& m) {
    if (!m.compute_capability) return;
    const auto alike = machines_of(*m.compute_capability, 1);
    if (alike.empty()) return;
    const Machine& other = *alike.front();
    inherit(m.sm.schedulers, other.sm.schedulers, other.id);
    inherit(m.sm.max_ctas, other.sm.max_ctas, other.id);
    inherit(m.sm.max_warps, other.sm.max_warps, other.id);
    inherit(m.sm.sector, other.sm.sector, other.id);
    inherit(m.sm.line, other.sm.line, other.id);
    // Tensor rates differ between boards of one capability (GeForce halves FP32 accumulate), so they are not
    // inherited.
    for (const Pipe p : all_pipes())
        if (!is_tensor(p)) inherit(m.pipes[p].dense, other.pipes[p].dense, other.id);
    for (const Level l : {Level::shared, Level::l1})
        if (const auto* theirs = other.find(l)) {
            MemoryLevel& own = m.at(l);
            own.per_sm = theirs->per_sm;
            inherit(own.width, theirs->width, other.id);
            inherit(own.capacity, theirs->capacity, other.id);
        }
    m.architecture = other.architecture;
}

void add_peaks(Machine& m, const Profile& profile, const Kernel& kernel) {
    const auto cite = [&](Symbol rule) {
        return fmt::format("{}: peak of the launch ({})", profile.source, rule.str());
    };
    for (const auto& [pipe, peak] : kernel.pipe_peaks) {
        if (peak.value.value() <= 0) continue;
        if (kernel.clock && m.sm.sms)
            m.pipes[pipe].dense = Sourced<FlopPerCycle>{peak.value / kernel.clock->value / m.sm.sms->value,
                                                        Origin::derived, cite(peak.rule)};
        else
            m.pipes[pipe].stated = AtClock<FlopRate>{{peak.value, Origin::derived, cite(peak.rule)}, {}};
    }
    for (const auto& [level, peak] : kernel.level_peaks) {
        if (peak.value.value() <= 0) continue;
        MemoryLevel& l = m.at(level);
        l.bandwidth = Sourced<Bandwidth>{peak.value, Origin::derived, cite(peak.rule)};
        l.width.reset();
        // On-chip levels per cycle too, so that --clock moves them. L2 has a clock of its own that follows that of the
        // SMs.
        if (level == Level::dram || !kernel.clock || (l.per_sm && !m.sm.sms)) continue;
        const double units = l.per_sm ? m.sm.sms->value : 1;
        l.width = Sourced<BytesPerCycle>{peak.value / kernel.clock->value / units, Origin::derived, cite(peak.rule)};
    }
}

}  // namespace

void add_machine_metrics(MetricSet& metrics) {
    for (const char* name : kAttributes) metrics.add(name);
}

Symbol device_name(const Launch& launch) {
    if (!launch.device.empty()) return launch.device;
    if (launch.cc) return Symbol(fmt::format("unnamed GPU of compute capability {}", to_text(*launch.cc)));
    return Symbol("unnamed GPU");
}

Machine report_machine(const Profile& profile, const Launch& launch, const Kernel& kernel, const MetricSet& metrics) {
    const Attributes a(profile, launch, metrics);
    Machine m;
    m.name = device_name(launch).str();
    m.id = id_of(m.name);
    m.source = "built from " + profile.source;
    m.compute_capability = launch.cc;
    m.sm.sms = a.fact<double>("device__attribute_multiprocessor_count");
    m.clocks.boost = a.fact<Frequency>("device__attribute_clock_rate", 1e3);
    m.clocks.memory = a.fact<Frequency>("device__attribute_memory_clock_rate", 1e3);
    m.sm.shared_memory = a.fact<Bytes>("device__attribute_max_shared_memory_per_multiprocessor");
    m.sm.shared_memory_per_cta = a.fact<Bytes>("device__attribute_max_shared_memory_per_block_optin");
    m.sm.registers = a.fact<Bytes>("device__attribute_max_registers_per_multiprocessor", 4);
    m.sm.max_warps = a.fact<double>("device__attribute_max_threads_per_multiprocessor", 1.0 / 32);
    inherit_sm(m);
    if (auto l2 = a.fact<Bytes>("device__attribute_l2_cache_size")) m.at(Level::l2).capacity = std::move(l2);
    if (auto size = a.fact<Bytes>("device__attribute_total_memory")) m.at(Level::dram).capacity = std::move(size);
    const auto bits = a.fact<double>("device__attribute_global_memory_bus_width");
    if (m.clocks.memory && bits)
        m.at(Level::dram).bandwidth =
            Sourced<Bandwidth>{Bandwidth{m.clocks.memory->value.value() * 2 * bits->value / 8}, Origin::derived,
                               fmt::format("{}: memory clock x 2 x {} bits", profile.source, bits->value)};
    add_peaks(m, profile, kernel);
    return m;
}

}  // namespace gambrel::ingest_detail
