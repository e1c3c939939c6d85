// What all GPUs of one compute capability share, and the words that machines, kernels and networks share. The catalogue
// of architectures is compiled into the library.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

// The words that machines, kernels and networks share: where a number comes from, which memory level it belongs to,
// and which arithmetic pipe does the work. Enumerations and their names, nothing else.

// Of hardware: datasheet, measured, derived, assumed, or simulated (a sim: device). Of what a kernel did: measured,
// modelled or simulated; its work may be derived from the layer, its clock assumed. Never mixed silently.
enum class Origin : std::uint8_t { datasheet, measured, derived, assumed, modelled, simulated };
inline constexpr std::size_t kOrigins = 6;

// From the arithmetic outwards. `shared` is beside L1, not between L1 and the pipes; l3 exists on hosts.
enum class Level : std::uint8_t { shared, l1, l2, l3, dram };
inline constexpr std::size_t kLevels = 5;

// The ordinary pipes, then the matrix units (Tensor Cores) by the type of their inputs. FP16 and FP8 inputs accumulate
// in FP32 unless the name says acc16: consumer GPUs run the two at different rates.
enum class Pipe : std::uint8_t {
    fp64,
    fp32,
    fp16,
    bf16,
    int32,
    tensor_fp64,
    tensor_tf32,
    tensor_bf16,
    tensor_fp16,
    tensor_fp16_acc16,
    tensor_fp8,
    tensor_fp8_acc16,
    tensor_fp6,
    tensor_fp4,
    tensor_int8,
    tensor_int4,
    tensor_int1,
};
inline constexpr std::size_t kPipes = 17;

template <class T>
struct PerLevel : std::array<T, kLevels> {
    constexpr T& operator[](Level l) { return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l)); }
    constexpr const T& operator[](Level l) const {
        return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l));
    }
};
template <class T>
struct PerPipe : std::array<T, kPipes> {
    constexpr T& operator[](Pipe p) { return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p)); }
    constexpr const T& operator[](Pipe p) const {
        return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p));
    }
};

constexpr std::array<Level, kLevels> all_levels() {
    return {Level::shared, Level::l1, Level::l2, Level::l3, Level::dram};
}
constexpr std::array<Pipe, kPipes> all_pipes() {
    std::array<Pipe, kPipes> pipes{};
    for (std::size_t i = 0; i < kPipes; ++i) pipes[i] = static_cast<Pipe>(i);
    return pipes;
}
constexpr bool is_tensor(Pipe p) { return p >= Pipe::tensor_fp64; }
// Integer work is work, but not FLOP: it is kept apart from FLOP totals.
constexpr bool is_integer(Pipe p) {
    return p == Pipe::int32 || p == Pipe::tensor_int8 || p == Pipe::tensor_int4 || p == Pipe::tensor_int1;
}

std::string_view name(Origin origin);  // "datasheet"
std::string_view name(Level level);    // "L1", "DRAM"
std::string_view name(Pipe pipe);      // "fp32", "tensor_fp16"
std::string_view title(Pipe pipe);     // for people: "FP32", "Tensor FP16"

std::optional<Origin> origin_from(std::string_view name);
std::optional<Level> level_from(std::string_view name);
std::optional<Pipe> pipe_from(std::string_view name);

// A number that never travels without its source. An absent std::optional<Sourced<T>> is an unknown.
template <class T>
struct Sourced {
    T value{};
    Origin origin = Origin::assumed;
    std::string cite;
};
template <class T>
using Fact = std::optional<Sourced<T>>;

struct ComputeCapability {
    int major = 0;
    int minor = 0;
    auto operator<=>(const ComputeCapability&) const = default;
};
std::string to_text(ComputeCapability cc);  // "8.6"
std::optional<ComputeCapability> parse_compute_capability(std::string_view text);

// Sides of a GEMM tile in elements: m x n outputs, k of the reduction at a time.
struct Tile {
    std::int32_t m = 0, n = 0, k = 0;
    bool operator==(const Tile&) const = default;
};

// How libraries use the Tensor Cores of one architecture.
struct MatrixUnits {
    double reach = 1;                          // share of the peak that the instruction reaches; fitted
    bool asynchronous_copies = false;          // operands go to shared memory past registers and L1: cp.async, TMA
    bool operands_from_shared_memory = false;  // the instruction reads them there (wgmma): warps load no fragments
    std::int32_t stages = 2;                   // tiles of k in shared memory at a time
    Bytes k_step;                              // of one row of a tile in one k-step
    std::int32_t outputs_per_thread = 64;
    std::int32_t threads = 0;           // of a CTA; 0: by outputs_per_thread
    std::int32_t producer_threads = 0;  // of these, those that only load
    std::int32_t registers = 0;         // of a thread; 0: by its outputs
    std::vector<Tile> tiles;            // that libraries have kernels of
    // What convolutions need: channels in and out in multiples of this, else they run without these units (0: any); and
    // steps along k that end with the channels of a tap, so that few channels are filled up with zeros.
    std::vector<Tile> convolution_tiles;  // of forward convolutions; empty: `tiles`
    std::int32_t convolution_channels = 0;
    bool steps_end_with_tap = false;
};

