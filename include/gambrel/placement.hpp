// What searches over many designs share and compute fast: of a layer what no clock, rate, bandwidth or latency
// changes, and bounds of its time. Invariant: a time is that of predict (delta.hpp) to the last bit, and a bound is
// never above it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <gambrel/delta.hpp>

namespace gambrel {

// What the time of a tiled launch is computed from and no clock, rate, bandwidth or latency changes. Where a mechanism
// is not at work its count is 0 and its factor 1.
struct LaunchCounts {
    // Of one CTA.
    Pipe pipe = Pipe::fp32;
    bool tensor = false;
    Flops multiplied, scalar_loads, engine_loads, transformed;  // in FLOP of the pipe
    double tap_offsets = 1, sliced = 1, reach = 1;              // factors of what it multiplies
    double warps = 0, issued = 0, issue_slots = 1;              // issued: instructions of all warps
    Cycles in_turn;                                             // of a warp's instructions, were it alone
    Cycles around_loop;                                         // of that, before and after the loop over k
    std::optional<Cycles> unfilled;                             // between them, on architectures where nothing fills it
    Cycles filled_later;                                        // of that, in every wave but the first
    bool fills_beside = false;  // and in the first by CTAs that stand on other schedulers
    double engine_slots = 0, engine_steps = 0;
    bool waits_for_l2 = false, wait_is_filled = false;  // at every step of an engine
    bool wait_is_shared = false;                        // DRAM answers one CTA while those beside it are busy
    bool wait_is_beside = false;                        // so it does whatever answers
    bool stores_apart = false;                          // nothing is multiplied while outputs are stored
    Bytes scattered;  // of shared memory's path, whole lines of loads and stores whose threads meet different ones
    Cycles barriers;
    Bytes shared;
    Bytes staged;  // that pass through shared memory while nothing is multiplied
    // Of all CTAs.
    double ctas = 0, per_sm = 1, full_waves = 0, gathered = 0, rounds = 0, k_steps = 1;
    Flops fed;                         // what it multiplies, and what it moves in FLOP of the same energy
    Bytes l1, l2, read, dram, stored;  // read, stored: from and to DRAM; dram: both, as its time counts them
    double parts = 0, together = 0, sum_rounds = 1, sum_share = 1;  // of a split that adds up in order
    // Of the call.
    bool gemm = false, asynchronous = false, alone = false;
    bool hides_in_part = false;  // multiplications hide memory, and memory them, in part
    double launches = 1, groups = 1;
    bool queued = false;  // so many kernels of one call that the host launches the next ones while they run
    Seconds cold_start, call, products_in_turn;     // the last: the least that so many launches take
    Cycles borders, offsets;                        // offsets: of the kernel that computes them
    Cycles beside_cycles;                           // of the busiest SM, that nothing overlaps with
    Cycles beside_least;                            // of the other kernels, one after the other, however little they do
    Bytes beside_dram, beside_l2;                   // moved by the kernels beside the main one
    double beside_reach = 1, beside_numbers = 0;    // numbers: real ones of spectra that are transformed
    double beside_instructions = 0;                 // of transforms whose threads first load, then add
    double beside_rows = 0, beside_rows_in_l2 = 0;  // that a thread waits for, one after the other
};

// The same of a layer that streams, or of a depthwise convolution.
struct StreamingCounts {
    Pipe pipe = Pipe::fp32;
    Flops multiplied;
    Cycles rows;                             // of the busiest SM, for rows and for additions to L2
    double of_lanes = 0, of_schedulers = 0;  // slots of all SMs' FP32 lanes and schedulers
    Cycles waited;                           // in turn
    Bytes l1, l2, dram;
    double l2_passes = 1, reach = 1;  // reach: share of the DRAM bandwidth
    double blend = 0;                 // exponent by which waits and bytes join; 0: the longer one hides the other
    Seconds launch;
    Cycles first;  // until the first bytes come
    Seconds host;  // of its launch, in which the GPU writes so many bytes
    Bytes host_ahead;
};

// Amounts of work that take at least as long as a GPU's peak rates ask for.
struct LeastWork {
    Pipe pipe = Pipe::fp32;
    // Of the busiest SM, and what all SMs move. The longest of these hides the others.
    Flops multiplied;
    double issued = 0;
    Bytes shared;
    Cycles waited;
    Bytes l1, l2, dram;
    // Hidden by nothing.
    Bytes dram_alone;
    Cycles waited_alone;
    Seconds alone;
};
// What of a layer's time depends on the number of SMs, on what an SM holds and on the capacity of L2, but on no clock,
// rate or bandwidth: designs that differ in these alone share it.
struct Placement {
    // What the time is computed from: traffic where it is that of Architecture::matrix_gemm, nothing where too little
    // of it is shared (attention, experts, reductions).
    using Basis = std::variant<std::monostate, LaunchCounts, Traffic, StreamingCounts>;
    Basis basis;
    LeastWork least;
};
Placement placed(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs);
Seconds predicted_time(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs,
                       const Placement::Basis& basis);

// What else the time of counted work depends on: a cache line of a design.
struct alignas(64) DesignRates {
    Frequency clock;
    double schedulers = 0;
    double macs = 1;  // FLOP per cycle of every pipe, over those of the GPU that the designs are made from
    BytesPerCycle shared_width, l1_width;
    Bandwidth l2_bandwidth, dram_bandwidth;
    FlopRate fed;
};
// Several designs with one number of SMs, for which the same is computed at once in the widest vectors that the
// processor has. Where there are fewer, one of them is repeated.
inline constexpr std::size_t kAtOnce = 8;
struct Designs {
    const ModelInputs* start = nullptr;  // all other numbers
    double sms = 0;
    std::array<const DesignRates*, kAtOnce> rates{};
};
struct alignas(64) PerDesign : std::array<double, kAtOnce> {};
// Seconds, those of predicted_time. False: it is not computed from counts, so each design has to be asked for.
bool predicted_times(const Placement::Basis& basis, const Designs& designs, PerDesign& times);

// Seconds that these designs take for a unit of each kind of work. Bounds are products and maxima of these: many
// launches are judged on one GPU, and a division for each would take most of the time.
struct UnitTimes {
    PerDesign flop;  // of one pipe
    PerDesign slot, cycle, shared, l1, l2, dram;
};
UnitTimes unit_times(const Designs& designs, Pipe pipe);
// Seconds that no launch with this work takes less than, on designs whose unit times are those of its pipe.
void least_times(const LeastWork& work, std::span<const UnitTimes> units, PerDesign* times);
// Of as many launches as were judged before: where this one's bound is less, it takes the place of the least.
struct LeastBounds {
    std::vector<double> bounds, numbers;  // by design; of launches
};
void take_less(std::span<const double> bounds, double number, LeastBounds& least);

}  // namespace gambrel
