#include <algorithm>
#include <bit>
#include <cmath>

#include <gambrel/mapping.hpp>

#include "mapping/rules.hpp"

namespace gambrel {
namespace {

using namespace mapping_detail;

// Larger tiles cannot be launched, and the clamp keeps later products from overflowing, whatever a row says.
constexpr std::int64_t kLargestTile = 1024, kMostParts = 1 << 20;
std::int32_t small(std::int64_t hint, std::int64_t most) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(hint, 0, most));
}

// An engine's name has its tile as (2^a, 2^b): pixels and filters forward, but filters along the longer side of wgrad.
Tile named_tile(const KernelName& name, Pass pass) {
    Tile tile = name.tile;
    if (name.family == KernelName::Family::engine && pass == Pass::wgrad) std::swap(tile.m, tile.n);
    return tile;
}

std::int32_t default_k(const Layer& layer, const Architecture& architecture, Pipe pipe) {
    if (!is_tensor(pipe)) return 8;
    // FP4 has scales beside it, so that a step of that many bytes is not a power of two of elements.
    return static_cast<std::int32_t>(
        std::bit_ceil(static_cast<std::uint32_t>(matrix_of(architecture).k_step / element_size(layer.precision))));
}

std::int32_t default_stages(const Architecture& architecture, Pipe pipe) {
    return is_tensor(pipe) ? matrix_of(architecture).stages : 2;
}

Layout layout_of(const Layer& layer, const KernelName& name, Pipe pipe) {
    if (name.nhwc) return *name.nhwc ? Layout::nhwc : Layout::nchw;
    if (!layer.hints.kernel.empty() && name.family != KernelName::Family::other && !is_tensor(pipe))
        return Layout::nchw;
    return is_tensor(pipe) ? Layout::nhwc : layer.layout;
}

// What follows from the tile, the pipe and the name.
void finish(Mapping& m, const Layer& layer, const GemmView& view, const Target& gpu, const KernelName& name) {
    KernelName::Family family = name.family;
    if (family == KernelName::Family::other)
        family = std::holds_alternative<Gemm>(layer.op) ? KernelName::Family::gemm : KernelName::Family::cudnn;
    KernelName known = name;
    known.family = family;
    m.engine = family == KernelName::Family::engine;
    if (m.engine) m.stages = 1;
    m.warp.k = m.cta.k / std::max(1, std::min(name.slices, m.cta.k));
    give_resources(m, layer, gpu, family);
    // A tile by hand may ask for more than an SM has: fewer stages, then a shorter k-step.
    while ((m.stages > 2 || m.cta.k > 1) && !fits(gpu.limits, m)) {
        if (m.stages > 2)
            --m.stages;
        else
            m.warp.k = m.cta.k /= 2;
        give_resources(m, layer, gpu, family);
    }
    give_loads(m, layer, gpu, known);
    if (m.engine && layer.pass == Pass::wgrad && layer.hints.kernel.find("wgrad_alg1") == std::string::npos)
        m.split_chunk = 512;
    if (layer.hints.split_k > 0)
        m.split_k = small(layer.hints.split_k, kMostParts);
    else
        m.split_k = split_by_rule(layer, view, m, gpu, family);
    const bool gemm = std::holds_alternative<Gemm>(layer.op);
    if (m.split_k > 1 && (gemm || is_tensor(m.pipe))) m.sums = SplitSums::workspace;
    if (gemm) split_of_blas(m, layer, view, name);
    m.bias_kernel = gemm ? layer.hints.bias_kernel : BiasKernel::none;
    if (m.bias_kernel != BiasKernel::none) ++m.launches;
    if (gemm && layer.hints.adds_up_parts) ++m.launches;
    m.overwrites = layer.hints.overwrites || m.bias_kernel == BiasKernel::copies;
    // By the DRAM counters of V100: parts of one tile run beside each other in the splitK kernels, not in the engines.
    const bool atomics = m.split_k > 1 && m.sums == SplitSums::atomics, engine = family == KernelName::Family::engine;
    m.splits_first = atomics && !engine;
    if (atomics) m.store_run = engine ? 2 : 1;
    if (engine && m.split_k <= 1) m.store_run = gpu.architecture.engines.store_run;
    // Outputs of two filters lie side by side.
    if (m.pixels_apart()) m.store_run = 2;
}

