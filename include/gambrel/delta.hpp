// The closed-form model of a layer on a machine: bytes at L1, L2 and DRAM and time, after DeLTA (arXiv 1904.01691) and
// beyond it. Pure functions of plain numbers: reads no file, prints nothing, allocates nothing for a prediction.
// docs/model.md has the equations, and where each constant comes from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <gambrel/machine.hpp>
#include <gambrel/mapping.hpp>
#include <gambrel/network.hpp>

namespace gambrel {

// paper: the forms of arXiv 1904.01691 as reconstructed. gambrel: ours.
enum class Model : std::uint8_t { paper, gambrel };
std::string_view name(Model model);

// The numbers of a machine that the model needs, at one clock: taken out once, used for any number of layers.
struct Hardware {
    double clock = 0;  // Hz of the SMs
    double sms = 0, schedulers = 4;
    PerPipe<double> flop_per_cycle{};                         // of an SM; 0: the machine has none
    double shared_width = 128, l1_width = 64;                 // B/cycle of an SM
    double l2_bandwidth = 0, dram_bandwidth = 0;              // B/s
    double l1_latency = 0, l2_latency = 0, dram_latency = 0;  // cycles
    double l2_capacity = 0;                                   // B that any SM's data can use
    double clock_long = 0;  // Hz that a slot-powered board falls to; 0: it holds `clock`
    double launch = 0;      // s from one kernel's end to the next one's start
    ComputeCapability cc;
};
Hardware hardware(const Machine& machine, std::optional<Frequency> clock = {}, Roofs roofs = Roofs::measured);

// Bytes by operand: A and B as the GEMM reads them, C as it writes it (with the partial sums of split-K, read and
// written).
struct OperandTraffic {
    double a = 0, b = 0, c = 0;
    [[nodiscard]] double total() const { return a + b + c; }
};
struct Traffic {
    OperandTraffic shared, l1, l2, dram;
    double reads_of_a = 1, reads_of_b = 1;  // how many times each comes from DRAM
    // Of dram, what an uneven last wave reads again. SMs rest meanwhile and DRAM has room: bytes, but no time.
    double dram_uneven = 0;
    double l1_hit = 0, l2_hit = 0;  // of the bytes asked for
};

// What a prediction waits for. `issue` is the warp schedulers, `latency` too few warps to fill them.
enum class Term : std::uint8_t { compute, issue, latency, shared, l1, l2, dram, launch };
inline constexpr std::size_t kTerms = 8;
std::string_view name(Term term);

struct TimeTerms {
    std::array<double, kTerms> seconds{};  // the time that each would take were it alone
    double prologue = 0, epilogue = 0;     // s, not hidden by other CTAs
    double waves = 0;                      // CTAs over those that fit at once
    double tail = 1;                       // time over what an even share of the CTAs would take
    [[nodiscard]] double operator[](Term t) const { return seconds[static_cast<std::size_t>(t)]; }
    double& operator[](Term t) { return seconds[static_cast<std::size_t>(t)]; }
};

// Kinds of layers whose residuals differ; intervals are learned for each.
enum class Regime : std::uint8_t {
    many_waves,
    few_waves,
    one_wave,
    short_reduction,
    tensor_core,  // convolutions
    streaming,
    tensor_gemm,
};
inline constexpr std::size_t kRegimes = 7;
std::string_view name(Regime regime);

struct Prediction {
    Mapping mapping;
    Occupancy occupancy;
    Grid grid;
    double flop = 0;
    Traffic traffic;
    TimeTerms terms;
    double time = 0;  // s
    Term bound = Term::compute;
    Regime regime = Regime::many_waves;
    double time_low = 0, time_high = 0;  // holds four of five measured rows of its regime
};

Prediction predict(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const Hardware& hardware,
                   Model model = Model::gambrel);
// By mapping_for; with `search` the known tile that is predicted fastest.
Prediction predict(const Layer& layer, const Machine& machine, const Hardware& hardware, Model model = Model::gambrel,
                   bool search = false);

}  // namespace gambrel
