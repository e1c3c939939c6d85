// How a layer is run: the tiles of the implicit GEMM, what a warp loads with one request, stages, CTA order, split-K;
// and what fits on an SM. Invariant: a Mapping from here can be launched on the machine it was made for (ctas_per_sm >
// 0). It predicts no bytes and no time; `delta` and `sim` do, from the same Mapping and without sharing a line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gambrel/machine.hpp>
#include <gambrel/network.hpp>

namespace gambrel {

// tiled: an implicit or explicit GEMM by CTA tiles. depthwise: one thread an output, filters in registers.
// streaming: every operand once, in order.
enum class KernelFamily : std::uint8_t { tiled, depthwise, streaming };
std::string_view name(KernelFamily family);

// Which CTAs are neighbours in launch order. rows_first: the row index (M) runs fastest, as in cuDNN's NCHW kernels, so
// that consecutive CTAs walk down one column. columns_first: N runs fastest. A band above 1 makes super-columns of so
// many columns (rows), walked through before the next one begins: a swizzle.
enum class CtaOrder : std::uint8_t { rows_first, columns_first };

struct Tile {
    std::int32_t m = 0, n = 0, k = 0;
    bool operator==(const Tile&) const = default;
};

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

struct Mapping {
    KernelFamily family = KernelFamily::tiled;
    Tile cta, warp;                // warp.k is cta.k, but cta.k / slices where warps share out the k-step
    std::int32_t threads = 0;      // of a CTA
    std::int32_t registers = 0;    // of a thread
    Bytes shared_memory;           // of a CTA, all stages
    std::int32_t stages = 2;       // tiles of k in shared memory at a time; 2: double buffered
    std::int32_t split_k = 1;      // CTAs that share one output tile
    std::int64_t split_chunk = 0;  // the most k of one CTA where chunks end at images (wgrad_alg0); 0: split evenly
    std::int32_t store_run = 32;   // contiguous elements that one store or atomic of a warp covers
    bool split_k_in_workspace = false;  // partial sums are written and reduced by a second kernel, else by atomics
    bool splits_first = false;  // CTAs of one output tile are neighbours in launch order, else those of one split
    CtaOrder order = CtaOrder::rows_first;
    std::int32_t band = 1;
    WarpLoad a, b;
    Pipe pipe = Pipe::fp32;        // that multiplies
    Layout layout = Layout::nchw;  // that the kernel reads; a layer stored otherwise pays for a transposition
    // Groups are launched one after the other, each as a convolution of its own, as cuDNN 7 does it.
    bool groups_in_turn = false;
    // Kernels that one call launches for each group in turn: cuDNN's precomputed offsets or a split-K reduction are one
    // more each.
    std::int32_t launches = 1;
    bool transposed_view = false;  // rows of tiles are the layer's N and columns its M, as BLAS sees row-major GEMM
    // Where the tile came from: a table's row, a kernel's name, given by hand, the rule, or a search.
    enum class Source : std::uint8_t { row, kernel_name, given, rule, search };
    Source source = Source::rule;
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

// ctas_per_sm is 0 if one CTA is more than an SM has.
Occupancy occupancy(const Machine& machine, const Mapping& mapping);
// The GEMM that a kernel computes. Of a strided dgrad only the taps that reach a pixel are multiplied: stride x stride
// smaller problems, or as many as there are taps.
std::optional<GemmView> kernel_view(const Layer& layer);
// Of a strided dgrad, the problems that it falls into; 1 otherwise.
std::int64_t gradient_classes(const Convolution& convolution);
Grid grid(const GemmView& view, const Mapping& mapping);

// What a kernel's name says of how it runs. Absent members are not in the name.
struct KernelName {
    Tile tile;  // 0 where the name does not say
    std::int32_t slices = 1, stages = 0, vector = 0;
    std::optional<bool> tensor_core, nhwc, split_k;
    std::optional<Pass> pass;
    // cudnn: s*cudnn and xmma convolutions. engine: cuDNN's older templates (implicit_convolve_sgemm,
    // wgrad_alg0_engine). gemm: BLAS. winograd and other: nothing that a tile describes.
    enum class Family : std::uint8_t { cudnn, engine, gemm, winograd, other };
    Family family = Family::other;
};
KernelName parse_kernel_name(std::string_view name);

// What the row gives, else what its kernel's name says, else the rule of docs/model.md for the machine's architecture,
// the layer's pass and precision. Never fails: where the machine or the row lacks a number the rule has a default.
Mapping mapping_for(const Layer& layer, const Machine& machine);
// The same for another tile: threads, registers and shared memory follow. What --best-mapping searches over.
Mapping with_tile(Mapping mapping, const Layer& layer, const Machine& machine, Tile tile);
// Tiles that the library has kernels of for this machine and precision.
std::span<const Tile> known_tiles(const Machine& machine, Pipe pipe);

}  // namespace gambrel
