// How a layer is run: the tiles of the implicit GEMM, what a warp loads with one request, stages, CTA order, split-K;
// and what fits on an SM. It predicts no bytes and no time; `delta` and `sim` do, from the same Mapping and without
// sharing a line. Machines are expected to be complete (missing_numbers in machine.hpp); this room does not check them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/machine.hpp>
#include <gambrel/network.hpp>

namespace gambrel {

// Every fitted constant of mapping and model, read once from data/model/constants.json, which says for each what it
// stands for and which measured rows it was fitted on. Those of one architecture are in Architecture.
struct Calibration {
    double dram_reach = 0;
    Seconds launch, cold_start, cold_start_short;
    double promised_clock = 0, sustained_clock = 0, byte_energy = 0, power_share = 0;
    Seconds power_window, power_settling;
    double linear_call = 0, split_call = 0;
    Cycles issue_interval;
    double instructions_outside_loop = 0, instructions_per_output = 0, instructions_per_step = 0,
           instructions_along_k = 0;
    double direct_start = 0, direct_channel = 0, direct_tap = 0;
    Cycles matrix_barrier, ordered_sum, offsets_kernel;
    double tap_offsets = 0, sliced_step = 0, fft_reach = 0, fft_slots = 0, fft_instructions = 0;
    double winograd_instructions = 0, transpose_reach = 0, scalar_load_slots = 0, engine_load_slots = 0,
           fragment_wavefronts = 0, engine_fragment_wavefronts = 0, last_wave_gathering = 0;
    double drift = 0, split_least_miss = 0, split_full_excess = 0, panel_share = 0, tap_row_share = 0;
    double depthwise_l2 = 0;
    double wave_rounding = 0, tile_overhead = 0, power_surge = 0, half_width_energy = 0, ecc_refetch = 0;
    double quantization_passes = 0, drift_waves = 0, l2_out_of_step = 0;
    Seconds joined_maximum, sum_of_parts;
    double registers_fixed = 0, registers_per_output = 0, tile_reach_area = 0;
    double sliced_waves = 0, wide_waves = 0, long_part = 0;
    double wgrad_ctas_per_sm = 0, wgrad_least_parts = 0, wgrad_matrix_ctas = 0, gemm_split_chunk = 0,
           convolution_split_from = 0;
};
const Calibration& calibration();

// Products on Tensor Cores by the kernels of Architecture::matrix_gemm. The start and the end of a tile take as many
// cycles in every precision and on every GPU that runs these kernels; here in elements of k at `rate`.
double tile_overhead(const MatrixGemm& library, FlopPerCycle rate);
// Waves that are charged for `even` CTAs an SM, each with `k` of the reduction and a tile's overhead. SMs that would be
// idle take over a part of k, but none shorter than Calibration::gemm_split_chunk.
double charged_waves(double even, double k, double overhead);
// What the power of a board feeds of such products in a second, in FP16 FLOP, and the energy of a byte that L2 sends,
// in such FLOP. fed is 0 where the power or the energies are not known: nothing limits them then.
struct MatrixPower {
    FlopRate fed;
    double byte = 0;
    double lowest_voltage = 0;  // clock over boost below which the voltage falls no further
};
MatrixPower matrix_power(const Machine& machine, const Architecture& architecture);
// FP16 FLOP that take the energy of one FLOP of such elements.
double flop_in_fp16(const MatrixGemm& library, Bytes element);
// Clock over boost that the power leaves a kernel that would take `busy` at boost clock and is fed in `fed`. Power
// falls with the square of the clock: the kernel takes the geometric mean of both times. Below MatrixPower's
// lowest_voltage it falls with the clock alone.
double powered_clock(Seconds busy, Seconds fed, double lowest_voltage);

struct FittedConstant {
    std::string name, value, mechanism, rows;  // the value with its unit
};
std::span<const FittedConstant> fitted_constants();

// tiled: an implicit or explicit GEMM by CTA tiles. depthwise: one thread an output, filters in registers.
// streaming: every operand once, in order. attention: a CTA holds a tile of queries and walks along the keys. experts:
// grouped GEMMs with routing and permutation around them. collective: over the links between GPUs.
enum class KernelFamily : std::uint8_t { tiled, depthwise, streaming, attention, experts, collective };
std::string_view name(KernelFamily family);

// Which CTAs are neighbours in launch order. rows_first: the row index (M) runs fastest, as in cuDNN's NCHW kernels, so
// that consecutive CTAs walk down one column. columns_first: N runs fastest. A band above 1 makes super-columns of so
// many columns (rows), walked through before the next one begins: a swizzle.
enum class CtaOrder : std::uint8_t { rows_first, columns_first };

// How one warp's load instruction lies on a tile of an operand: `lanes` of its 32 threads stand beside each other along
// the tile's side (m of A, n of B), the others along k; each takes `vector` elements, along k if k_major, else along
// the side. `k_major` says which index is contiguous in memory: that of A in NHWC, of a filter stored k, c, r, s.
struct WarpLoad {
    std::int32_t lanes = 32;
    std::int32_t vector = 1;
    bool k_major = false;
    // Lines stay in L1 for later k-steps. False: L1 only merges what one step's requests have in common (Kepler,
    // Maxwell and GP10x without .nc; on Volta cuDNN's older engines, interior dgrad and dgrad on Tensor Cores, by their
    // counters).
    bool through_l1 = true;
    bool asynchronous = false;  // cp.async or TMA: to shared memory without registers
    // The bytes that the starts of runs are multiples of; 0: what follows from the tensor's pitch.
    std::int32_t alignment = 0;
    // Elements that lie beside each other in memory and that one request takes together.
    [[nodiscard]] std::int32_t run() const { return (k_major ? 32 / lanes : lanes) * vector; }
    bool operator==(const WarpLoad&) const = default;
};

// Where the CTAs that share an output tile (split-K) add up. atomics: in the output. workspace: each writes its sums, a
// second kernel of the call adds them up. partial: the same, and that kernel is not part of what is looked at.
// in_order: one after the other in the output, each reading what those before it have written.
enum class SplitSums : std::uint8_t { atomics, workspace, partial, in_order };

// A convolution by fewer multiplications. winograd_fused: F(2x2, 3x3) in one kernel, blocks of 4 x 8 tiles of 2x2
// outputs by 32 filters. winograd_separate: F(4x4, 3x3) or F(9x9, 5x5), transforms and GEMMs as kernels of their own.
// fft: spectra of whole images, and a product for each frequency; fft_tiled: the same of tiles of 32 x 32, tile by
// tile.
enum class Transform : std::uint8_t { none, winograd_fused, winograd_separate, fft, fft_tiled };

// Spectra of a convolution by Fourier transforms, of real numbers: half of the frequencies are stored.
struct Spectra {
    std::int64_t numbers = 0;  // complex ones of one spectrum
    std::int64_t tiles = 1;    // spectra of one channel of one image
    std::int64_t turns = 1;    // tiles that are launched one after the other
    std::int32_t passes = 1;   // kernels that one transform takes: one up to 32 points a side, each reads and writes
};
Spectra spectra_of(const Convolution& convolution, Transform transform);
// Sides of the tiles of Winograd's algorithm in separate kernels: of outputs, and of the inputs that make them.
struct SeparateTiles {
    std::int64_t outputs, inputs;
    [[nodiscard]] std::int64_t numbers() const { return inputs * inputs; }
};
SeparateTiles separate_tiles(const Convolution& convolution);  // F(4x4, 3x3), F(9x9, 5x5)

// CTAs that run at the same time on neighbouring SMs, along the rows and the columns of tiles. Of an operand's tile
// that several of them need each loads a part and sends it to the others (multicast). 1 x 1: every CTA loads for
// itself.
struct Cluster {
    std::int32_t rows = 1, columns = 1;
    bool operator==(const Cluster&) const = default;
};

struct Mapping {
    KernelFamily family = KernelFamily::tiled;
    Transform transform = Transform::none;
    Tile cta, warp;                // warp.k is cta.k, but cta.k / slices where warps share out the k-step
    std::int32_t threads = 0;      // of a CTA
    std::int32_t registers = 0;    // of a thread
    std::int32_t spilled = 0;      // values of a thread that found no register
    std::int32_t vector_step = 0;  // of a product with several vectors and no tiles: elements of k that a CTA waits for
    Bytes shared_memory;           // of a CTA, all stages
    std::int32_t stages = 2;       // tiles of k in shared memory at a time; 2: double buffered
    std::int32_t split_k = 1;      // CTAs that share one output tile
    std::int64_t split_chunk = 0;  // the most k of one CTA where chunks end at images (wgrad_alg0); 0: split evenly
    std::int64_t padded_k =
        0;  // k with the zeros that fill its steps up, or that a CTA goes through at the least; 0: k itself
    std::int32_t split_grain = 0;  // parts of a split are multiples of this many k; 0: of whole k-steps
    std::int32_t store_run = 32;   // contiguous elements that one store or atomic of a warp covers
    SplitSums sums = SplitSums::atomics;
    bool leaves_zeros = false;                  // of a strided dgrad, pixels without a gradient are not written
    bool overwrites = false;                    // the output is read before it is written
    BiasKernel bias_kernel = BiasKernel::none;  // that runs beside a product
    bool engine = false;                        // one of cuDNN's older engines
    bool loads_offsets = false;                 // each request for pixels also loads the offset of its k
    bool computes_offsets = false;              // a kernel before the main one makes such offsets
    bool explicit_matrix = false;               // the input was written out as a matrix before (im2col)
    bool writes_matrix = false;                 // and the kernel that did so is part of what is looked at
    std::int32_t border_sides = 0;  // sides of the images whose outputs, where padding is met, are computed apart
    bool transposes = false;        // kernels before and after it write input and output in another layout
    bool four_products = false;     // a product of complex numbers takes four real ones, not three
    bool splits_first = false;      // CTAs of one output tile are neighbours in launch order, else those of one split
    CtaOrder order = CtaOrder::rows_first;
    std::int32_t band = 1;
    // Nothing: the kernel is not known so well. The simulator then takes every CTA by itself, and the model has what
    // clusters share as a number of the architecture.
    std::optional<Cluster> cluster;
    bool stream_k = false;  // the CTAs of the last, incomplete wave share out the k of its tiles evenly; `sim` alone
    WarpLoad a, b;
    Pipe pipe = Pipe::fp32;        // that multiplies
    Layout layout = Layout::nchw;  // that the kernel reads; a layer stored otherwise pays for a transposition
    // Groups are launched one after the other, each as a convolution of its own, as cuDNN 7 does it.
    bool groups_in_turn = false;  // one after the other, each as one_group has it
    // Kernels that one call launches for each group in turn: cuDNN's precomputed offsets or a split-K reduction are one
    // more each.
    std::int32_t launches = 1;
    // Of attention: query heads of one group that stand as rows of one tile, so that they read their keys once.
    std::int32_t packed_heads = 1;
    bool warp_products = false;    // of attention: flash-attention 2, whose warps multiply by themselves on every GPU
    bool transposed_view = false;  // rows of tiles are the layer's N and columns its M, as BLAS sees row-major GEMM
    // Where the tile came from: a table's row, a kernel's name, the kernels of an algorithm, given by hand, the rule,
    // or a search.
    enum class Source : std::uint8_t { row, kernel_name, algorithm, given, rule, search };
    Source source = Source::rule;
    [[nodiscard]] Cluster ctas_together() const { return cluster.value_or(Cluster{}); }
    // Of an engine that reads NHWC: threads side by side stand at pixels whose channels lie in different lines.
    [[nodiscard]] bool pixels_apart() const { return engine && layout == Layout::nhwc && a.k_major && a.run() == 1; }
    bool operator==(const Mapping&) const = default;
};

struct Occupancy {
    std::int32_t ctas_per_sm = 0;
    std::int32_t warps_per_sm = 0;
    enum class Limit : std::uint8_t { threads, registers, shared_memory, ctas };
    Limit limit = Limit::threads;
    Bytes l1;  // left for L1 by the shared memory carve-out of ctas_per_sm CTAs
};

// The grid of a tiled kernel: tiles of the GemmView, times split_k and batch.
struct Grid {
    std::int64_t rows = 0, columns = 0, batch = 1, split_k = 1;
    std::int64_t k_steps = 0;  // of one CTA, at most
    [[nodiscard]] std::int64_t ctas() const { return rows * columns * batch * split_k; }
};

// The numbers of one SM that decide what fits on it, and how many SMs there are. Looked up once for a machine.
struct SmLimits {
    double sms = 0;
    double max_warps = 0, max_ctas = 0;
    Bytes registers, shared_memory, shared_memory_per_cta;
    Bytes l1;  // the whole array, where shared memory is carved out of it
    const Architecture* architecture = nullptr;
};
SmLimits sm_limits(const Machine& machine);
// ctas_per_sm is 0 if one CTA needs more than an SM has.
Occupancy occupancy(const SmLimits& limits, const Mapping& mapping);
Occupancy occupancy(const Machine& machine, const Mapping& mapping);
// The GEMM that a kernel computes. By Winograd's algorithm, that of the transformed tiles, whole blocks of them. Of a
// strided dgrad only the taps that reach a pixel are multiplied: stride x stride smaller problems, or as many as there
// are taps.
std::optional<GemmView> kernel_view(const Layer& layer);
// By the row's algorithm or kernel; none where the layer is no convolution that the algorithm takes.
Transform transform_of(const Layer& layer);
// FLOP of a layer that its kernel does. They are those of flop(layer), but a dgrad computes no gradient of the padding:
// of a layer that is padded by its filter's size or more it does fewer.
Flops kernel_flop(const Layer& layer);
// The same of a layer whose transform_of is known, which is looked for in the words of its row.
std::optional<GemmView> kernel_view(const Layer& layer, Transform transform);
Flops kernel_flop(const Layer& layer, Transform transform);
// Of a strided dgrad, the problems that it falls into; 1 otherwise.
std::int64_t gradient_classes(const Convolution& convolution);
Grid grid(const GemmView& view, const Mapping& mapping);

// What a kernel's name says of how it runs. Absent members are not in the name.
struct KernelName {
    Tile tile;  // 0 where the name does not say
    std::int32_t slices = 1, stages = 0, vector = 0;
    std::optional<bool> tensor_core, nhwc, split_k;
    bool precomputed = false, explicit_matrix = false;  // of an engine: loads offsets; reads an im2col matrix
    bool leaves_zeros = false;                          // pixels without a gradient are cleared by another kernel
    std::optional<Pass> pass;
    // cudnn: s*cudnn and xmma convolutions. engine: cuDNN's older templates (implicit_convolve_sgemm,
    // wgrad_alg0_engine). direct: cuDNN's kernels of few channels, a thread an output. gemm: BLAS. winograd and other:
    // nothing that a tile describes.
    enum class Family : std::uint8_t { cudnn, engine, direct, gemm, winograd, other };
    Family family = Family::other;
    std::string_view other_algorithm = {};  // of the function below
};
KernelName parse_kernel_name(std::string_view name);
// Which algorithm that is no implicit GEMM the name of an algorithm or a kernel speaks of: "WINOGRAD", "FFT", "DIRECT",
// "winograd", or "" if none.
std::string_view other_algorithm(std::string_view name);

// The pipe that multiplies for a layer: a Tensor Core where the GPU has one for the precision and the row does not say
// otherwise. An error where the GPU computes in no such precision; `note` where libraries compute in another one.
struct PipeChoice {
    Pipe pipe = Pipe::fp32;
    std::string note;
};
Result<PipeChoice> pipe_for(const Layer& layer, const Machine& machine);
// Whether pipe_for has neither an error nor a note for any layer that multiplies in this precision.
bool computes_plainly(const Machine& machine, Precision precision);

// One of the groups of a convolution, as a layer without groups.
Layer one_group(const Layer& layer);
// The layer by each algorithm that cuDNN has for it, where its own is kFastestAlgorithm: as an implicit GEMM by the
// rule first, and of FP32 convolutions on CUDA cores, forward and dgrad, by its engines and by Winograd's algorithm.
// Any other layer as it is.
std::vector<Layer> by_library_algorithms(const Layer& layer, const Machine& machine);
// A tile of a row that has a shorter side is not that of a GEMM's CTA, and not used.
inline constexpr std::int64_t kSmallestTile = 8;
// What the row gives, else what its kernel's name says, else the rule of docs/model/mapping.md for the machine's
// architecture, the layer's pass and precision. Does not ask whether the GPU has the precision: pipe_for does.
Mapping mapping_for(const Layer& layer, const Machine& machine);
Mapping mapping_for(const Layer& layer, const Machine& machine, const SmLimits& limits);
// The same for another tile: threads, registers and shared memory follow. What --best-mapping searches over.
Mapping with_tile(Mapping mapping, const Layer& layer, const Machine& machine, Tile tile);
// Tiles that the library has kernels of for this machine and precision.
std::span<const Tile> known_tiles(const Machine& machine, Pipe pipe);

}  // namespace gambrel