// A kernel for products whose input has one scale, which splits no reduction, and when its library takes it. The CTAs
// of a cluster get what they share from L2 once.
struct ScaledKernel {
    std::int64_t from_rows = 0, from_k = 0;
    std::int64_t up_to_rows = 0, up_to_columns = 0;  // 0: any number
    Tile tile;
    std::int32_t cluster_m = 1, cluster_n = 1;
    [[nodiscard]] bool fits(std::int64_t rows, std::int64_t columns, std::int64_t k) const {
        return rows >= from_rows && k >= from_k && (up_to_rows == 0 || rows <= up_to_rows) &&
               (up_to_columns == 0 || columns <= up_to_columns);
    }
};

// How long the matrix products of one architecture's libraries take beside what its Tensor Cores multiply; fitted.
struct MatrixGemm {
    Seconds start;            // from the start of the kernel to full speed, and from there to its end
    double l2_reuse = 1;      // bytes that SMs get for each one that L2 sends: clusters share operands
    double dram_reach = 1;    // share of the pin rate that streams of operands reach
    double narrow_reach = 1;  // share of the peak that FP8 and narrower formats reach
    FlopPerCycle full_rate;   // FP16 rate of an SM of the GPU that these kernels were written for
    // Of one FP16 or BF16 FLOP at boost clock with all Tensor Cores busy, all of the board's power counted, in pJ.
    // 0: not known; the board is taken to hold its clock.
    double flop_energy = 0;
    // Of FLOP of eight and of four bits, relative to that; 0: Calibration::half_width_energy, and its square.
    double half_width_energy = 0, quarter_width_energy = 0;
    Frequency lowest_voltage;                  // the clock below which the voltage falls no further; 0: never reached
    std::vector<Tile> tiles;                   // the library's choice, without those that differ little
    std::vector<ScaledKernel> scaled_kernels;  // of products whose input has one scale; the first that fits runs
};

// cuDNN's older engines, which run the algorithms IMPLICIT_GEMM and, as `precomputed`, IMPLICIT_PRECOMP_GEMM where it
// has nothing better. The wide tile is taken where filters, k and CTAs all reach these numbers.
struct EngineChoice {
    Tile narrow, wide;  // narrow.m is 0 where there is no such engine
    std::int64_t from_filters = 0, from_k = 0, from_ctas = 0;
    // From so many images and CTAs of convolution_tile on, that tile runs instead; 0: never.
    std::int64_t tiled_from_images = 0, tiled_from_ctas = 0;
};
struct EngineKernels {
    EngineChoice implicit{{32, 32, 8}, {64, 128, 8}, 65, 0, 0}, precomputed;
    // Of FP16 tensors by `implicit`. NHWC: from so many filters on, by this tile; else as FP32. NCHW: by a kernel that
    // multiplies and adds in FP16. m is 0: as FP32.
    Tile half_wide, half_sums;
    std::int64_t half_wide_from_filters = 0;
    // GEMM, whose input another kernel has written out as a matrix.
    EngineChoice written_out{{32, 32, 8}, {64, 128, 8}, 65, 0, 0};
    std::int32_t filter_run = 4, store_run = 32;  // elements that one request takes together along k, that a store does
    bool filters_through_l1 = false;              // their lines stay in L1 for other CTAs
    // Multiplier slots that an element of a tile costs: it is loaded alone, with its address and bounds; fitted. 0: as
    // Calibration::engine_load_slots says.
    double load_slots = 0;
    // Outputs at a side of the images that meet padding are computed apart by engines with precomputed offsets, and
    // with empty caches wait this long for each element of k; fitted. 0: not seen.
    Cycles border_step;
};

// What cuDNN 7's kernels for Fourier transforms do on an architecture.
struct FourierKernels {
    bool transposes = false;  // every spectrum of FFT, between its transform and the products
    // Where eight images or more share the filters of FFT, each of them reads the filters' spectra again.
    bool rereads_filters = false;
    // A single image, and by FFT_TILING a single filter, is multiplied as a vector; false: as a tile that is filled up.
    bool single_image_is_vector = false;
    // Of FFT with fewer than 32 images: the tile of a kernel that takes four real multiplications for a complex one.
    // m = 0: that of more images, which takes three.
    Tile few_images;
    std::int32_t wide_from_images = 33;  // from which the tile of FFT's products has 64
    Tile tiled;                          // of the products of FFT_TILING. m = 0: by the rule
    // Issue slots of a multiplication in the products of FFT_TILING, which take four real ones for a complex one there:
    // their registers lie in the same bank, and so do those of its transforms. 0: three, of one slot.
    std::int32_t slots_of_four = 0;
};

