// What must be computed, one layer at a time: its operator with shapes, pass and precision. FLOP and bytes here follow
// from the description alone: compulsory traffic, every operand moved once. It knows no GPU and no kernel that runs a
// layer. Networks of layers and their readers are in network.hpp.
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
// int4 and fp4 (NVFP4, MXFP4) are stored with scales for blocks of elements.
enum class Precision : std::uint8_t { fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4, int4 };
inline constexpr std::size_t kPrecisions = 9;
enum class Layout : std::uint8_t { nchw, nhwc };

std::string_view name(Pass pass);
std::string_view name(Precision precision);
std::string_view name(Layout layout);
std::optional<Pass> pass_from(std::string_view text);            // "fwd", "forward", "bwd_data", "wgrad", ...
std::optional<Precision> precision_from(std::string_view text);  // "fp32", "FP16", "half", "float", ...
std::optional<Layout> layout_from(std::string_view text);
// Of an element in memory: TF32 is stored as FP32, four-bit formats with their scales (one byte for 16 elements).
inline constexpr std::array<double, kPrecisions> kElementBytes = {8, 4, 4, 2, 2, 1, 1, 0.5625, 0.5625};
constexpr Bytes element_size(Precision precision) { return Bytes{kElementBytes[static_cast<std::size_t>(precision)]}; }

// Letters of the DeLTA paper, except that N, C, H, W, K, R, S are lower case to be members. The filter is k x c/groups
// x r x s; the output is n x k x p x q.
struct Convolution {
    std::int64_t n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1;
    std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
    std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1;

    // floor((h + pads - dilation (r - 1) - 1) / stride) + 1; at most 0 where the filter is larger than the padded
    // input.
    [[nodiscard]] std::int64_t p() const { return outputs(h + pad_top + pad_bottom, r, dilation_h, stride_h); }
    [[nodiscard]] std::int64_t q() const { return outputs(w + pad_left + pad_right, s, dilation_w, stride_w); }
    // Input rows and columns that some output reads: a 1x1 of stride 2 reads every other one.
    [[nodiscard]] std::int64_t rows_read() const;
    [[nodiscard]] std::int64_t columns_read() const;
    [[nodiscard]] bool depthwise() const { return groups > 1 && groups == c; }
    bool operator==(const Convolution&) const = default;

private:
    // A row of a table asks for them twenty times; most strides are 1, and a division is dear.
    static std::int64_t outputs(std::int64_t padded, std::int64_t filter, std::int64_t dilation, std::int64_t stride) {
        const std::int64_t room = padded - dilation * (filter - 1) - 1;
        if (room < 0) return 0;
        return stride == 1 ? room + 1 : room / stride + 1;
    }
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
    copy,              // transpose, slice, pad, cast, ...
    rope,              // rotary position embedding
    gated_activation,  // SwiGLU, GeGLU: one half times the activation of the other
    cross_entropy,
    divergence,    // of two distributions: KL, Jensen-Shannon, total variation
    quantization,  // to a narrower format with scales
    dropout,       // reads, multiplies by a random mask, writes; the mask is a byte an element and kept for backward
    routing,       // top-k of each row, and the order of tokens by expert
    optimizer,     // of all parameters; reads gradients and states, writes weights and states
};
inline constexpr std::size_t kStreamingKinds = 25;

struct Streaming {
    StreamingKind kind = StreamingKind::elementwise;
    // Elements of each activation that is read, at most four; what is beyond (a wide concatenation) is in the last.
    std::array<double, 4> read{};
    double parameters = 0;  // elements of scale, shift, statistics
    double written = 0;
    double window = 1;  // inputs per output: of a pooling its filter, of an LRN its size, of a sum of n tensors n - 1
    double rows = 0;    // that are reduced or looked up each by itself: norms, softmax, losses, embeddings; 0: none
    double table_rows = 0;  // of the table that a gather looks its rows up in, each as likely; 0: none is taken twice
    std::optional<Precision> written_as = {};  // where it is not that of what is read: casts, quantization
    // How the kernel goes along its rows, where that is known.
    double read_again = 0;      // elements that the CTA that has read them reads a second time
    double rows_per_sm = 0;     // rows that an SM works on together, so that theirs pass between the two readings
    double threads_per_sm = 0;  // of a CTA that has an SM to itself and takes its rows in turn; 0: SMs are full
    double spilled = 0;         // FP32 numbers that registers do not hold: stored in local memory and loaded again
    double row_step = 0;     // elements of its row that a CTA loads before it waits for them; 0: nothing waits for them
    double row_waits = 0;    // times that a CTA waits for memory beside those of its steps
    double column_step = 0;  // of sums over all rows: rows of 32 columns that a CTA loads before it waits for them
    double lone_waits = 0;   // times that a kernel of a single CTA waits for memory
    double atomics = 0;      // additions to numbers in L2
    bool atomics_ordered = false;  // each of them is a fence, too
    bool operator==(const Streaming&) const = default;
};

