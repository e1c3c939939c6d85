// Expert layers: two grouped GEMMs over the tokens of each expert, padded to whole tiles; the weights of every expert
// that has a token are read once. Around them routing, the copies of tokens to their experts and the sum back.
#include <algorithm>
#include <cmath>

#include "base/arithmetic.hpp"
#include "delta/expert_costs.hpp"
#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// FP8 and narrower weights have kernels of their own; so have scales of whole tensors, which a table's row says.
std::string_view kind_of(const PreparedLayer& layer) {
    const double weight = element_size(layer.weights).value();
    if (weight >= 2) return "bf16";
    if (weight < 1) return "int4";
    return layer.mapping.store_run == 1 ? "fp8_tensor" : "fp8";
}

}  // namespace

Seconds experts_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic& traffic) {
    const auto& m = std::get<MixtureOfExperts>(layer.op);
    const ExpertCosts& c = expert_costs(*h.architecture, kind_of(layer));
    const double rows_of_tile = layer.mapping.cta.m, matrices = m.gated ? 3 : 2;
    double padded = 0, assignments = 0, touched = 0;
    for (const double load : expert_loads(m)) {
        if (load <= 0) continue;
        padded += std::ceil(load / rows_of_tile) * rows_of_tile;
        assignments += load;
        ++touched;
    }
    const FlopPerCycle peak = std::max(FlopPerCycle{1}, h.flop_per_cycle[layer.mapping.pipe]);
    const double reach = rows_of_tile >= 64 ? c.reach : c.narrow * std::sqrt(rows_of_tile / 64);
    const Flops of_an_sm{2 * matrices * padded * real(m.hidden) * m.local_intermediate() / h.sms};
    // What a tile takes beside its multiplications (loads, barriers, sums) does not go with the rate of the
    // multipliers.
    t[Term::compute] = (of_an_sm / peak + of_an_sm / FlopPerCycle{c.rate} * (1 / reach - 1)) / h.clock;
    const Bytes weights = touched * matrices * real(m.hidden) * m.local_intermediate() * element_size(layer.weights);
    t[Term::dram] = weights / h.dram_bandwidth * c.memory;
    const double b = c.blend;
    const Seconds gemms{std::pow(std::pow(t[Term::compute].value(), b) + std::pow(t[Term::dram].value(), b), 1 / b)};
    // Activations stay in 16 bits between the kernels, whatever multiplies.
    const Bytes size = std::max(element_size(layer.precision), Bytes{2});
    const Bytes inner = assignments * m.local_intermediate() * size * 3;
    const Bytes moved = assignments * real(m.hidden) * size * c.gather +
                        real(m.tokens) * real(m.topk) * real(m.hidden) * size * c.scatter + inner;
    t.epilogue = moved / h.dram_bandwidth;
    traffic.dram = {weights, moved / 2, moved / 2};
    traffic.l2 = traffic.dram;
    // Every tile of rows reads its expert's weights through L2.
    traffic.l2.a = std::max(weights, weights * (padded / rows_of_tile / std::max(1.0, touched)));
    traffic.l1 = traffic.l2;
    t[Term::l2] = traffic.l2.total() / h.l2_bandwidth;
    const bool alone = layer.timing == Timing::kernel;
    t[Term::launch] = alone ? Seconds{} : Seconds{c.floor} + (layer.timing ? Seconds{} : h.launch);
    t.waves = padded / rows_of_tile;
    return t[Term::launch] + gemms + t.epilogue;
}

}  // namespace gambrel::delta_detail
