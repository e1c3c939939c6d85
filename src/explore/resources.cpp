#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/explore.hpp>

namespace gambrel {
namespace {

constexpr std::array<std::string_view, kResources> kNames = {
    "sms",          "macs",         "schedulers",  "clock",         "registers", "shared", "shared.bandwidth",
    "l1.bandwidth", "l2.bandwidth", "l2.capacity", "dram.bandwidth"};

constexpr double kRegisters = 256 * 1024, kShared = 96 * 1024,
                 kSms = 80;  // as mapping takes them where a machine does not say

double whole_sms(double sms, double factor) { return std::max(1.0, std::round(sms * factor)); }

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
        case Resource::schedulers:
            return h.schedulers;
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
        case Resource::schedulers:
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
    h.schedulers *= f[Resource::macs] * f[Resource::schedulers];
    h.clock *= f[Resource::clock];
    h.clock_long *= f[Resource::clock];
    h.shared_width *= f[Resource::shared_bandwidth];
    h.l1_width *= f[Resource::l1_bandwidth];
    h.l2_bandwidth *= f[Resource::l2_bandwidth] * f[Resource::clock];
    h.l2_capacity *= f[Resource::l2_capacity];
    h.dram_bandwidth *= f[Resource::dram_bandwidth];
    return h;
}

// The driver's steps of the carve-out end at what was built, so L1 of a design with more shared memory is the
// evaluator's to bound.
Machine with_room(Machine m, const Factors& f) {
    const auto of_design = [](double value) { return Sourced<Bytes>{Bytes{value}, Origin::assumed, "a design"}; };
    const double shared = m.sm.shared_memory ? m.sm.shared_memory->value.value() : kShared;
    const double per_cta = m.sm.shared_memory_per_cta ? m.sm.shared_memory_per_cta->value.value() : shared;
    const double registers = m.sm.registers ? m.sm.registers->value.value() : kRegisters;
    const double sms = m.sm.sms ? m.sm.sms->value : kSms;
    m.sm.sms = Sourced<double>{whole_sms(sms, f[Resource::sms]), Origin::assumed, "a design"};
    m.sm.registers = of_design(registers * f[Resource::registers]);
    m.sm.shared_memory = of_design(shared * f[Resource::shared]);
    m.sm.shared_memory_per_cta = of_design(per_cta * f[Resource::shared]);
    // From Volta on shared memory is cut out of L1, which keeps what it had.
    if (!m.compute_capability || m.compute_capability->major >= 7)
        if (MemoryLevel& l1 = m.at(Level::l1); l1.capacity)
            l1.capacity = of_design(l1.capacity->value.value() + shared * (f[Resource::shared] - 1));
    return m;
}

}  // namespace gambrel
