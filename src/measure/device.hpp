// One small door to everything that can be measured: what a device is, whether it can do a probe, and one timed run.
// Invariant: a Sample without a fault did exactly the work it states, checked by the device; the caller decides how
// often to run and what the numbers mean. Probes say what to do, never how: the host runs them with SIMD, a GPU renders
// them to source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/measure.hpp>
#include <gambrel/units.hpp>

#include "measure/statistics.hpp"

namespace gambrel::measure_detail {

// How the working set lies on the compute units (SMs, cores).
enum class WorkingSetSharing : std::uint8_t {
    own,    // every unit walks a set of its own, of `working_set` bytes: L1, shared memory; on hosts every level
    whole,  // every unit walks the whole of one set of `working_set` bytes, each from another start: L2 of GPUs
    split,  // one set of `working_set` bytes is divided among the units: DRAM
};

// Which instructions do a matrix product. `automatic` is for the actions that are none.
enum class MatrixPath : std::uint8_t {
    automatic,
    warp,           // mma.sync
    warpgroup,      // wgmma, sm_90a
    tensor_memory,  // tcgen05, sm_100a
    library,        // cuBLASLt
};

// Of several instructions, or ways of a library, for the same type and path.
enum class MatrixVariant : std::uint8_t { usual, k4, k16, k96, nvfp4, fast_accumulation };

// A declarative description of one micro-kernel. Two probes that compare equal are the same kernel.
struct Probe {
    ProbeAction action = ProbeAction::empty;
    Pipe pipe = Pipe::fp32;                        // element type of arithmetic; of triad's too
    MatrixPath matrix = MatrixPath::automatic;     // mma, gemm
    MatrixVariant variant = MatrixVariant::usual;  // mma, gemm
    bool random = false;                           // mma: operands with random signs and mantissas
    int shape_m = 0, shape_n = 0, shape_k = 0;     // mma: the instruction's shape; 0: the device's best for the pipe
    int chains = 0;                                // independent chains of each thread; 0: the device's choice
    int extent = 0;                                // gemm: n of an n x n x n product
    std::optional<Level> level{};                  // what the working set is meant for; `shared` needs its own kernel
    WorkingSetSharing sharing = WorkingSetSharing::own;  // memory actions
    int vector_bytes = 0;                                // width of one access; 0: the device's widest
    int units = 0;                                       // compute units that take part; 0: all
    bool operator==(const Probe&) const = default;
};
std::string matrix_way(const Probe& probe);  // mma, gemm: "wgmma", "GEMM by library"; else ""
std::string one_line(const Errors& errors);  // for a table: "where: what; where: what"
std::string title(const Probe& probe);       // for progress and faults: "FP32 FMA", "L2 load", "DRAM triad, one core"

// What one timed run did. Rates are the caller's arithmetic.
struct Sample {
    Seconds time{};
    double flop = 0;                       // integer operations too where the pipe is one
    Bytes bytes{};                         // moved between the units and memory: copy 2, triad 3 x the elements
    double accesses = 0;                   // chase: dependent loads; empty: launches
    std::optional<Frequency> clock;        // of the compute units while it ran
    std::optional<std::string> throttled;  // why the clock was held down, as the driver says
    bool disturbed = false;  // another program ran on the same compute units: the result is right, the time too long
    IssueWidth narrowest;    // of the cores that took part, measured around the run; a host's
    std::vector<GroupTime> groups;  // of a GPU's last launch; empty where the device cannot say
    std::uint64_t code = 0;         // hash of the code of that launch; 0 where there is none
    // Why this sample proves nothing ("sum is 3.1, expected 4"). Absent: the result was read back and is right.
    std::optional<std::string> fault;
};

// What hardware counters say that one kernel moved. Absent: the GPU does not count it.
struct LevelBytes {
    std::optional<Bytes> l1, l2, dram;
};
struct CountedRun {
    Sample sample;  // its time is that of a profiled kernel and means nothing
    LevelBytes bytes;
};

class PreparedProbe {
public:
    virtual ~PreparedProbe() = default;
    // `working_set` as the probe's WorkingSetSharing reads it; ignored by arithmetic. A device may round it down to
    // whole vectors but then counts bytes of what it walked. An error ends the probe (a launch failed), a fault only
    // the sample.
    virtual Result<Sample> run(Bytes working_set, std::int64_t repetitions) = 0;
};

// "Not on this device" is an ordinary answer: a null probe and the reason. Errors are for what should have worked.
struct Preparation {
    std::unique_ptr<PreparedProbe> probe;
    std::string reason;
};

class Device {
public:
    virtual ~Device() = default;
    [[nodiscard]] virtual const DeviceInfo& info() const = 0;
    // Allocates for working sets up to `largest` and compiles.
    virtual Result<Preparation> prepare(const Probe& probe, Bytes largest) = 0;
    // What will be prepared, so that it can be compiled meanwhile.
    struct Expected {
        Probe probe;
        Bytes working_set{};
    };
    virtual void expect(const std::vector<Expected>&) {}
    // Runs the probe once while counters count its own kernel and not those that prepare or check. A failure says why
    // there are no counters.
    virtual Result<CountedRun> counted(const Probe& probe, PreparedProbe& prepared, Bytes working_set,
                                       std::int64_t repetitions);
    // What budgets are counted in: wall time, unless the device has a time of its own.
    [[nodiscard]] virtual Seconds now() const;
    // Why nothing can run on the device any more, if so: on a GPU a faulty kernel takes its whole context with it.
    [[nodiscard]] virtual std::optional<std::string> lost() const { return std::nullopt; }
    // Below this width a unit shares its silicon, by all that was seen until now. 0: unknown.
    [[nodiscard]] virtual double least_width(int /*unit*/) const { return 0; }
};

// "cpu", "cuda:0", "opencl:1", "sim:v100": a kind, and what comes after the colon.
struct DeviceOpener {
    std::string_view prefix;
    std::string_view help;                                           // "cuda:N  NVIDIA GPU N"
    Result<std::unique_ptr<Device>> (*open)(std::string_view rest);  // rest is "" without a colon
    // What is here now, without opening more than needed to name it; empty if there is none.
    std::vector<DeviceFound> (*find)();
};
std::vector<DeviceOpener> device_openers();  // src/measure/device_kinds.cpp lists them: one line for a new kind
Result<std::unique_ptr<Device>> open_device(std::string_view name);

}  // namespace gambrel::measure_detail