// What all GPUs of one compute capability share and no datasheet of a board says: carve-outs, granularities, the tiles
// that libraries ship. Data (data/architectures), not branches in code; every section of a file cites its source.
struct Architecture {
    std::string id, name;  // "volta", "Volta"
    std::vector<ComputeCapability> covers;
    // Of an SM, for machine files that do not say.
    double schedulers = 0, max_warps = 0, max_ctas = 0;
    Bytes registers, shared_memory, shared_memory_per_cta, l1_capacity;
    BytesPerCycle shared_width, l1_width;
    // What a CTA takes is rounded up: registers of a thread, bytes of shared memory. The driver reserves some more.
    std::int32_t registers_per_thread = 0, register_granularity = 1;
    Bytes shared_memory_granularity, shared_memory_reserved;
    bool l1_holds_shared_memory = false;  // one array; shared memory is carved out of it in these steps
    std::vector<Bytes> carve_outs;
    bool l1_keeps_global_loads = false;      // lines stay for later loads; false: L1 only merges concurrent ones
    bool l2_partitions_keep_copies = false;  // each partition caches what its own SMs read
    // What a profiler's counter of L2 adds for a sector whose home is in the other partition: lookups beyond the first
    // one, of a read that misses, of a write, and of a write to a line that the kernel has read. 0: not seen.
    std::int32_t l2_counts_read_crossing = 0, l2_counts_write_crossing = 0, l2_counts_rewrite_crossing = 0;
    Bytes l2_counts_launch;                // instructions and constants that the SMs fetch at the start of a kernel
    bool l2_fills_partial_writes = false;  // a sector that a store covers in part is first read from DRAM
    Bytes l2_fetch;                        // that L2 asks of DRAM at least, where that is more than a sector
    bool l2_keeps_written = false;  // what a kernel wrote is still there when it has ended; false: written back by then
    // Of a product's operand that lies along k a step takes a short piece of each row. Bytes that DRAM could have moved
    // in the time that it loses for each piece by opening another of its own rows; fitted. 0: not seen.
    Bytes dram_row_change;
    Bytes dram_row;  // length of such a row: pieces of several rows of the operand lie in one where these are shorter
    // Where both operands come so and L1 keeps no lines: after how many steps CTAs of which L2 holds one step have
    // drifted so far apart that they find half of each other's sectors; fitted. 0: not seen.
    double single_sector_drift = 0;
    double issue_slots = 1;  // of an instruction on the CUDA cores; fitted
    // Of one FP32 FLOP on the CUDA cores with all of them busy, all of the board's power counted, in pJ; fitted. 0: not
    // known; the board is taken to hold its clock.
    double flop_energy = 0;
    double dram_byte_energy = 0;  // of a byte that DRAM moves, in pJ, losses of the board included. 0: not known
    // Cycles between two instructions that no warp fills; fitted. 0: warps fill what Calibration::issue_interval
    // leaves.
    Cycles issue_interval;
    Cycles scattered_store;  // of each output of a tile of explicit engines, whose stores scatter; fitted. 0: not seen
    FourierKernels fourier;
    // Of each product between Winograd's separate transforms, where the library has no batched kernel and launches them
    // one after another; fitted. 0: they are one launch.
    Seconds product_launch;
    // Of a kernel that has hardly any work, from the end of the one before it in its stream to its own end; fitted on
    // groups that run in turn. 0: not known, and the host's launches are all that is charged.
    Cycles short_kernel;
    // cuDNN's engines take the narrow tile where the wide one would have fewer than two CTAs for an SM.
    bool engines_fill_sms = false;
    // cuDNN's depthwise kernel has a CTA for each image and channel, whose warps take so many issue slots for a tap;
    // fitted. 0: it has one for 1,024 outputs in their order, of Calibration::direct_tap.
    double depthwise_tap = 0;
    // cuDNN has no kernels with precomputed offsets, so that its engines run both implicit algorithms.
    bool engines_only = false;
    // A thread of cuDNN's engines waits so long for each of its pixels, and once for all its filters of a step,
    // whatever runs beside it; fitted. 0: it waits once for all of them.
    Cycles engine_wait;
    // The same in all waves of CTAs but the first, in which those of an SM no longer start, and wait, together; fitted.
    // 0: as in the first.
    Cycles engine_wait_later;
    std::vector<Tile> gemm_tiles;  // on CUDA cores
    // Of batched products on CUDA cores. Where the library has one for all shapes, narrow products (the context of
    // attention) fill half of it. Empty: as gemm_tiles.
    std::vector<Tile> batched_gemm_tiles;
    Tile convolution_tile, narrow_convolution_tile, filter_gradient_tile;
    // The narrow tile is taken up to so many filters, where the other one has at least so many CTAs for an SM.
    std::int64_t narrow_up_to_filters = 0, narrow_from_ctas_per_sm = 0;
    EngineKernels engines;
    // CTAs of an SM that do the same steps on CUDA cores stay near each other; false: the oldest takes what slots it
    // can.
    bool ctas_keep_step = true;
    std::optional<MatrixUnits> matrix;
    std::optional<MatrixGemm> matrix_gemm;  // absent: no times of such products were seen
    Seconds gemm_call, convolution_call;    // host time of a framework's call; fitted
    Seconds library_call;                   // from one call of a library to the next, beside its kernels; fitted
};

// docs/formats.md has the fields. All faults are reported at once.
Result<Architecture> parse_architecture(std::string_view json, std::string_view source_name);
// The built-in ones, by rising compute capability.
std::span<const Architecture> architectures();

}  // namespace gambrel
