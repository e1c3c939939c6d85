#include <fmt/format.h>
#include <gambrel/explain.hpp>

namespace gambrel {

LayerOutcome outcome(const Layer& layer, const Mapping& mapping, const Simulation& simulation, const Kernel& kernel,
                     Bound bound) {
    const SimulatedTraffic total = simulation.total();
    LayerOutcome o;
    o.name = layer.name;
    o.pass = layer.pass;
    o.precision = layer.precision;
    o.repeat = layer.repeat;
    if (mapping.family == KernelFamily::tiled) o.tile = mapping.cta;
    o.flop = flop(layer).value();
    o.l1_bytes = total.l1().value();
    o.l2_bytes = total.l2().value();
    o.dram_bytes = total.dram().value();
    o.dram_read = total.dram_read.value();
    if (kernel.time) o.time = kernel.time->value.value() / layer.repeat;
    o.bound = to_text(bound);
    for (const Symbol reason : kernel.reasons) o.reason += (o.reason.empty() ? "" : "; ") + reason.str();
    if (simulation.ctas_simulated < simulation.ctas && !simulation.partial)
        o.reason += fmt::format("{}sampled {} of {} CTAs: L1 +-{:.1f} %, L2 +-{:.1f} %, DRAM +-{:.1f} % (99 %)",
                                o.reason.empty() ? "" : "; ", simulation.ctas_simulated, simulation.ctas,
                                100 * simulation.error.l1, 100 * simulation.error.l2, 100 * simulation.error.dram);
    return o;
}

}  // namespace gambrel
