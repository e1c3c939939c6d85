// How cuDNN and cuBLAS tile a layer where nothing says so, and what a tile needs of an SM. docs/model/mapping.md
// states these rules with their sources. Internal to the room.
#pragma once

#include <gambrel/mapping.hpp>

#include "base/arithmetic.hpp"

namespace gambrel::mapping_detail {

// What the rules ask of a GPU.
struct Target {
    Target(const Machine& m, const SmLimits& l) : machine(m), limits(l), architecture(*l.architecture), sms(l.sms) {}
    const Machine& machine;
    const SmLimits& limits;
    const Architecture& architecture;
    double sms;
};

// Of an architecture without Tensor Cores, to which a mapping of another one may be carried: plain double buffering.
inline const MatrixUnits& matrix_of(const Architecture& architecture) {
    static const MatrixUnits none{.k_step = Bytes{64}, .tiles = {{128, 128, 32}}, .convolution_tiles = {}};
    return architecture.matrix ? *architecture.matrix : none;
}

// By the kernel's name, the row and what the GPU has; FP32 where it has nothing for the precision.
Pipe fitting_pipe(const Layer& layer, const KernelName& name, const Machine& machine);

// What the name of a convolution's algorithm asks for, by cuDNN's words in it.
struct AlgorithmName {
    bool implicit_gemm = false;  // a kernel that needs nothing around it
    bool precomputed = false;    // offsets
    bool written_out = false;    // the input, as a matrix (im2col) by a kernel before the product
    bool fft = false, tiling = false, winograd = false, nonfused = false;
    // In any case: papers have these words, too.
    bool says_winograd = false, says_nonfused = false;
    bool operator==(const AlgorithmName&) const = default;
};
AlgorithmName parse_algorithm(std::string_view name);
bool has_in_any_case(std::string_view text, std::string_view word);  // the word is in lower case
Transform transform_of(const Layer& layer, const AlgorithmName& asked);

// Tile, and cluster of CTAs, of a layer of which nothing is known.
void tile_by_rule(Mapping& m, const Layer& layer, const GemmView& view, const Target& gpu, bool one_of_groups);
// Bytes that L2 gives all SMs in a cycle; 0: not known.
double l2_width(const Target& gpu);
// Of the tiles of Architecture::matrix_gemm the one with the least time by docs/model/tensor-cores.md, without
// DRAM, whose bytes no tile changes.
Tile fastest_matrix_tile(const Layer& layer, const GemmView& view, const Target& gpu, Pipe pipe);
// Of a CTA of a product on CUDA cores.
std::int32_t threads_of_product(const Tile& tile, std::int32_t slices = 1);
// Threads, registers, shared memory and warp tile for m.cta, m.stages and m.pipe.
void give_resources(Mapping& m, const Layer& layer, const Target& gpu, KernelName::Family family);
// Whether an SM has room for a CTA: occupancy() is not 0.
bool fits(const SmLimits& limits, const Mapping& mapping);
// What a warp loads with one request, by pass, layout and family.
void give_loads(Mapping& m, const Layer& layer, const Target& gpu, const KernelName& name);
// Of a convolution by transforms: the GEMM of the transformed tiles, and the tile of it that a CTA has.
GemmView transformed_view(const Convolution& convolution, Pass pass, Transform transform);
Tile transformed_tile(const Layer& layer, Transform transform, const GemmView& view, const Architecture& architecture,
                      const FourierKernels& fourier);
// By Fourier transforms: whether the library does that, its products and their tile.
Transform fft_of(const Layer& layer, const AlgorithmName& asked);
GemmView fft_view(const Convolution& v, Pass pass, Transform transform);
Tile fft_tile(const Layer& layer, Transform transform, const GemmView& view, const FourierKernels& kernels);
// Channels that a CTA goes through at the least; 0: those that there are.
std::int64_t least_channels(const Layer& layer, Transform transform, const GemmView& view,
                            const FourierKernels& kernels);
// Whether the kernel of few images does it, which takes four real multiplications for a complex one.
bool multiplies_few_images(const Layer& layer, Transform transform, const FourierKernels& kernels);
// The engines that run a convolution of which only the algorithm is known, and their tile; null where others do.
// Of the mapping it takes the pipe and the transform.
struct AskedEngine {
    const Layer& layer;
    const AlgorithmName& algorithm;
};
const EngineChoice* engine_for(const AskedEngine& asked, const GemmView& view, const Architecture& architecture,
                               const Mapping& mapping);
Layout layout_of_engine(const Layer& layer, const Architecture& architecture);
Tile engine_tile(const EngineChoice& choice, const GemmView& view, const Layer& layer, const Target& gpu);
// Whether an engine computes a gradient of which no kernel is named: of the filters, or of the input of a strided
// layer.
bool gradient_by_engine(const Layer& layer, Pipe pipe, const Architecture& architecture);
Tile gradient_engine_tile(const Convolution& v, Pass pass);
// Sides of the images whose outputs such an engine computes apart (Mapping::border_sides).
std::int32_t borders_apart(const Convolution& v, const EngineChoice& choice, const GemmView& view, double fma);
// Whether cuDNN runs the groups of a convolution one after the other by the row's algorithm, and how many kernels one
// call takes for each.
bool takes_groups_in_turn(const Layer& layer, const AlgorithmName& asked);
std::int32_t launches_of(const Layer& layer, const AlgorithmName& asked, Transform transform, bool cudnn7);
// CTAs that share an output tile, so that a short grid with a long reduction fills the machine.
std::int32_t split_by_rule(const Layer& layer, const GemmView& view, const Mapping& m, const Target& gpu,
                           KernelName::Family family);

// The kernel of a call of which only multiply-adds were counted; sides as ours.
std::optional<KernelName> counted_kernel(const Layer& layer, const GemmView& view, const Target& gpu, Pipe pipe);
// Of a product on CUDA cores, by a tile of the rule: into how many parts warps share out a k-step.
std::int32_t slices_by_rule(const Mapping& m, const Layer& layer, const Target& gpu);
// The split inside a kernel of BLAS, where something tells it.
void split_of_blas(Mapping& m, const Layer& layer, const GemmView& view, const KernelName& name);

// Whether a product reads its matrix once by a kernel without tiles, and the mapping of that kernel.
bool streams_matrix(const Layer& layer, const KernelName& name, Pipe pipe);
void stream_matrix(Mapping& m, const Layer& layer);

// Layers that are not one implicit GEMM.
Mapping attention_mapping(const Layer& layer, const Machine& machine, const SmLimits& limits);
Mapping experts_mapping(const Layer& layer, const Machine& machine, const SmLimits& limits);

}  // namespace gambrel::mapping_detail
