#include <algorithm>
#include <array>
#include <cmath>

#include "mapping/rules.hpp"

namespace gambrel {
namespace {

double rounded_up(double value, double granularity) {
    return granularity > 0 ? std::ceil(value / granularity) * granularity : value;
}

// The driver takes the smallest carve-out that holds the CTAs' shared memory. The steps end at what was built.
double carve_out(double used, const Architecture& architecture) {
    for (const Bytes step : architecture.carve_outs)
        if (used <= step.value()) return step.value();
    return architecture.carve_outs.empty() ? used : architecture.carve_outs.back().value();
}

// What a CTA takes of an SM.
struct CtaNeeds {
    double warps, registers, shared;
};
CtaNeeds needs_of(const Mapping& m, const Architecture& architecture) {
    const std::int64_t warps = ceil_div(m.threads, 32), grain = architecture.register_granularity;
    const std::int64_t of_thread = ceil_div(std::max(16, m.registers), grain) * std::max<std::int64_t>(1, grain);
    const double granularity = architecture.shared_memory_granularity.value();
    const double shared = m.shared_memory.value() > 0 ? rounded_up(m.shared_memory.value(), granularity) +
                                                            architecture.shared_memory_reserved.value()
                                                      : 0;
    return {real(warps), real(warps * 32 * of_thread * 4), shared};
}

// Whether the limits of one thread and one CTA allow it.
bool allowed(const SmLimits& sm, const Mapping& m) {
    return m.threads > 0 && m.registers <= sm.architecture->registers_per_thread &&
           m.shared_memory <= sm.shared_memory_per_cta;
}

}  // namespace

SmLimits sm_limits(const Machine& machine) {
    const auto bytes = [&](Needed number) { return Bytes{needed(machine, number)}; };
    return {needed(machine, Needed::sms), needed(machine, Needed::max_warps), needed(machine, Needed::max_ctas),
            bytes(Needed::registers),     bytes(Needed::shared_memory),       bytes(Needed::shared_memory_per_cta),
            bytes(Needed::l1_capacity),   &architecture_of(machine)};
}

Occupancy occupancy(const SmLimits& sm, const Mapping& m) {
    const Architecture& architecture = *sm.architecture;
    Occupancy o;
    if (!allowed(sm, m)) return o;
    const auto [warps, registers, shared] = needs_of(m, architecture);
    struct Bound {
        double ctas;
        Occupancy::Limit limit;
    };
    const std::array<Bound, 4> bounds = {{
        {std::floor(sm.max_warps / warps), Occupancy::Limit::threads},
        {std::floor(sm.registers.value() / registers), Occupancy::Limit::registers},
        {shared > 0 ? std::floor(sm.shared_memory.value() / shared) : 1e9, Occupancy::Limit::shared_memory},
        {sm.max_ctas, Occupancy::Limit::ctas},
    }};
    const auto least =
        std::min_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) { return a.ctas < b.ctas; });
    o.ctas_per_sm = static_cast<std::int32_t>(least->ctas);
    o.warps_per_sm = o.ctas_per_sm * static_cast<std::int32_t>(warps);
    o.limit = least->limit;
    double array = sm.l1.value();
    if (architecture.l1_holds_shared_memory) array -= std::min(array, carve_out(o.ctas_per_sm * shared, architecture));
    o.l1 = Bytes{array};
    return o;
}

bool mapping_detail::fits(const SmLimits& sm, const Mapping& m) {
    if (!allowed(sm, m)) return false;
    const auto [warps, registers, shared] = needs_of(m, *sm.architecture);
    return warps <= sm.max_warps && registers <= sm.registers.value() && shared <= sm.shared_memory.value() &&
           sm.max_ctas >= 1;
}

Occupancy occupancy(const Machine& machine, const Mapping& mapping) { return occupancy(sm_limits(machine), mapping); }

}  // namespace gambrel
