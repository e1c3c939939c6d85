// What one launch, or a group of launches, did: time, work by pipe, bytes by level, launch shape. Every amount carries
// its origin and the rule that made it. An absent amount is unknown, never zero. Reads no file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

template <class Q>
struct Amount {
    Q value{};
    Origin origin = Origin::measured;
    Symbol rule;  // the id of the metric rule or model equation, for --explain
};
template <class Q>
using Known = std::optional<Amount<Q>>;

// The bare number in base units, of a Quantity, a Known or a Fact: for tables and for changes of unlike quantities.
template <class T>
std::optional<double> base_units(const std::optional<T>& known) {
    if (!known) return std::nullopt;
    if constexpr (requires { known->value.value(); })
        return known->value.value();
    else if constexpr (requires { known->value(); })
        return known->value();
    else
        return known->value;
}

struct LaunchShape {
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    [[nodiscard]] double ctas() const { return double(grid[0]) * double(grid[1]) * double(grid[2]); }
    bool operator==(const LaunchShape&) const = default;
};

struct Kernel {
    Symbol name;              // in full, as the profiler gave it
    Symbol phase;             // NVTX range or the file's phase; empty if none
    Symbol source;            // the file it came from
    Symbol device;            // as the profiler names it; empty if it did not
    Symbol op, module, rank;  // of a trace: the operator and module that launched it, and whose file; else empty
    Symbol time_class;        // of a trace: the name of its TimeClass; else empty
    std::size_t machine = 0;  // index into Run::machines
    std::uint64_t launches = 1;
    std::uint64_t zero_flop_launches = 0;  // launches whose work is known to be zero

    Known<Seconds> time;
    PerPipe<Known<Flops>> work;
    Known<Flops> sparse_work;         // the part of the tensor work done in sparse mode, already in `work`
    bool has_uncounted_work = false;  // a pipe was busy and nobody counted what it did: totals are then unknown
    PerLevel<Known<Bytes>> bytes;
    Known<Frequency> clock;  // of the SMs while it ran; over a group, weighted by time

    // What the hardware could have given while it ran, where the source says so: a profiler's peak per cycle times the
    // clock of that unit. Closer to the run than any catalogue, because L2 and DRAM have clocks of their own.
    struct PipePeak {
        Pipe pipe = Pipe::fp64;
        Amount<FlopRate> peak;
    };
    struct LevelPeak {
        Level level = Level::dram;
        Amount<Bandwidth> peak;
    };
    std::vector<PipePeak> pipe_peaks;
    std::vector<LevelPeak> level_peaks;

    // What the source says of the launch that is not an amount: occupancy, registers, hit rates, reasons of stalls, the
    // profiler's own percentages. The names are those of data/metrics/gauges.json; over a group, the mean by time.
    struct Gauge {
        Symbol name;
        Amount<double> reading;
    };
    std::vector<Gauge> gauges;

    std::optional<LaunchShape> shape;  // absent over a group of different shapes
    // Why an amount is missing or not to be trusted. A kernel with a reason is still a row.
    std::vector<Symbol> reasons;
    std::vector<Symbol> remedies;  // what would supply it: "ncu --metrics ..."
};

// FLOP of all floating-point pipes that are known; absent if none is, if a busy pipe was not counted, or if they come
// to zero while FP32, FP16 or the Tensor Cores were not counted: a hole is not a zero. (FP64 alone is seldom collected
// for deep learning, and seldom used.)
Known<Flops> flop(const Kernel& kernel);
// FLOP of all Tensor Core pipes (floating point), absent if unknown.
Known<Flops> tensor_flop(const Kernel& kernel);
bool is_zero_flop(const Kernel& kernel);  // work known, and none
std::optional<Intensity> intensity(const Kernel& kernel, Level level);
std::optional<FlopRate> flop_rate(const Kernel& kernel);
// "achieved_occupancy"; null if the source does not say it.
const Amount<double>* gauge(const Kernel& kernel, std::string_view name);

// "volta_sgemm_128x64_nn"; "elementwise_kernel<CUDAFunctor_add<float>>": C++ templates made readable in `width`
// columns.
std::string short_name(std::string_view full_name, std::size_t width = 48);
// Of kernels that stand in one view: those that would look alike end with the word that tells them apart.
std::vector<std::string> short_names(std::span<const std::string_view> full_names, std::size_t width = 48);

// A kernel that ran `times` times: every amount and the number of launches multiplied.
Kernel repeated(Kernel kernel, double times);

// What the GPU time of a trace is made of. Every kernel, copy and memset is in exactly one class. modelled: work and
// bytes are known by the model. unmodelled: it ran, and a reason says what is missing. before_capture: launched before
// the capture began. graph: launched by a CUDA graph, and its shapes are unknown.
enum class TimeClass : std::uint8_t { modelled, unmodelled, before_capture, graph, communication, copy, memset };
inline constexpr std::size_t kTimeClasses = 7;
std::string_view name(TimeClass time_class);

