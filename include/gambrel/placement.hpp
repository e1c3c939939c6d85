// What searches over many designs share and compute fast: of a tiled layer what no clock, rate, bandwidth or latency
// changes, and bounds of its time. Invariant: a time is that of predict (delta.hpp) to the last bit, and a bound is
// never above it.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>

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
    double engine_slots = 0, engine_steps = 0;
    bool waits_for_l2 = false, wait_is_filled = false;  // at every step of an engine
    bool wait_is_shared = false;                        // DRAM answers one CTA while those beside it are busy
    bool stores_apart = false;                          // nothing is multiplied while outputs are stored
    Cycles barriers;
    Bytes shared;
    // Of all CTAs.
    double ctas = 0, per_sm = 1, full_waves = 0, gathered = 0, rounds = 0, k_steps = 1;
    Flops fed;                         // what it multiplies, and what it moves in FLOP of the same energy
    Bytes l1, l2, read, dram, stored;  // read, stored: from and to DRAM; dram: both, as its time counts them
    double parts = 0, together = 0, sum_rounds = 1, sum_share = 1;  // of a split that adds up in order
    // Of the call.
    bool gemm = false, asynchronous = false, alone = false;
    double launches = 1, groups = 1;
    bool queued = false;  // so many kernels of one call that the host launches the next ones while they run
    Seconds cold_start, call, products_in_turn;     // the last: the least that so many launches take
    Cycles borders, offsets;                        // offsets: of the kernel that computes them
    Cycles beside_cycles;                           // of the busiest SM, that nothing overlaps with
    Bytes beside_dram, beside_l2;                   // moved by the kernels beside the main one
    double beside_reach = 1, beside_slots = 0;      // slots: of multipliers
    double beside_rows = 0, beside_rows_in_l2 = 0;  // that a thread waits for, one after the other
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
// Seconds that a GPU takes for a unit of each kind of work. Bounds are products and maxima of these: many launches are
// judged on one GPU, and a division for each would take most of the time.
class UnitTimes {
public:
    UnitTimes() = default;
    explicit UnitTimes(const ModelInputs& inputs);
    // No launch with this work is faster.
    [[nodiscard]] Seconds least(const LeastWork& w) const {
        // Plain numbers, because of std::max of quantities, which it has by reference, GCC makes branches.
        const double multiplied = (w.multiplied * flop_[w.pipe]).value(), issued = (w.issued * slot_).value(),
                     shared = (w.shared * shared_).value(), waited = (w.waited * cycle_).value();
        const double l1 = (w.l1 * l1_).value(), l2 = (w.l2 * l2_).value(), dram = (w.dram * dram_).value();
        const Seconds alone = w.dram_alone * dram_ + w.waited_alone * cycle_ + w.alone;
        const double sm = std::max(std::max(multiplied, issued), std::max(shared, waited));
        return kRounding * (Seconds{std::max(sm, std::max(std::max(l1, l2), dram))} + alone);
    }

private:
    static constexpr double kRounding = 1 - 1e-9;  // the bound must hold to the last bit
    PerPipe<decltype(Seconds{} / Flops{})> flop_{};
    Seconds slot_;
    decltype(Seconds{} / Cycles{}) cycle_;
    decltype(Seconds{} / Bytes{}) shared_, l1_, l2_, dram_;
};

// What of a tiled layer's time depends on the number of SMs, on what an SM holds and on the capacity of L2, but on no
// clock, rate or bandwidth: designs that differ in these alone share it.
struct Placement {
    // What the time is computed from: traffic where it is that of Architecture::matrix_gemm.
    using Basis = std::variant<LaunchCounts, Traffic>;
    Basis basis;
    LeastWork least;
};
Placement placed(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs);
Seconds predicted_time(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs,
                       const Placement::Basis& basis);

}  // namespace gambrel
