#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/explore.hpp>

namespace gambrel {
namespace {

constexpr std::array<std::string_view, kResources> kNames = {
    "sms",          "macs",         "clock",       "registers",     "shared", "shared.bandwidth",
    "l1.bandwidth", "l2.bandwidth", "l2.capacity", "dram.bandwidth"};

constexpr double kRegisters = 256 * 1024, kShared = 96 * 1024;  // as mapping takes them where a machine does not say

double whole_sms(double sms, double factor) { return std::max(1.0, std::round(sms * factor)); }

template <class Q>
void scale(Fact<Q>& fact, double factor) {
    if (!fact || factor == 1) return;
    fact->value = fact->value * factor;
    fact->origin = Origin::assumed;
    fact->cite = fmt::format("{} times: {}", factor, fact->cite);
}
template <class Q>
void scale(std::optional<AtClock<Q>>& at, double factor) {
    if (!at || factor == 1) return;
    at->ceiling.value = at->ceiling.value * factor;
    at->ceiling.origin = Origin::assumed;
    at->ceiling.cite = fmt::format("{} times: {}", factor, at->ceiling.cite);
}

}  // namespace

std::string_view name(Resource resource) { return kNames[static_cast<std::size_t>(resource)]; }

std::optional<Resource> resource_from(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<Resource>(found - kNames.begin());
}

double base_value(const Machine& machine, const Hardware& h, Resource resource) {
    const double per_second = h.clock * h.sms;
    switch (resource) {
        case Resource::sms:
            return h.sms;
        case Resource::macs:
            return h.flop_per_cycle[Pipe::fp32] / 2;
        case Resource::clock:
            return h.clock;
        case Resource::registers:
            return machine.sm.registers ? machine.sm.registers->value.value() : kRegisters;
        case Resource::shared:
            return machine.sm.shared_memory ? machine.sm.shared_memory->value.value() : kShared;
        case Resource::shared_bandwidth:
            return h.shared_width * per_second;
        case Resource::l1_bandwidth:
            return h.l1_width * per_second;
        case Resource::l2_bandwidth:
            return h.l2_bandwidth;
        case Resource::l2_capacity:
            return h.l2_capacity;
        case Resource::dram_bandwidth:
            break;
    }
    return h.dram_bandwidth;
}

std::string amount_text(Resource resource, double amount) {
    switch (resource) {
        case Resource::sms:
        case Resource::macs:
            return fmt::format("{:g}", amount);
        case Resource::clock:
            return to_text(Frequency{amount}, 3);
        case Resource::registers:
        case Resource::shared:
        case Resource::l2_capacity:
            return binary_text(Bytes{amount});
        default:
            return to_text(Bandwidth{amount}, 3);
    }
}

Hardware scaled(Hardware h, const Factors& f) {
    h.sms = whole_sms(h.sms, f[Resource::sms]);
    for (double& rate : h.flop_per_cycle) rate *= f[Resource::macs];
    h.schedulers *= f[Resource::macs];
    h.clock *= f[Resource::clock];
    h.clock_long *= f[Resource::clock];
    h.shared_width *= f[Resource::shared_bandwidth];
    h.l1_width *= f[Resource::l1_bandwidth];
    h.l2_bandwidth *= f[Resource::l2_bandwidth] * f[Resource::clock];
    h.l2_capacity *= f[Resource::l2_capacity];
    h.dram_bandwidth *= f[Resource::dram_bandwidth];
    return h;
}

Machine scaled(Machine m, const Factors& f) {
    if (m.sm.sms) scale(m.sm.sms, whole_sms(m.sm.sms->value, f[Resource::sms]) / m.sm.sms->value);
    const double sms = m.sm.sms ? f[Resource::sms] : 1, clock = f[Resource::clock];
    for (Arithmetic& pipe : m.pipes) {
        scale(pipe.dense, f[Resource::macs]);
        scale(pipe.sparse, f[Resource::macs]);
        for (auto* stated : {&pipe.stated, &pipe.stated_sparse, &pipe.measured})
            scale(*stated, f[Resource::macs] * sms * clock);
    }
    scale(m.sm.schedulers, f[Resource::macs]);
    scale(m.clocks.base, clock);
    scale(m.clocks.boost, clock);
    const double shared_before = m.sm.shared_memory ? m.sm.shared_memory->value.value() : kShared;
    scale(m.sm.registers, f[Resource::registers]);
    scale(m.sm.shared_memory, f[Resource::shared]);
    scale(m.sm.shared_memory_per_cta, f[Resource::shared]);
    // From Volta on shared memory is cut out of L1, which keeps what it had.
    MemoryLevel& l1 = m.at(Level::l1);
    if (l1.capacity && m.compute_capability && m.compute_capability->major >= 7)
        l1.capacity->value = l1.capacity->value + Bytes{shared_before * (f[Resource::shared] - 1)};
    const auto level = [&](Level which, double bandwidth, double with_clock) {
        if (!m.find(which)) return;
        MemoryLevel& found = m.at(which);
        scale(found.width, bandwidth);
        scale(found.bandwidth, bandwidth * with_clock);
        scale(found.measured, bandwidth * with_clock);
        if (found.measured && found.measured->clock) *found.measured->clock *= with_clock;
    };
    level(Level::shared, f[Resource::shared_bandwidth], clock * (m.sm.sms ? sms : 1));
    level(Level::l1, f[Resource::l1_bandwidth], clock * (m.sm.sms ? sms : 1));
    level(Level::l2, f[Resource::l2_bandwidth], clock);
    level(Level::dram, f[Resource::dram_bandwidth], 1);
    if (m.find(Level::l2)) scale(m.at(Level::l2).capacity, f[Resource::l2_capacity]);
    return m;
}

}  // namespace gambrel
