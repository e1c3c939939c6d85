#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "explore/evaluator.hpp"

namespace gambrel {
namespace {

constexpr std::array<std::string_view, kResources> kResourceNames = {
    "sms",          "macs",         "schedulers",  "clock",         "registers", "shared", "shared.bandwidth",
    "l1.bandwidth", "l2.bandwidth", "l2.capacity", "dram.bandwidth"};

double whole_sms(double sms, double factor) { return std::max(1.0, std::round(sms * factor)); }
// A larger design has the power that its SMs want.
double scaled_power(const Factors& f) { return f[Resource::sms] * f[Resource::macs] * f[Resource::clock]; }

}  // namespace

std::string_view name(Resource resource) { return kResourceNames[static_cast<std::size_t>(resource)]; }

std::optional<Resource> resource_from(std::string_view name) {
    const auto found = std::find(kResourceNames.begin(), kResourceNames.end(), name);
    if (found == kResourceNames.end()) return std::nullopt;
    return static_cast<Resource>(found - kResourceNames.begin());
}

double base_value(const Machine& machine, const ModelInputs& h, Resource resource) {
    const double per_second = h.clock.value() * h.sms;
    switch (resource) {
        case Resource::sms:
            return h.sms;
        case Resource::macs:
            return h.flop_per_cycle[Pipe::fp32].value() / 2;
        case Resource::schedulers:
            return h.schedulers;
        case Resource::clock:
            return h.clock.value();
        case Resource::registers:
            return needed(machine, Needed::registers);
        case Resource::shared:
            return needed(machine, Needed::shared_memory);
        case Resource::shared_bandwidth:
            return h.shared_width.value() * per_second;
        case Resource::l1_bandwidth:
            return h.l1_width.value() * per_second;
        case Resource::l2_bandwidth:
            return h.l2_bandwidth.value();
        case Resource::l2_capacity:
            return h.l2_capacity.value();
        case Resource::dram_bandwidth:
            break;
    }
    return h.dram_bandwidth.value();
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

double scaled_sms(const ModelInputs& h, const Factors& f) { return whole_sms(h.sms, f[Resource::sms]); }
Bytes scaled_l2(const ModelInputs& h, const Factors& f) { return h.l2_capacity * f[Resource::l2_capacity]; }

DesignRates scaled_rates(const ModelInputs& h, const Factors& f) {
    DesignRates r;
    r.clock = h.clock * f[Resource::clock];
    r.schedulers = h.schedulers * (f[Resource::macs] * f[Resource::schedulers]);
    r.macs = f[Resource::macs];
    r.shared_width = h.shared_width * f[Resource::shared_bandwidth];
    r.l1_width = h.l1_width * f[Resource::l1_bandwidth];
    r.l2_bandwidth = h.l2_bandwidth * (f[Resource::l2_bandwidth] * f[Resource::clock]);
    r.dram_bandwidth = h.dram_bandwidth * f[Resource::dram_bandwidth];
    r.fed = h.fed * scaled_power(f);
    return r;
}

ModelInputs scaled(ModelInputs h, const Factors& f) {
    const DesignRates r = scaled_rates(h, f);
    h.l2_capacity = scaled_l2(h, f);
    h.sms = scaled_sms(h, f);
    h.clock = r.clock;
    h.schedulers = r.schedulers;
    for (FlopPerCycle& rate : h.flop_per_cycle) rate *= r.macs;
    h.shared_width = r.shared_width;
    h.l1_width = r.l1_width;
    h.l2_bandwidth = r.l2_bandwidth;
    h.dram_bandwidth = r.dram_bandwidth;
    h.fed = r.fed;
    h.matrix_power.fed *= scaled_power(f);
    return h;
}

// The driver's steps of the carve-out end at what was built, so L1 of a design with more shared memory is the
// evaluator's to bound.
Machine with_room(Machine m, const Factors& f) {
    const auto of_design = [](double value) { return Sourced<Bytes>{Bytes{value}, Origin::assumed, "a design"}; };
    const double shared = needed(m, Needed::shared_memory), per_cta = needed(m, Needed::shared_memory_per_cta);
    const double registers = needed(m, Needed::registers), sms = needed(m, Needed::sms);
    m.sm.sms = Sourced<double>{whole_sms(sms, f[Resource::sms]), Origin::assumed, "a design"};
    m.sm.registers = of_design(registers * f[Resource::registers]);
    m.sm.shared_memory = of_design(shared * f[Resource::shared]);
    m.sm.shared_memory_per_cta = of_design(per_cta * f[Resource::shared]);
    // From Volta on shared memory is cut out of L1, which keeps what it had.
    if (architecture_of(m).l1_holds_shared_memory)
        if (MemoryLevel& l1 = m.at(Level::l1); l1.capacity)
            l1.capacity = of_design(l1.capacity->value.value() + shared * (f[Resource::shared] - 1));
    return m;
}

}  // namespace gambrel
