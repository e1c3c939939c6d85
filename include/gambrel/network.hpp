// What must be computed: layers with their shapes, pass and precision, and networks of them; readers and built-in ones.
// Invariant: a Layer that a reader or a built-in network gives has no faults(). FLOP and bytes here follow from the
// description alone: compulsory traffic, every operand moved once. It knows no GPU and no kernel that runs a layer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

// dgrad is the gradient of the input (of a GEMM: of A), wgrad that of the filter (of B).
enum class Pass : std::uint8_t { fwd, dgrad, wgrad };
enum class Precision : std::uint8_t { fp64, fp32, tf32, fp16, bf16, fp8, int8 };
enum class Layout : std::uint8_t { nchw, nhwc };

std::string_view name(Pass pass);
std::string_view name(Precision precision);
std::string_view name(Layout layout);
std::optional<Pass> pass_from(std::string_view text);            // "fwd", "forward", "bwd_data", "wgrad", ...
std::optional<Precision> precision_from(std::string_view text);  // "fp32", "FP16", "half", "float", ...
std::optional<Layout> layout_from(std::string_view text);
// Of an element in memory: TF32 is stored as FP32.
Bytes element_size(Precision precision);

// Letters of the DeLTA paper, except that N, C, H, W, K, R, S are lower case to be members. The filter is k x c/groups
// x r x s; the output is n x k x p x q.
struct Convolution {
    std::int64_t n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1;
    std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
    std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1;

    // floor((h + pads - dilation (r - 1) - 1) / stride) + 1; at most 0 where the filter is larger than the padded
    // input.
    [[nodiscard]] std::int64_t p() const;
    [[nodiscard]] std::int64_t q() const;
    // Input rows and columns that some output reads: a 1x1 of stride 2 reads every other one.
    [[nodiscard]] std::int64_t rows_read() const;
    [[nodiscard]] std::int64_t columns_read() const;
    [[nodiscard]] bool depthwise() const { return groups > 1 && groups == c; }
    bool operator==(const Convolution&) const = default;
};

// C[m x n] = A[m x k] B[k x n], `batch` times. An operand that is shared is the same for the whole batch.
struct Gemm {
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    bool a_transposed = false, b_transposed = false;  // as stored: k x m, n x k
    bool a_shared = false, b_shared = false;
    bool operator==(const Gemm&) const = default;
};

// Layers that read tensors, do a few FLOP per element and write one. docs/formats.md has the FLOP of each kind.
// batch_norm applies known statistics (inference); batch_norm_training finds them first.
enum class StreamingKind : std::uint8_t {
    max_pool,
    average_pool,
    batch_norm,
    batch_norm_training,
    layer_norm,
    group_norm,
    rms_norm,
    local_response_norm,
    activation,      // a comparison or two: ReLU, clip
    transcendental,  // sigmoid, tanh, GELU, exp
    elementwise,
    softmax,
    concatenation,
    resize,
    reduction,
    gather,
    copy,  // transpose, slice, pad, cast, ...
};
inline constexpr std::size_t kStreamingKinds = 17;

struct Streaming {
    StreamingKind kind = StreamingKind::elementwise;
    // Elements of each activation that is read, at most four; what is beyond (a wide concatenation) is in the last.
    std::array<double, 4> read{};
    double parameters = 0;  // elements of scale, shift, statistics
    double written = 0;
    double window = 1;  // inputs per output: of a pooling its filter, of an LRN its size, of a sum of n tensors n - 1
    bool operator==(const Streaming&) const = default;
};

// What a table's row says of how the layer was run. Empty where it says nothing; nothing here changes FLOP or bytes.
struct Hints {
    std::string algorithm, kernel, gpu;
    std::int64_t tile_m = 0, tile_n = 0, tile_k = 0;  // as the kernel's name has them; 0: not given
    std::int64_t split_k = 0, kernels = 0;            // CTAs to an output tile; kernels that the call launched
    std::optional<Frequency> sm_clock;
    std::optional<Precision> math;    // of the multiplications, where it is not that of the storage
    std::optional<bool> tensor_core;  // whether the matrix units were used
    double fma = 0;                   // multiply-adds that ran, as a profiler counted them; 0: not given
    bool overwrites = false;          // the kernel reads what it writes: C of a GEMM with beta = 1, ReLU in place
    // The row has a profiler's counters: each kernel ran alone, with cold caches, and its time is its own.
    bool profiled = false;
    bool operator==(const Hints&) const = default;
};

struct Layer {
    std::string name;
    std::variant<Convolution, Gemm, Streaming> op;
    Pass pass = Pass::fwd;
    Precision precision = Precision::fp32;
    Layout layout = Layout::nchw;
    double repeat = 1;             // how many times the network runs it
    bool input_is_trained = true;  // false: nothing before it learns, so it needs no gradient of its input
    bool has_filter = true;        // false: both operands of a GEMM are activations, as attention scores
    // A number for each channel is added to what is written, by the kernel that writes it: k of a convolution, n of a
    // GEMM, c of a dgrad that is a transposed convolution. Gradients have none: libraries sum that of a bias apart.
    bool bias = false;
    Hints hints = {};
};

// All that is wrong with the shape, as sentences; empty if nothing is.
std::vector<std::string> faults(const Convolution& convolution);
std::vector<std::string> faults(const Gemm& gemm);
std::vector<std::string> faults(const Layer& layer);