// softmax(Q K^T) V as one fused kernel (flash attention), which writes no scores. Unfused attention is GEMMs and a
// softmax, each a layer of its own. q_len new positions stand at the end of kv_len; decode has q_len 1.
struct Attention {
    std::int64_t batch = 1, q_len = 1, kv_len = 1;
    std::int64_t heads = 1, kv_heads = 1;  // heads / kv_heads query heads share one of keys and values (GQA, MQA)
    std::int64_t head_dim = 64, head_dim_v = 64;
    bool causal = false;
    std::int64_t window = 0;  // positions that a query sees, itself among them; 0: all
    bool latent = false;      // values are a part of the keys, as MLA caches them: they are read once
    bool paged = false;       // keys and values lie in pages of a cache
    std::optional<Precision> kv_precision = {};  // of keys and values in memory, where it is not that of the layer
    // Sequences of one new query each that the same launch serves beside the prompt, as a chunked prefill has them.
    std::int64_t decode_batch = 0, decode_kv_len = 0;
    // (query, key) pairs of one head and sequence that the masks leave: exact, not by tiles.
    [[nodiscard]] double pairs() const;
    // Keys that the queries starting at `row` see, `rows` of them together: what a tile must visit.
    struct Range {
        std::int64_t begin = 0, end = 0;
    };
    [[nodiscard]] Range keys_of(std::int64_t row, std::int64_t rows) const;
    [[nodiscard]] std::int64_t keys_read() const;  // that some query sees
    bool operator==(const Attention&) const = default;
};

// A feed-forward layer of which each token uses topk of the experts. What this GPU does of it: experts are shared out
// over expert_parallel GPUs, and `intermediate` of each over tensor_parallel. Without the router's own GEMM.
struct MixtureOfExperts {
    std::int64_t tokens = 1, hidden = 1, intermediate = 1, experts = 1, topk = 1;
    std::int64_t tensor_parallel = 1, expert_parallel = 1;
    bool gated = true;         // three matrices an expert (SwiGLU), else two
    double imbalance = 0;      // the load of an expert falls with its rank to this power (Zipf); 0: all alike
    bool busiest_gpu = false;  // this GPU has the most loaded experts, else an even share of them
    [[nodiscard]] std::int64_t local_experts() const;
    [[nodiscard]] double local_intermediate() const;
    bool operator==(const MixtureOfExperts&) const = default;
};
// The tokens of each expert of this GPU, in falling order, as expected values.
std::vector<double> expert_loads(const MixtureOfExperts& moe);
// Tokens times topk that this GPU works on, and how many of its experts have at least one token, as expected values.
struct RoutedWork {
    double assignments = 0, experts_touched = 0;
};
RoutedWork routed_work(const MixtureOfExperts& moe);

// A sum over GPUs that every one of them needs: tensor parallelism has two in a transformer block.
struct AllReduce {
    double elements = 0;
    std::int64_t ranks = 1;
    bool operator==(const AllReduce&) const = default;
};

// What a measured time of a row is of; it decides what is charged beside the kernels. kernel: no launch, no call.
// graph: a replayed CUDA graph with warm caches. call: events around a library's call. framework: a framework's call.
// stream: many calls of a library in a row, so that the host is ahead of the GPU.
enum class Timing : std::uint8_t { kernel, graph, call, framework, stream };
std::string_view name(Timing timing);
std::optional<Timing> timing_from(std::string_view text);

// A kernel of its own for the bias of a product: it adds it to the result, or writes it into C before, which the
// product then reads.
enum class BiasKernel : std::uint8_t { none, adds, copies };

