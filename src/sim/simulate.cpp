#include <gambrel/sim.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/run.hpp"

namespace gambrel {
namespace {

using namespace sim_detail;

constexpr std::int32_t kMostInCluster = 16;  // of CUDA, beyond the portable 8

template <class T>
double value(const Fact<T>& fact, double otherwise) {
    if (!fact) return otherwise;
    if constexpr (std::is_same_v<T, double>)
        return fact->value;
    else
        return fact->value.value();
}

// docs/simulator.md, "How far CTAs drift".
Contention contention(const Mapping& mapping) {
    // Kernels that wait for memory at every step stay together: the CTA ahead misses L2 and waits, those behind it hit.
    constexpr Contention kWaiting{.spread = 1, .memory = 20};
    constexpr Contention kIssuing{.spread = 4.3, .memory = 20};
    const bool waits = is_tensor(mapping.pipe) || mapping.stages < 2 || mapping.family != KernelFamily::tiled;
    return waits ? kWaiting : kIssuing;
}

Device device(const Machine& machine, const Mapping& mapping, const Occupancy& o) {
    constexpr double kLine = 1U << kLineShift;
    Device d;
    d.ctas_per_sm = static_cast<std::uint32_t>(o.ctas_per_sm);
    d.caches.sms = static_cast<std::uint32_t>(needed(machine, Needed::sms));
    d.caches.l1_lines = static_cast<std::uint64_t>(o.l1.value() / kLine);
    const MemoryLevel* l2 = machine.find(Level::l2);
    d.caches.l2_lines = static_cast<std::uint64_t>(needed(machine, Needed::l2_capacity) / kLine);
    d.caches.partitions = l2 && value(l2->partitions, 1) > 1 ? 2 : 1;
    const MemoryLevel* dram = machine.find(Level::dram);
    const double check_bits = dram ? value(dram->inline_ecc, 0) : 0;
    d.caches.ecc_lines = check_bits > 0 ? static_cast<std::uint64_t>(std::max(1.0, std::round(1 / check_bits))) : 0;
    // A Tesla T4, whose check bits lie in the same memory, reads at the first store to a part; GPUs with HBM do not.
    const bool blocks = dram && value(dram->ecc_block, 0) > 0;
    if (blocks)
        d.caches.partial_writes =
            d.caches.ecc_lines > 0 ? PartialWrites::read_at_once : PartialWrites::read_when_leaving;
    d.contention = contention(mapping);
    return d;
}

SimulatedTraffic traffic(const Counts& counts) {
    const auto bytes = [&](std::uint64_t sectors) {
        return Bytes{static_cast<double>(sectors) * (1U << kSectorShift)};
    };
    return {.l1_read = bytes(counts.l1_read),
            .l1_written = bytes(counts.l1_write),
            .l2_read = bytes(counts.l2_read),
            .l2_written = bytes(counts.l2_write),
            .dram_read = bytes(counts.dram_read),
            .dram_written = bytes(counts.dram_write),
            .l1_hits = bytes(counts.l1_hit),
            .l2_hits = bytes(counts.l2_hit),
            .l2_fabric = bytes(counts.fabric)};
}

KnownL1 known_l1(const CacheShape& shape) {
    static_assert(kMostRepeated <= SectorCache::kMostWays);
    if (shape.l1_lines == 0) return {};
    const SectorCache l1(shape.l1_lines, shape.l1_ways);
    return {l1.sets(), l1.ways()};
}

const Counts& of(const TensorCounts& counts, Tensor tensor) { return counts[static_cast<std::size_t>(tensor)]; }

}  // namespace

SimulatedTraffic operator+(const SimulatedTraffic& a, const SimulatedTraffic& b) {
    return {.l1_read = a.l1_read + b.l1_read,
            .l1_written = a.l1_written + b.l1_written,
            .l2_read = a.l2_read + b.l2_read,
            .l2_written = a.l2_written + b.l2_written,
            .dram_read = a.dram_read + b.dram_read,
            .dram_written = a.dram_written + b.dram_written,
            .l1_hits = a.l1_hits + b.l1_hits,
            .l2_hits = a.l2_hits + b.l2_hits,
            .l2_fabric = a.l2_fabric + b.l2_fabric};
}

Result<Simulation> simulate(const Layer& layer, const Machine& machine, const Mapping& given,
                            const SimulationOptions& options) {
    Mapping mapping = given;
    if (options.cluster) mapping.cluster = options.cluster;
    mapping.stream_k |= options.stream_k;
    Errors errors;
    for (const std::string& fault : faults(layer)) errors.push_back({layer.name, fault});
    for (Error& missing : missing_numbers(machine, true)) errors.push_back(std::move(missing));
    if (mapping.transform != Transform::none)
        errors.push_back(
            {layer.name, "convolutions by Winograd's algorithm or FFT are not simulated; predict has them"});
    if (mapping.writes_matrix)
        errors.push_back(
            {layer.name, "calls that write their input out as a matrix first are not simulated; predict has them"});
    if (const auto [rows, columns] = mapping.ctas_together();
        rows < 1 || columns < 1 || rows * columns > kMostInCluster)
        errors.push_back({layer.name, fmt::format("a cluster of {}x{} CTAs is not possible: expected 1 to {} of them",
                                                  rows, columns, kMostInCluster)});
    if (!errors.empty()) return tl::unexpected(errors);
    if (std::holds_alternative<MixtureOfExperts>(layer.op) && layer.pass != Pass::fwd)
        return failure(layer.name, "gradients of experts are not simulated; predict has them");
    const auto* convolution = std::get_if<Convolution>(&layer.op);
    if (convolution && mapping.family == KernelFamily::streaming &&
        (convolution->c != convolution->groups || convolution->k != convolution->groups))
        return failure(layer.name, "direct convolutions of several channels are not simulated; predict has them");
    const Occupancy o = occupancy(machine, mapping);
    if (o.ctas_per_sm <= 0)
        return failure(layer.name,
                       fmt::format("a CTA of {}x{}x{} with {} threads, {} registers each and {} of shared memory "
                                   "does not fit on an SM of {}; give a smaller tile",
                                   mapping.cta.m, mapping.cta.n, mapping.cta.k, mapping.threads, mapping.registers,
                                   binary_text(mapping.shared_memory), machine.name));
    const Device gpu = device(machine, mapping, o);
    const std::unique_ptr<AddressStream> stream =
        make_stream(layer, mapping, {known_l1(gpu.caches), true, std::int64_t{gpu.caches.sms} * gpu.ctas_per_sm});
    const RunResult result = run(*stream, gpu, options);
    Simulation simulation;
    simulation.input = traffic(of(result.counts, Tensor::input));
    simulation.filter = traffic(of(result.counts, Tensor::filter));
    simulation.output = traffic(of(result.counts, Tensor::output));
    simulation.workspace = traffic(of(result.counts, Tensor::workspace));
    simulation.bias = traffic(of(result.counts, Tensor::bias));
    simulation.check_bits = traffic(of(result.counts, Tensor::check_bits));
    simulation.shared_memory = Bytes{result.shared_memory_bytes};
    simulation.sector_accesses = result.accesses;
    simulation.ctas = stream->ctas();
    simulation.ctas_simulated = result.ctas_done;
    simulation.occupancy = o;
    simulation.error = result.error;
    simulation.partial = result.partial;
    return simulation;
}

}  // namespace gambrel