// The following are of one run of the layer: `repeat` is applied by totals only.
// 2 per multiply-add; those with padding are counted, as papers and cuDNN benchmarks do. Equal in all passes of a
// convolution or GEMM. Integer work counts like FLOP.
Flops flop(const Layer& layer);

// Every operand once. `input`, `filter`, `output` are the tensors or their gradients; of a GEMM A, B, C; of a streaming
// layer what is read, its parameters, and what is written.
struct OperandBytes {
    Bytes input, filter, output, bias;
    Bytes read, written;  // the same bytes by direction
};
OperandBytes compulsory_bytes(const Layer& layer);
// Elements of a layer's bias, 0 without one; and the size of each, which is not that of narrow formats: INT8 kernels
// add INT32, FP8 kernels BF16.
std::int64_t bias_elements(const Layer& layer);
Bytes bias_element_size(Precision precision);

// The GEMM that an implicit-GEMM kernel computes; `batch` is the number of independent ones (groups).
struct GemmView {
    std::int64_t m = 0, n = 0, k = 0, batch = 1;
    bool operator==(const GemmView&) const = default;
};
// Empty for a streaming layer.
std::optional<GemmView> gemm_view(const Layer& layer);
GemmView gemm_view(const Convolution& convolution, Pass pass);
GemmView gemm_view(const Gemm& gemm, Pass pass);

std::string_view name(StreamingKind kind);
// Times `window` and the elements written (pooling, LRN) or those of the largest tensor (the others). One special
// function (exp, erf, division) counts one. docs/formats.md has the table.
double flop_per_element(StreamingKind kind, Pass pass);

// An operator of a file that has no layer here, or whose shapes could not be known.
struct Unmodelled {
    std::string op;      // "NonMaxSuppression"; with its domain where that is not ONNX's own
    std::string reason;  // why
    std::string first;   // the first node of this kind
    std::int64_t count = 0;
    Bytes bytes;                      // of its tensors whose shapes are known, each once
    std::int64_t unknown_shapes = 0;  // tensors that `bytes` lacks
};

struct NamedShape {
    std::string name;
    std::vector<std::int64_t> dims;
};

struct Network {
    std::string name;
    std::string note;  // which published version it is, and what was chosen
    std::vector<NamedShape> inputs;
    std::vector<NamedShape> outputs;  // of a file; those whose shape is known
    std::vector<Layer> layers;        // in the order they run
    std::vector<Unmodelled> unmodelled;
    double parameters = 0;  // learned elements: filters, biases, scales and shifts
    Errors notes;           // what was assumed of a file
};

struct Totals {
    Flops flop;         // of all layers
    Flops matrix_flop;  // of convolutions and GEMMs: what papers state as twice the MACs
    Bytes bytes;        // compulsory, of all layers
    Bytes unmodelled;   // of the operators that have no layer
};
Totals totals(const Network& network);
// Bytes of the unmodelled over all bytes known; 0 if there is nothing.
double unmodelled_share(const Network& network);

// One layer for each that differs in anything but its name; order of first appearance, repeats added.
std::vector<Layer> merged(std::span<const Layer> layers);
// Forward, then backward in reverse order: dgrad where a gradient must flow on, wgrad where there is a filter.
// A streaming layer's backward is one dgrad: kernels compute the gradients of its parameters on the way.
Network training(const Network& network);
// The same network stored in another precision or layout. INT8 layers stay: they are quantised, or indices in bytes.
Network with_precision(Network network, Precision precision);
Network with_layout(Network network, Layout layout);

struct BuiltinOptions {
    std::int64_t batch = 1;
    std::int64_t sequence = 128;  // of bert-base
};
struct BuiltinNetwork {
    std::string_view name, what;
};
std::span<const BuiltinNetwork> builtin_networks();
Result<Network> builtin_network(std::string_view name, const BuiltinOptions& options = {});

struct OnnxOptions {
    std::optional<std::int64_t> batch;        // dimension 0 of every input
    std::vector<NamedShape> shapes;           // of inputs by name; wins over batch
    std::optional<Precision> precision = {};  // instead of that of the file's tensors
};
Result<Network> read_onnx(std::string_view bytes, const std::string& source, const OnnxOptions& options = {});
Result<Network> load_onnx(const std::string& path, const OnnxOptions& options = {});
// "data:1x3x224x224".
Result<NamedShape> shape_from(std::string_view text);

// One row of a layer table. `layers` is empty if and only if there is a reason; it holds two where the row is of a
// whole backward pass, dgrad and wgrad in one call.
struct LayerRow {
    std::size_t line = 0;
    std::vector<std::string> cells;  // of all columns, as they were
    std::vector<Layer> layers;
    std::string reason;
};
struct LayerTable {
    std::vector<std::string> columns;
    std::vector<LayerRow> rows;
    Errors notes;  // columns that are passed through but look like a misspelt one
};
struct LayerTableOptions {
    std::optional<Precision> precision;  // of rows that give none; else FP32, with a note
};
// docs/formats.md, "Layer tables".
Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options = {});
Result<LayerTable> load_layer_table(const std::string& path, const LayerTableOptions& options = {});

}  // namespace gambrel