// A workspace as large as input and output is where a library keeps them in the layout of its kernels.
bool holds_copies(const Layer& layer) {
    const auto& v = std::get<Convolution>(layer.op);
    const Bytes input = static_cast<double>(v.n * v.c * v.h * v.w) * element_size(layer.precision);
    return layer.pass == Pass::fwd && layer.hints.workspace >= input + compulsory_bytes(layer).written;
}

}  // namespace

std::int64_t gradient_classes(const Convolution& v) { return std::min(v.stride_h, v.r) * std::min(v.stride_w, v.s); }

std::optional<GemmView> kernel_view(const Layer& layer) { return kernel_view(layer, transform_of(layer)); }

std::optional<GemmView> kernel_view(const Layer& layer, Transform transform) {
    if (const auto* g = std::get_if<Gemm>(&layer.op)) return gemm_view(*g, layer.pass);
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v) return std::nullopt;
    if (transform != Transform::none) return transformed_view(*v, layer.pass, transform);
    GemmView view = gemm_view(*v, layer.pass);
    if (layer.pass != Pass::dgrad || (v->stride_h == 1 && v->stride_w == 1)) return view;
    const std::int64_t classes = gradient_classes(*v);
    view.m = v->n * v->p() * v->q() * classes;
    view.k = ceil_div(view.k, classes);
    return view;
}

Flops kernel_flop(const Layer& layer) { return kernel_flop(layer, transform_of(layer)); }

Flops kernel_flop(const Layer& layer, Transform transform) {
    const Flops counted = flop(layer);
    const bool fewer = transform != Transform::none;
    const auto view = fewer || layer.pass == Pass::dgrad ? kernel_view(layer, transform) : std::nullopt;
    if (!view) return counted;
    const double m = static_cast<double>(view->m), n = static_cast<double>(view->n), k = static_cast<double>(view->k);
    const Flops done{2 * m * n * k * static_cast<double>(view->batch)};
    return fewer ? done : std::min(counted, done);
}

Grid grid(const GemmView& view, const Mapping& m) {
    Grid g;
    g.rows = ceil_div(view.m, m.cta.m);
    g.columns = ceil_div(view.n, m.cta.n);
    g.batch = view.batch;
    g.split_k = m.split_k;
    g.k_steps = ceil_div(ceil_div(view.k, m.split_k), m.cta.k);
    return g;
}

Mapping mapping_for(const Layer& layer, const Machine& machine) {
    return mapping_for(layer, machine, sm_limits(machine));
}

