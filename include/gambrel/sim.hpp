// A layer's bytes at every memory level by simulating every address: warps' requests through sectored L1s, L2 and DRAM,
// with CTAs scheduled as on a GPU. Invariant: the result depends on layer, machine, mapping and seed alone, never on
// threads. Counts bytes, not cycles; shares no code with the closed-form model, which is tested against it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/mapping.hpp>
#include <gambrel/network.hpp>

namespace gambrel {

struct SimulationOptions {
    unsigned threads = 0;  // 0: one for each core
    std::uint64_t seed = 1;
    bool warm = false;  // L2 holds what a first run of the same layer left there; else it is empty
    // Simulate the start and this many windows of CTAs instead of all and scale up; 0: all. A window is a few waves
    // that fill the caches, one that is counted and one after it. A layer that is not much longer than its windows, or
    // falls into several kernels, is simulated in full.
    int sample = 0;
    std::optional<Cluster> cluster = {};  // of tiled kernels, instead of the mapping's
    bool stream_k = false;                // of tiled kernels, even if the mapping does not say so
    std::stop_token stop = {};
    std::function<void(double fraction)> progress = {};  // called now and then from the calling thread
};

// Traffic of one tensor, or of all.
struct SimulatedTraffic {
    Bytes l1_read, l1_written;
    Bytes l2_read, l2_written;
    Bytes dram_read, dram_written;
    Bytes l1_hits, l2_hits;  // of what was read
    Bytes l2_fabric;         // between the partitions of L2, where it has two
    [[nodiscard]] Bytes l1() const { return l1_read + l1_written; }
    [[nodiscard]] Bytes l2() const { return l2_read + l2_written; }
    [[nodiscard]] Bytes dram() const { return dram_read + dram_written; }
    [[nodiscard]] double l1_hit_rate() const { return l1_read > Bytes{} ? l1_hits / l1_read : 0; }
    [[nodiscard]] double l2_hit_rate() const { return l2_read > Bytes{} ? l2_hits / l2_read : 0; }
};
SimulatedTraffic operator+(const SimulatedTraffic& a, const SimulatedTraffic& b);

// 99 % bounds of the sampled amounts, as fractions of them; zero if all was simulated.
struct SamplingError {
    double l1 = 0, l2 = 0, dram = 0;
};

struct Simulation {
    SimulatedTraffic input, filter, output;  // the tensors or their gradients, as in OperandBytes
    SimulatedTraffic workspace;              // partial sums of split k
    SimulatedTraffic bias;
    SimulatedTraffic check_bits;  // of ECC in the same memory as the data: at DRAM only
    Bytes shared_memory;          // stored and loaded by warps
    std::uint64_t sector_accesses = 0;
    std::int64_t ctas = 0, ctas_simulated = 0;
    Occupancy occupancy;
    SamplingError error;
    bool partial = false;  // stopped before its end: the bytes are of ctas_simulated CTAs
    [[nodiscard]] SimulatedTraffic total() const { return input + filter + output + workspace + bias + check_bits; }
};

// Fails where the layer has faults() or a CTA of the mapping does not fit on the machine's SM.
Result<Simulation> simulate(const Layer& layer, const Machine& machine, const Mapping& mapping,
                            const SimulationOptions& options = {});

}  // namespace gambrel