// Durations in whole nanoseconds. Over several ranks, sums.
struct TimelineSummary {
    struct Class {
        std::uint64_t ns = 0, events = 0;
    };
    struct Unmodelled {
        Symbol op, reason;  // the operator, or the kernel where no operator is known
        std::uint64_t ns = 0, events = 0;
    };
    std::array<Class, kTimeClasses> classes{};   // adds up to gpu_ns
    std::uint64_t gpu_ns = 0;                    // the durations of all kernels, copies and memsets
    std::uint64_t wall_ns = 0;                   // from the first of them to the end of the last
    std::uint64_t idle_ns = 0;                   // of it, while none runs
    std::uint64_t exposed_communication_ns = 0;  // of it, while communication runs and no other kernel does
    std::uint64_t launch_bound_ns = 0;           // of idle_ns, before a kernel that was launched too late
    std::uint64_t ranks = 1, steps = 0;          // steps that the trace marks; 0: it marks none
    std::vector<Unmodelled> unmodelled;          // by falling time

    [[nodiscard]] const Class& of(TimeClass c) const { return classes[static_cast<std::size_t>(c)]; }
    [[nodiscard]] Class& of(TimeClass c) { return classes[static_cast<std::size_t>(c)]; }
};

// When each event of a trace ran, and on which stream: for drawings. Durations of a class add up to its ns in the
// TimelineSummary.
struct TimelineLanes {
    struct Lane {
        Symbol rank;
        std::int32_t gpu = 0;
        std::int64_t stream = 0;
    };
    struct Event {
        Symbol name;
        std::int64_t start_ns = 0;  // since the first event of its rank: ranks do not share a clock
        std::int64_t duration_ns = 0;
        std::uint32_t lane = 0;  // index into lanes
        std::int32_t step = -1;  // counted from 0 in its rank; -1: in none that the trace marks
        TimeClass time_class = TimeClass::unmodelled;
        std::optional<std::size_t>
            row;  // of a Run: in its kernels; of an Analysis: in its rows; absent: left out there
    };
    std::vector<Lane> lanes;    // by rank, GPU, stream
    std::vector<Event> events;  // by lane, then by start
};

// What every source of kernels makes, whether they were profiled, modelled, simulated or traced: the kernels, the
// machines that they ran on, and what is known of both. Everything to the right of it asks no more where it came from.
struct Run {
    std::string title;  // what ran, for headings
    std::vector<Kernel> kernels;
    std::vector<Machine> machines;
    Origin origin = Origin::measured;
    std::optional<Roofs> roofs{};  // that its times were made with or judged by; absent: the source does not say
    bool partial = false;          // the source was cut short: a truncated file, an interrupted simulation
    Errors notes{};
    std::optional<TimelineSummary> timeline{};  // of a trace
    std::optional<TimelineLanes> lanes{};       // of a trace
};
// Replaces each machine that the source only names or describes in part: by `chosen` if that is given, else by the
// catalogue's machine of that name. Adds notes on machines that stay unknown, and on a choice that contradicts the
// name.
void resolve_machines(Run& run, const Machine* chosen = nullptr);
// Measured roofs for a run that was made with them, or whose machine file has them; theoretical ones otherwise.
Roofs default_roofs(const Run& run);

enum class Grouping : std::uint8_t { launch, kernel, phase, op, module, rank };
// As flags and arguments spell them: "launch", "kernel", "operator", "module", "phase", "rank".
const std::vector<std::string>& grouping_names();
std::optional<Grouping> grouping_from(std::string_view name);
// exact: the sum of the launches' times. mean_rate: summed cycles over the mean clock, as the scripts of arXiv
// 2009.05257 have it; up to 0.6 % off on their own data, and needed only to reproduce their tables.
enum class TimeSum : std::uint8_t { exact, mean_rate };
// Sums over launches that share a name (and phase), a phase, an operator, a module or a rank, in order of falling time.
// Launches of different classes of a trace are never summed together: the unknown would hide the known. An amount that
// is unknown in one member is unknown in the sum, with a reason, unless it is unknown in all; a sum never hides a hole.
std::vector<Kernel> grouped(std::vector<Kernel> launches, Grouping by, TimeSum time_sum = TimeSum::exact);
// One sum for each phase and device, of whatever classes its launches are.
std::vector<Kernel> phase_sums(const std::vector<Kernel>& launches, TimeSum time_sum = TimeSum::exact);
// As grouped(), and for each launch the place of its group among them.
struct Groups {
    std::vector<Kernel> kernels;
    std::vector<std::size_t> of_launch;
};
Groups groups_of(std::vector<Kernel> launches, Grouping by, TimeSum time_sum = TimeSum::exact);
Kernel total(const std::vector<Kernel>& kernels, std::string_view name = "total");

}  // namespace gambrel