namespace {

// Of a convolution or a product; `one_of_groups` where it is one of those that a library runs in turn.
Mapping kernel_mapping(const Layer& layer, const Machine& machine, const SmLimits& limits, bool one_of_groups) {
    Mapping m;
    const auto* convolution = std::get_if<Convolution>(&layer.op);
    KernelName name = parse_kernel_name(layer.hints.kernel);
    const AlgorithmName asked = parse_algorithm(layer.hints.algorithm);
    m.pipe = fitting_pipe(layer, name, machine);
    const bool in_turn = takes_groups_in_turn(layer, asked);
    if (convolution && convolution->groups > 1 && in_turn) {
        m = kernel_mapping(one_group(layer), machine, limits, true);
        m.groups_in_turn = true;
        if (m.engine) ++m.launches;
        return m;
    }
    if (convolution && convolution->depthwise()) {
        m.family = KernelFamily::depthwise;
        m.threads = 256;
        m.registers = std::min(64, architecture_of(machine).registers_per_thread);
        m.layout = layer.layout;
        if (is_tensor(m.pipe)) m.pipe = Pipe::fp32;
        return m;
    }
    if (convolution && name.family == KernelName::Family::direct && name.tile.m == 0) {
        m.family = KernelFamily::streaming;  // one channel in and out: inputs are shared through shared memory
        m.threads = 256;
        m.registers = 32;
        m.layout = layer.layout;
        return m;
    }
    if (streams_matrix(layer, name, m.pipe)) {
        stream_matrix(m, layer);
        return m;
    }
    m.transform = transform_of(layer, asked);
    const Target gpu(machine, limits);
    if (m.transform != Transform::none) {
        FourierKernels fourier = gpu.architecture.fourier;
        if (machine.fourier_vectors && machine.fourier_vectors->value >= 1) fourier.single_image_is_vector = true;
        const GemmView products = *kernel_view(layer, m.transform);
        name.tile = transformed_tile(layer, m.transform, products, gpu.architecture, fourier);
        m.padded_k = static_cast<std::int32_t>(least_channels(layer, m.transform, products, fourier));
        const bool slow = m.transform == Transform::fft_tiled && fourier.slots_of_four > 0;
        m.four_products = slow || multiplies_few_images(layer, m.transform, fourier);
        // Products between Winograd's transforms are GEMMs like any other.
        const bool by_matrix = m.transform == Transform::winograd_separate && is_tensor(m.pipe);
        if (by_matrix) name.tile = {128, std::min(128, 2 * name.tile.n), 0};
        if (!by_matrix) m.pipe = m.pipe == Pipe::fp64 ? Pipe::fp64 : Pipe::fp32;
    }
    const GemmView view = *kernel_view(layer, m.transform);
    std::optional<Layout> engine_layout;
    if (const EngineChoice* engine = engine_for({layer, asked}, view, gpu.architecture, m)) {
        // The older engines run without Tensor Cores.
        name.family = KernelName::Family::engine;
        name.tile = engine_tile(*engine, view, layer, gpu);
        name.precomputed = engine == &gpu.architecture.engines.precomputed;
        name.explicit_matrix = engine == &gpu.architecture.engines.written_out;
        if (name.precomputed) m.border_sides = borders_apart(*convolution, *engine, view, layer.hints.fma);
        const Arithmetic& half = machine.pipes[Pipe::fp16];
        const bool half_sums = name.tile == gpu.architecture.engines.half_sums && (half.dense || half.measured);
        m.pipe = m.pipe == Pipe::fp64 ? Pipe::fp64 : half_sums ? Pipe::fp16 : Pipe::fp32;
        engine_layout = layout_of_engine(layer, gpu.architecture);
    }
    if (m.transform == Transform::none && gradient_by_engine(layer, m.pipe, gpu.architecture)) {
        name.family = KernelName::Family::engine;
        name.tile = gradient_engine_tile(*convolution, layer.pass);
        m.pipe = m.pipe == Pipe::fp64 ? Pipe::fp64 : Pipe::fp32;
    }
    m.loads_offsets = name.precomputed;
    const bool wants_offsets = layer.hints.kernel.empty() && asked.precomputed;
    m.computes_offsets = wants_offsets && (name.family != KernelName::Family::engine || name.precomputed);
    m.explicit_matrix = name.explicit_matrix;
    m.leaves_zeros = name.leaves_zeros;
    m.writes_matrix = m.explicit_matrix && layer.hints.kernel.empty();
    m.layout = engine_layout.value_or(layout_of(layer, name, m.pipe));
    m.stages = name.stages > 0 ? name.stages : default_stages(gpu.architecture, m.pipe);
    m.launches = layer.hints.kernels > 0 ? small(layer.hints.kernels, kMostParts) : (m.computes_offsets ? 2 : 1);
    const bool by_engine = wants_offsets && !m.computes_offsets;
    if ((m.transform != Transform::none || in_turn) && !by_engine && layer.hints.kernels <= 0)
        m.launches = launches_of(layer, asked, m.transform, !gpu.architecture.matrix_gemm);
    if (m.transform == Transform::none && layer.hints.tile_m >= kSmallestTile && layer.hints.tile_n >= kSmallestTile) {
        m.source = Mapping::Source::row;
        m.cta = {small(layer.hints.tile_m, kLargestTile), small(layer.hints.tile_n, kLargestTile),
                 small(layer.hints.tile_k, kLargestTile)};
    } else if (name.tile.m > 0) {
        m.source = layer.hints.kernel.empty() ? Mapping::Source::algorithm : Mapping::Source::kernel_name;
        m.cta = named_tile(name, layer.pass);
    } else if (const auto counted = counted_kernel(layer, view, gpu, m.pipe)) {
        name = *counted;
        m.cta = name.tile;
    } else {
        tile_by_rule(m, layer, view, gpu, one_of_groups);
        name.slices = slices_by_rule(m, layer, gpu);
    }
    const bool by_matrix = is_tensor(m.pipe);
    // The workspace of an algorithm with transforms holds these.
    m.transposes = convolution && m.transform == Transform::none &&
                   ((by_matrix && layer.hints.other_layout) ||
                    ((by_matrix || layer.precision == Precision::fp16) && holds_copies(layer)));
    if (m.transposes) m.launches += 2;
    if (name.family == KernelName::Family::direct) m.order = CtaOrder::columns_first;  // filters are the grid's x
    if (m.cta.k <= 0) m.cta.k = name.tile.k > 0 ? name.tile.k : default_k(layer, gpu.architecture, m.pipe);
    const bool direct = convolution && m.transform == Transform::none && layer.pass == Pass::fwd;
    if (direct && is_tensor(m.pipe) && matrix_of(gpu.architecture).steps_end_with_tap) {
        const std::int64_t channels = convolution->c / convolution->groups;
        m.padded_k = ceil_div(channels, std::int64_t{m.cta.k}) * m.cta.k * convolution->r * convolution->s;
    }
    // By their L1 counters the narrow kernels of cuDNN take half a sector of each filter at a time.
    const bool own = name.family == KernelName::Family::engine || name.family == KernelName::Family::direct;
    const bool narrow = convolution && !is_tensor(m.pipe) && !own && m.transform == Transform::none && m.cta.n <= 32;
    if (narrow && layer.hints.tile_k == 0) m.cta.k = 4;
    // BLAS is column-major: a row-major product is its transpose, so the tile's first side lies along N; but along M
    // where a name says tilesize, as recorded grids show. Tiles of a rule have their sides as ours.
    const bool row_major = layer.hints.kernel.find("tilesize") != std::string::npos;
    const bool by_rule = m.source == Mapping::Source::rule;
    if (std::holds_alternative<Gemm>(layer.op) && !row_major && !(by_rule && by_matrix)) {
        m.transposed_view = true;
        if (!by_rule) std::swap(m.cta.m, m.cta.n);
        m.order = CtaOrder::columns_first;
    }
    finish(m, layer, view, gpu, name);
    return m;
}

}  // namespace

