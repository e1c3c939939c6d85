#include <algorithm>
#include <array>
#include <cmath>

#include <gambrel/mapping.hpp>

#include "mapping/rules.hpp"

namespace gambrel {
namespace {

template <class T>
double value(const Fact<T>& fact, double otherwise) {
    if (!fact) return otherwise;
    if constexpr (std::is_same_v<T, double>)
        return fact->value;
    else
        return fact->value.value();
}

constexpr double kKiB = 1024;

// Shared memory and L1 are one array from Volta on; the driver takes the smallest carve-out that holds the CTAs.
double carve_out(double used, double array, ComputeCapability cc) {
    if (cc.major == 7 && cc.minor == 5) return used <= 32 * kKiB ? 32 * kKiB : 64 * kKiB;
    static constexpr std::array<double, 10> kSteps = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    static constexpr std::array<double, 6> kVolta = {0, 8, 16, 32, 64, 96};
    if (cc.major == 7) {
        for (const double step : kVolta)
            if (used <= step * kKiB) return step * kKiB;
        return 96 * kKiB;
    }
    for (const double step : kSteps)
        if (used <= step * kKiB) return std::min(step * kKiB, array);
    return array;
}

}  // namespace

Occupancy occupancy(const Machine& machine, const Mapping& m) {
    const Organisation& sm = machine.sm;
    Occupancy o;
    if (m.threads <= 0 || m.registers > 255) return o;
    const double warps = std::ceil(m.threads / 32.0);
    // Registers are dealt to warps in blocks of 256, that is 8 a thread.
    const double registers = warps * 32 * std::ceil(std::max(16, m.registers) / 8.0) * 8 * 4;
    const double shared_limit = value(sm.shared_memory, 96 * kKiB);
    const double reserved = mapping_detail::capability(machine).major >= 8 ? kKiB : 0;  // of each CTA, by the driver
    const double shared = m.shared_memory.value() > 0 ? m.shared_memory.value() + reserved : 0;
    struct Bound {
        double ctas;
        Occupancy::Limit limit;
    };
    const std::array<Bound, 4> bounds = {{
        {std::floor(value(sm.max_warps, 64) / warps), Occupancy::Limit::threads},
        {std::floor(value(sm.registers, 256 * kKiB) / registers), Occupancy::Limit::registers},
        {shared > 0 ? std::floor(shared_limit / shared) : 1e9, Occupancy::Limit::shared_memory},
        {value(sm.max_ctas, 32), Occupancy::Limit::ctas},
    }};
    const auto least =
        std::min_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) { return a.ctas < b.ctas; });
    if (m.shared_memory.value() > value(sm.shared_memory_per_cta, shared_limit)) return o;
    o.ctas_per_sm = static_cast<std::int32_t>(least->ctas);
    o.warps_per_sm = o.ctas_per_sm * static_cast<std::int32_t>(warps);
    o.limit = least->limit;
    const MemoryLevel* l1 = machine.find(Level::l1);
    double array = l1 && l1->capacity ? l1->capacity->value.value() : 0;
    const ComputeCapability cc = mapping_detail::capability(machine);
    if (cc.major >= 7) array -= std::min(array, carve_out(o.ctas_per_sm * shared, array, cc));
    o.l1 = Bytes{array};
    return o;
}

}  // namespace gambrel
