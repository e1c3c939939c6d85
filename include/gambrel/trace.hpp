// Traces to a Timeline, and a Timeline to Kernels: time as the trace has it, work and bytes of each launch by the
// model, from the operator's shapes and the kernel's name and grid. Computes no verdict. Invariant: every nanosecond of
// a kernel, copy or memset is in exactly one TimeClass.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/layer.hpp>
#include <gambrel/machine.hpp>

namespace gambrel {

// One argument of an operator, as the trace recorded it.
struct OperatorInput {
    using Dims = std::vector<std::int64_t>;
    std::vector<Dims> tensors;  // one, those of a list of tensors, or none
    std::vector<Dims> strides;  // of the same tensors; empty where the trace has none
    std::string type;           // "float", "c10::BFloat16", "TensorList", "Scalar"; "" if not recorded
    std::string value;          // of what is not a tensor: "1", "[2, 2]", "True"
};

// A call of an operator with its inputs. Calls that are equal in all, parents included, are one.
struct OperatorCall {
    Symbol name;
    std::vector<OperatorInput> inputs;
    std::int32_t parent = -1;  // the call that encloses it, as index into Timeline::calls; -1: none
    // The first tensor that the next operator reads: the output, where strides and padding were not recorded.
    OperatorInput::Dims next_input;
};

// What ran on a GPU.
struct Activity {
    enum class Kind : std::uint8_t { kernel, copy, memset };
    // How it came to run. unknown: the trace has no launches at all.
    enum class Launch : std::uint8_t { operation, no_operation, graph, before_capture, unknown };
    Symbol name;
    std::int64_t start_ns = 0, duration_ns = 0;
    std::int64_t launch_ns = -1;  // when the host called for it; -1: unknown
    Kind kind = Kind::kernel;
    Launch launch = Launch::unknown;
    std::uint32_t device = 0;  // index into Timeline::devices
    std::int32_t gpu = 0;      // its number in the file
    std::uint32_t rank = 0;    // index into Timeline::ranks
    std::int64_t stream = 0;
    std::int32_t call = -1;           // index into Timeline::calls
    std::int64_t instance = -1;       // equal for what one call of an operator launched
    LaunchShape shape;                // zeros where unknown
    double bytes = -1;                // of a copy or memset; -1: unknown
    std::int32_t registers = 0;       // of a thread; 0: unknown
    std::int64_t shared_memory = -1;  // of a CTA; -1: unknown
    Symbol module, phase;
    std::int32_t step = -1;
};

struct Timeline {
    struct Device {
        std::string name;  // as the trace spells it; "" if it does not
        std::optional<ComputeCapability> compute_capability;
        std::optional<Bytes> memory;
        double sms = 0;  // 0: unknown
        bool operator==(const Device&) const = default;
    };
    struct Rank {
        std::string name;  // "0" as the trace says, else its place among the files
        std::string source;
    };
    std::string title;
    std::vector<Device> devices;
    std::vector<Rank> ranks;
    std::vector<OperatorCall> calls;
    std::vector<Activity> activities;  // by rank, then by start
    std::uint64_t steps = 0;
    std::uint64_t operators = 0;  // host operators that were read
    bool partial = false;         // a file is truncated, or could not be read
    Errors notes;
};

// Whether these are the first bytes of a trace: Chrome JSON with traceEvents, a bare list of events, or SQLite.
bool is_trace(std::string_view bytes);
// Files or folders of files, each a rank of one run; .gz is unpacked. What is not a trace in a folder is left out.
// Nothing, and no error, where the first file that was named, or every file of a folder, is something else, and for a
// pipe, which can be read only once.
Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths);
// The same by several processes, each of which reads a part of the files and sends it to the first; the others get
// nothing. The result does not depend on their number.
struct TraceShare {
    int rank = 0, size = 1;
    std::function<void(std::string_view)> send;  // to the first
    std::function<std::string(int)> receive;     // by the first
};
Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths, const TraceShare& share);
// The same where it must be traces.
Result<Timeline> read_timeline(std::span<const std::string> paths);
// One file from memory, for tests; `bytes` needs no padding.
Result<Timeline> read_timeline(std::string_view bytes, const std::string& source);

// What the model takes a launch for: `share` of a layer, and bytes that it moves at every level beside it.
struct LaunchLayer {
    std::optional<Layer> layer;
    double share = 1;
    Bytes extra;
};

struct TraceOptions {
    std::optional<Machine> machine;                // instead of the one that the trace names
    std::vector<std::string> operator_files;       // operator tables beside the built-in one; later rules win
    std::function<bool(const std::string&)> keep;  // only kernels whose name this accepts; classes count them all
    bool shapes_in_operators = false;  // an operator is named with its module and shapes: the same on every GPU
    std::vector<Layer> network;        // what ran, in order: shapes for kernels that have none in the trace
    // Called with every launch whose work and bytes are known. Equal launches get the same object.
    std::function<void(const Kernel&, const LaunchLayer&)> on_modelled = {};
};
// Fails where the machine cannot be told: the error names the candidates.
Result<Run> to_run(const Timeline& timeline, const TraceOptions& options = {});

}  // namespace gambrel