Mapping mapping_for(const Layer& layer, const Machine& machine, const SmLimits& limits) {
    if (std::holds_alternative<Convolution>(layer.op) || std::holds_alternative<Gemm>(layer.op))
        return kernel_mapping(layer, machine, limits, false);
    if (std::holds_alternative<Attention>(layer.op)) return attention_mapping(layer, machine, limits);
    if (std::holds_alternative<MixtureOfExperts>(layer.op)) return experts_mapping(layer, machine, limits);
    Mapping m;
    if (std::holds_alternative<AllReduce>(layer.op)) {
        m.family = KernelFamily::collective;
        m.threads = 512;
        return m;
    }
    m.family = KernelFamily::streaming;
    // One CTA of many threads a row, two bytes at a time; an index computed for each element; or 16 bytes a thread.
    const std::string& how = layer.hints.algorithm;
    m.threads = how == "scalar rows" ? 1024 : how == "vector rows" ? 512 : how == "index arithmetic" ? 128 : 256;
    m.a.through_l1 = how != "statistics first";  // else a row is read again for its values
    m.registers = 32;
    return m;
}

Mapping with_tile(Mapping m, const Layer& layer, const Machine& machine, Tile tile) {
    if (m.family != KernelFamily::tiled) return m;
    const SmLimits limits = sm_limits(machine);
    const Target gpu(machine, limits);
    m.cta = {small(tile.m, kLargestTile), small(tile.n, kLargestTile), small(tile.k, kLargestTile)};
    if (m.cta.k <= 0) m.cta.k = default_k(layer, gpu.architecture, m.pipe);
    m.stages = default_stages(gpu.architecture, m.pipe);
    m.cluster.reset();
    finish(m, layer, *kernel_view(layer), gpu, {});
    return m;
}

}  // namespace gambrel
