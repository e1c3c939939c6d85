#include <algorithm>
#include <cmath>

#include <gambrel/delta.hpp>

#include "delta/links.hpp"

namespace gambrel {
namespace {

// Boards that cannot feed their boost clock under load and fall towards base while it lasts: those without a power
// connector (P4, T4, L4), which have what their slot gives, 75 W (PCI Express Card Electromechanical Specification),
// and those whose maker promises little under load (L40, L40S, RTX 6000 Ada).
bool power_limited(const Machine& machine) {
    constexpr double kSlotWatts = 75;
    const Clocks& clocks = machine.clocks;
    if (!clocks.boost || !clocks.base) return false;
    return (machine.board_power && machine.board_power->value <= kSlotWatts) ||
           clocks.base->value < calibration().promised_clock * clocks.boost->value;
}
Frequency geometric_mean(Frequency a, Frequency b) { return Frequency{std::sqrt(a.value() * b.value())}; }
Frequency sustained_clock(const Machine& machine) {
    const Clocks& clocks = machine.clocks;
    if (!power_limited(machine)) return Frequency{needed(machine, Needed::clock)};
    const Frequency mean = geometric_mean(clocks.base->value, clocks.boost->value);
    return std::min(clocks.boost->value, calibration().sustained_clock * mean);
}

void limit_by_power(const Machine& machine, ModelInputs& in) {
    const auto& gemm = in.architecture->matrix_gemm;
    if (power_limited(machine)) in.burst = std::max(1.0, machine.clocks.boost->value / in.clock);
    if (const double energy = in.architecture->flop_energy; energy > 0 && machine.board_power)
        in.fed = FlopRate{machine.board_power->value / (energy * 1e-12)};
    if (!gemm || !machine.clocks.boost) return;
    in.matrix_power = matrix_power(machine, *in.architecture);
    if (in.matrix_power.fed <= FlopRate{}) return;
    const Frequency boost = machine.clocks.boost->value;
    const FlopPerCycle rate = std::max(in.flop_per_cycle[Pipe::tensor_fp16], in.flop_per_cycle[Pipe::tensor_bf16]);
    // Never above the clock that everything else is judged at, which is lower on boards that their slot feeds.
    const Flops in_a_second = rate * in.sms * boost * Seconds{1};
    const double held = powered_clock(Seconds{1}, in_a_second / in.matrix_power.fed, in.matrix_power.lowest_voltage);
    in.matrix_clock = std::min(1.0, held * (boost / in.clock));
}

// Share of `in.dram_bandwidth`. The pin rate is the better measure where the catalogue has one: what a benchmark
// reached depends on its accesses and on whether ECC was on.
double gemm_dram_share(const Machine& machine, const ModelInputs& in) {
    const auto& gemm = in.architecture->matrix_gemm;
    const MemoryLevel* dram = machine.find(Level::dram);
    if (!gemm || !dram->bandwidth || machine.made_from == MachineSource::measurement) return 1;
    const double reach = gemm->dram_reach * std::max(0.1, 1 - calibration().ecc_refetch * in.check_bits);
    return dram->bandwidth->value * reach / in.dram_bandwidth;
}

// The same ceiling that verdicts are judged by, of one SM and cycle.
FlopPerCycle rate_of(const Machine& machine, Pipe pipe, const ModelInputs& in, Roofs roofs) {
    const Arithmetic& a = machine.pipes[pipe];
    if (a.dense && !(roofs == Roofs::measured && a.measured)) return a.dense->value;
    const auto ceiling = compute_ceiling(machine, pipe, in.clock, roofs);
    return ceiling ? ceiling->value / in.clock / in.sms : FlopPerCycle{};
}

}  // namespace

Result<ModelInputs> model_inputs(const Machine& machine, std::optional<Frequency> clock, Roofs roofs) {
    if (Errors missing = missing_numbers(machine, clock.has_value()); !missing.empty())
        return tl::unexpected(std::move(missing));
    ModelInputs in;
    in.architecture = &architecture_of(machine);
    in.calibration = &calibration();
    in.limits = sm_limits(machine);
    in.clock = clock.value_or(sustained_clock(machine));
    in.sms = needed(machine, Needed::sms);
    in.schedulers = needed(machine, Needed::schedulers);
    for (const Pipe pipe : all_pipes()) in.flop_per_cycle[pipe] = rate_of(machine, pipe, in, roofs);
    const auto width = [&](Level level, Needed otherwise) {
        const auto ceiling = memory_ceiling(machine, level, in.clock, roofs);
        const double per_sm = in.clock.value() * in.sms;
        return BytesPerCycle{ceiling ? ceiling->value.value() / per_sm : needed(machine, otherwise)};
    };
    in.shared_width = width(Level::shared, Needed::shared_width);
    in.l1_width = width(Level::l1, Needed::l1_width);
    const auto bandwidth = [&](Level level, Needed otherwise) {
        const auto ceiling = memory_ceiling(machine, level, in.clock, roofs);
        return ceiling ? ceiling->value : Bandwidth{needed(machine, otherwise)};
    };
    in.dram_bandwidth = bandwidth(Level::dram, Needed::dram_bandwidth);
    if (roofs == Roofs::measured && !machine.find(Level::dram)->measured) in.dram_bandwidth *= calibration().dram_reach;
    const MemoryLevel& dram = *machine.find(Level::dram);
    if (dram.inline_ecc) in.check_bits = dram.inline_ecc->value;
    in.fills_partial_writes = dram.ecc_block && in.architecture->l2_fills_partial_writes;
    in.l2_bandwidth = bandwidth(Level::l2, Needed::l2_bandwidth);
    if (const auto counted = counter_ceiling(machine, Level::l2, in.clock, roofs))
        in.l2_lookups = counted->value / in.l2_bandwidth;
    in.l1_latency = Cycles{needed(machine, Needed::l1_latency)};
    in.l2_latency = Cycles{needed(machine, Needed::l2_latency)};
    in.dram_latency = Cycles{needed(machine, Needed::dram_latency)};
    in.l2_capacity = Bytes{needed(machine, Needed::l2_capacity)};
    const MemoryLevel* l2 = machine.find(Level::l2);
    const bool copies = l2->partitions && l2->partitions->value >= 2 && in.architecture->l2_partitions_keep_copies;
    if (copies) in.l2_copies = 2;
    in.launch = machine.launch ? machine.launch->value : calibration().launch;
    if (!clock) limit_by_power(machine, in);
    if (roofs == Roofs::measured) in.gemm_dram = gemm_dram_share(machine, in);
    in.link = delta_detail::link_of(machine);
    return in;
}

}  // namespace gambrel