// How the narrow numbers of an input are scaled that a call makes before its product. tensor: one scale for all, so
// that the largest value of the whole input is found first.
enum class InputScales : std::uint8_t { none, blocks, tensor };

// Instead of an algorithm's name: the one that is predicted fastest of those that a library has for the layer.
inline constexpr std::string_view kFastestAlgorithm = "FASTEST";
// It and the names of cuDNN's algorithms, as cuDNN writes them.
inline constexpr std::array<std::string_view, 9> kAlgorithmNames = {
    "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM",           "DIRECT", "FFT", "FFT_TILING",
    "WINOGRAD",      "WINOGRAD_NONFUSED",     kFastestAlgorithm};

// What a table's row says of how the layer was run. Empty where it says nothing.
struct Hints {
    std::string algorithm, kernel, gpu;
    bool algorithm_found = false;  // by the model, for kFastestAlgorithm: it says nothing of what was timed
    std::int64_t tile_m = 0, tile_n = 0, tile_k = 0;  // as the kernel's name has them; 0: not given
    std::int64_t split_k = 0, kernels = 0;            // CTAs to an output tile; kernels that the call launched
    std::optional<Frequency> sm_clock;
    std::optional<Precision> math;    // of the multiplications, where it is not that of the storage
    std::optional<bool> tensor_core;  // whether the matrix units were used
    std::optional<Timing> timing;
    double fma = 0;             // multiply-adds that ran, as a profiler counted them; 0: not given
    Bytes workspace;            // that the library asked for; 0: not given
    bool overwrites = false;    // the kernel reads what it writes: C of a GEMM with beta = 1, ReLU in place
    bool cold = false;          // L2 was cleared before it
    bool profiled = false;      // it ran alone after a profiler had emptied all caches, those of instructions too
    bool base_clock = false;    // such a profiler also holds the base clock, unless the row has another
    bool other_layout = false;  // tensors are not stored as matrix kernels read them: the library turns them over
    bool any_layout = false;    // the row does not say how tensors are stored; Layer::layout is a guess
    BiasKernel bias_kernel = BiasKernel::none;  // of a call whose kernels are looked at together
    bool adds_up_parts = false;                 // a kernel of that call adds up the parts of a split reduction
    // The time includes the kernels that make FP8 or FP4 of a wider input.
    InputScales quantizes_input = InputScales::none;
    // Time that the host needs to launch the kernel, which is no shorter; less that of writing `host_ahead`, which the
    // GPU does meanwhile. 0: the host keeps up.
    Seconds host;
    Bytes host_ahead;
    bool operator==(const Hints&) const = default;
};

struct Layer {
    std::string name;
    std::variant<Convolution, Gemm, Streaming, Attention, MixtureOfExperts, AllReduce> op;
    Pass pass = Pass::fwd;
    Precision precision = Precision::fp32;
    std::optional<Precision> weights = {};  // of a filter in memory, where it is not `precision`: W4A16, FP8 experts
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
std::vector<std::string> faults(const Attention& attention);
std::vector<std::string> faults(const MixtureOfExperts& moe);
std::vector<std::string> faults(const Layer& layer);

// The following are of one run of the layer: `repeat` is applied by totals only.
// 2 per multiply-add; those with padding are counted, as papers and cuDNN benchmarks do. Equal in all passes of a
// convolution or GEMM. Integer work counts like FLOP. Of attention the multiplications that its masks leave: two GEMMs
// forward, five backward, which is one pass (dgrad); its softmax is not counted.
Flops flop(const Layer& layer);

// Every operand once. `input`, `filter`, `output` are the tensors or their gradients; of a GEMM A, B, C; of a streaming
// layer what is read, its parameters, and what is written; of attention Q, K with V, and O; of experts the tokens, the
// weights of those that have a token, and the sum of their outputs.
struct OperandBytes {
    Bytes input, filter, output, bias;
    Bytes read, written;  // the same bytes by direction
};
OperandBytes compulsory_bytes(const Layer& layer);
// Elements of a layer's bias, 0 without one; and the size of each, which is not that of narrow formats: INT8 kernels
// add INT32, FP8 kernels BF16.
std::int64_t bias_elements(const Layer& layer);
Bytes bias_element_size(Precision precision);
// Of what a layer writes: products of eight and four bits are written in 16, convolutions in what they read.
Bytes result_element_size(const Layer& layer);

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

}  // namespace gambrel
