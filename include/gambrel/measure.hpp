// The machine characterizes itself: micro-benchmarks on a device, statistics, and the Machine they give.
// Invariant: a ceiling without a fault proved itself (result checked, working set fits its level, enough samples); a
// failed one is kept with its reason and never becomes part of the Machine. Prints nothing; progress is a callback.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

enum class DeviceKind : std::uint8_t { host, cuda, opencl, simulated };
std::string_view name(DeviceKind kind);  // "host"
std::optional<DeviceKind> device_kind_from(std::string_view name);

// What one micro-benchmark does. A repetition is what one more costs: a launch (empty), a trip of the arithmetic loop
// (fma to mma), a product of n x n matrices (gemm), a pass over the working set (load to triad, host_to_device,
// device_to_host), a dependent load (chase).
enum class ProbeAction : std::uint8_t {
    empty,
    fma,
    add,
    multiply,
    mma,
    gemm,
    load,
    store,
    copy,
    triad,
    chase,
    host_to_device,
    device_to_host,
};
std::string_view name(ProbeAction action);  // "fma", "host_to_device"
std::optional<ProbeAction> probe_action_from(std::string_view name);

// What the operating system, the driver or the catalogue say of a device before anything is measured.
struct DeviceLevel {
    Level level = Level::dram;
    Bytes capacity{};
    int sharers = 1;  // compute units that share one instance: 1 for L1 of an SM, all of them for the L2 of a GPU
};
struct DeviceInfo {
    DeviceKind kind = DeviceKind::host;
    std::string name;    // as a driver prints it
    std::string id;      // UUID, or host name: distinguishes equal devices of a cluster
    std::string detail;  // driver, instruction set: what a reader needs to trust the numbers
    int units = 1;       // SMs, cores
    std::optional<ComputeCapability> compute_capability;  // NVIDIA GPUs
    std::vector<DeviceLevel> levels;                      // those known, from the units outwards
    std::optional<Frequency> clock;                       // nominal, of the units
    std::optional<Machine> theoretical;                   // catalogue entry or what the driver's attributes give
};

// A device that could be opened, for lists and `gambrel doctor`.
struct DeviceFound {
    std::string argument;  // "cuda:0"
    std::string name;
};
std::vector<DeviceFound> find_devices();

// What NVML reports of the clocks of one GPU, in MHz. Absent: the driver does not report it.
struct GpuClocks {
    std::optional<unsigned> now, most, application, by_default;
    std::optional<bool> persistent;
    bool idle = false, by_setting = false;  // the driver's reasons for the present clock
};
// The software that measuring a GPU needs, as far as it is here; for `gambrel doctor`. Opens libraries, changes
// nothing.
struct GpuSoftware {
    std::string driver_problem;  // why there is no usable driver, in the words of the loader or of cuInit; "" if none
    bool driver = false;         // libcuda could be opened
    int cuda_version = 0;        // that the driver supports: 13000 is CUDA 13.0
    int cuda_devices = 0;
    std::string nvrtc;  // version; "" if it cannot be opened
    bool nvml = false;
    std::vector<GpuClocks> clocks;  // of every GPU that NVML shows
    bool opencl = false;
    int opencl_platforms = 0;
};
GpuSoftware find_gpu_software();

// Of repeated runs. The interval holds the median with 95 % confidence whatever the distribution (order statistics).
// That takes six samples; with fewer it is the range.
struct Statistics {
    double median = 0, low = 0, high = 0, minimum = 0, maximum = 0;
    std::size_t count = 0;
    [[nodiscard]] bool has_interval() const { return count >= 6; }
    [[nodiscard]] double relative_interval() const { return median > 0 ? (high - low) / median : 0; }
};
Statistics statistics(std::vector<double> samples);

enum class CeilingKind : std::uint8_t { compute, bandwidth, latency, launch, link };  // FLOP/s, B/s, s, s, B/s

struct MeasuredCeiling {
    CeilingKind kind = CeilingKind::compute;
    std::string title;  // "FP32 FMA", "L2 load", "L2 latency, one core"
    ProbeAction action = ProbeAction::empty;
    std::optional<Pipe> pipe;
    std::optional<Level> level;
    int units = 0;  // compute units that took part
    std::optional<Bytes> working_set;
    // What the roof is drawn at, in base units (see CeilingKind). On a host, whose cores and memory other programs use
    // too and can only slow down: the fastest group of samples that agree. Elsewhere: all samples.
    Statistics value;
    Statistics samples;      // all samples that proved themselves
    bool disturbed = false;  // too few samples agree, or too few ran undisturbed: the hardware may give more
    std::optional<Statistics> sustained;  // held for MeasureOptions::sustained
    // Tensor Cores: the same instruction on operands with random signs and mantissas, which draw the power of real
    // data.
    std::optional<Statistics> realistic;
    std::optional<Frequency> clock;
    std::optional<double> theoretical;  // same unit
    std::string theoretical_cite;
    std::optional<std::string> fault;  // why it proves nothing; then it is reported and never drawn
    std::vector<std::string> notes;    // "throttled: power cap"
    bool primary = false;              // the roof of its pipe or level: the fastest that proved itself
};

// A stretch of working sets over which a sweep's rate holds. Named by the capacity it lies within, never by its order.
struct Plateau {
    std::optional<Level> level;  // absent: no known capacity explains it
    double value = 0;            // median over its points
    double low = 0, high = 0;    // quartiles of its points
    Bytes from{}, to{};
    std::size_t points = 0;
};
struct SweepPoint {
    Bytes working_set{};
    Statistics rate;  // B/s; chosen from its samples as MeasuredCeiling::value is
};
struct LevelWindow {  // working sets of a sweep that a level serves
    Level level = Level::dram;
    double from = 0, to = 0;  // bytes; `to` of DRAM is infinite
};
struct MeasuredSweep {
    std::string title;  // "load, each core its own set"
    std::vector<SweepPoint> points;
    std::vector<LevelWindow> windows;
    std::vector<Plateau> plateaus;
    std::vector<std::string> faults;
};

struct Skipped {
    std::string title, reason;
    // For grouping in the report: the type ("Tensor FP16") and the instruction ("wgmma"); empty if not a matrix probe.
    std::string subject, way;
};

struct Measurement {
    DeviceInfo device;
    std::vector<MeasuredCeiling> ceilings;
    std::vector<MeasuredSweep> sweeps;
    std::vector<Skipped> skipped;  // probes that this device does not support
    bool interrupted = false;      // stopped before the end: the results are partial
    Seconds took{};
    std::string date;  // UTC, ISO 8601; "" if simulated
};

struct MeasureOptions {
    bool quick = false;
    Seconds budget{0};     // 0: 45 s, quick 6 s
    Seconds sustained{0};  // 0: burst only
    bool prove = false;    // read hardware counters: do the bytes of each memory ceiling come from its level?
    // Called between samples from the calling thread. `stop` true ends the run and keeps what is done.
    std::function<void(double fraction, std::string_view doing)> progress;
    std::function<bool()> stop;
};
bool has_failures(const Measurement& measurement);  // a ceiling that did not prove itself
Result<Measurement> measure(std::string_view device, const MeasureOptions& options = {});

// What one group of a GPU kernel reports of its own loop.
struct GroupTime {
    std::uint64_t cycles = 0, nanoseconds = 0;
    std::uint64_t unit = 0;  // the SM that it ran on
};

// Every kernel of the device once, for the first hour on new hardware: is its result right, what code was it, where did
// its groups run and for how long.
enum class KernelOutcome : std::uint8_t { proved, failed, unsupported };
struct KernelCheck {
    std::string title;
    KernelOutcome outcome = KernelOutcome::proved;
    std::string detail;      // why it failed or is not supported
    std::uint64_t code = 0;  // hash of what the GPU was given to run; 0 where there is none
    Seconds time{};
    std::optional<Frequency> clock;
    std::vector<GroupTime> groups;
};
struct SelfTest {
    DeviceInfo device;
    std::vector<KernelCheck> kernels;
    bool interrupted = false;
    std::string date;  // UTC, ISO 8601; "" if simulated
};
bool has_failures(const SelfTest& test);
Result<SelfTest> self_test(std::string_view device, const MeasureOptions& options = {});

// The Machine with what proved itself as measured roofs, on top of what was known of the device.
Machine measured_machine(const Measurement& measurement);

// Plateaus of any sweep: points by rising working set. `windows` names them; without, they stay nameless.
std::vector<Plateau> plateaus(const std::vector<SweepPoint>& points, const std::vector<LevelWindow>& windows);

// Measurements of many ranks side by side: the spread of each ceiling over the nodes, and the outliers. Pure; the
// caller sends the texts between ranks.

struct RankResult {
    int rank = 0;
    std::string error;  // why this rank has no measurement; "" if it has
    Measurement measurement;
};
// What a rank sends: device, ceilings, faults; no sweeps. The inverse of each other for that.
std::string to_wire(const RankResult& result);
Result<RankResult> from_wire(std::string_view text);

struct Outlier {
    int rank = 0;
    std::string device;   // DeviceInfo::id
    double relative = 0;  // value over the median of all ranks, minus one
    bool worse = false;   // slower, or of longer latency
};
struct CeilingSpread {
    MeasuredCeiling typical;  // of the first rank that has it, its value the median over ranks
    std::size_t ranks = 0;
    double lowest = 0, highest = 0;
    int lowest_rank = 0, highest_rank = 0;
    std::vector<Outlier> outliers;
};
struct ClusterSummary {
    std::vector<CeilingSpread> ceilings;
    std::vector<std::pair<int, std::string>> failed;  // rank and why
    Measurement typical;                              // of the first rank, with the medians over ranks
};
// A rank is an outlier in a ceiling if it is off the median of the ranks by more than 5 % and by more than 3.5 robust
// standard deviations (median absolute deviation). It takes three ranks to name one.
ClusterSummary cluster_summary(const std::vector<RankResult>& ranks);
bool has_outliers(const ClusterSummary& summary);

}  // namespace gambrel
