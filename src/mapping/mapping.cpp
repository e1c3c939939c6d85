#include <algorithm>

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
    return static_cast<std::int32_t>(matrix_of(architecture).k_step / element_size(layer.precision));
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

Mapping finish(Mapping m, const Layer& layer, const Target& gpu, const KernelName& name) {
    const auto view = kernel_view(layer);
    KernelName::Family family = name.family;
    if (family == KernelName::Family::other)
        family = std::holds_alternative<Gemm>(layer.op) ? KernelName::Family::gemm : KernelName::Family::cudnn;
    KernelName known = name;
    known.family = family;
    if (family == KernelName::Family::engine) m.stages = 1;
    m.warp.k = m.cta.k / std::max(1, std::min(name.slices, m.cta.k));
    give_resources(m, layer, gpu, family);
    // A tile by hand may ask for more than an SM has: fewer stages, then a shorter k-step.
    while (m.stages > 2 && occupancy(gpu.limits, m).ctas_per_sm == 0) {
        --m.stages;
        give_resources(m, layer, gpu, family);
    }
    while (m.cta.k > 1 && occupancy(gpu.limits, m).ctas_per_sm == 0) {
        m.cta.k /= 2;
        m.warp.k = m.cta.k;
        give_resources(m, layer, gpu, family);
    }
    give_loads(m, layer, gpu, known);
    if (family == KernelName::Family::engine && layer.hints.kernel.find("wgrad_alg0") != std::string::npos)
        m.split_chunk = 512;
    if (layer.hints.split_k > 0)
        m.split_k = small(layer.hints.split_k, kMostParts);
    else if (view)
        m.split_k = split_by_rule(layer, *view, m, gpu, family);
    m.split_k_in_workspace = m.split_k > 1 && (std::holds_alternative<Gemm>(layer.op) || is_tensor(m.pipe));
    // By the DRAM counters of V100: parts of one tile run beside each other in the splitK kernels, not in the engines.
    m.splits_first = m.split_k > 1 && !m.split_k_in_workspace && family != KernelName::Family::engine;
    if (m.split_k > 1 && !m.split_k_in_workspace) m.store_run = family == KernelName::Family::engine ? 2 : 1;
    return m;
}

bool asks_for_engine(const Layer& layer) {
    return layer.hints.kernel.empty() && layer.hints.algorithm.find("IMPLICIT_GEMM") != std::string::npos;
}
Tile engine_tile(const Convolution& v) { return v.k / v.groups <= 32 ? Tile{32, 32, 8} : Tile{64, 128, 8}; }

bool wants_precomputed_offsets(const Layer& layer) {
    return layer.hints.kernel.empty() && layer.hints.algorithm.find("PRECOMP") != std::string::npos;
}

}  // namespace

std::string_view name(KernelFamily family) {
    switch (family) {
        case KernelFamily::tiled:
            return "tiled";
        case KernelFamily::depthwise:
            return "depthwise";
        case KernelFamily::attention:
            return "attention";
        case KernelFamily::experts:
            return "experts";
        case KernelFamily::collective:
            return "collective";
        case KernelFamily::streaming:
            break;
    }
    return "streaming";
}

std::int64_t gradient_classes(const Convolution& v) { return std::min(v.stride_h, v.r) * std::min(v.stride_w, v.s); }

std::optional<GemmView> kernel_view(const Layer& layer) {
    auto view = gemm_view(layer);
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v || layer.pass != Pass::dgrad || (v->stride_h == 1 && v->stride_w == 1)) return view;
    const std::int64_t classes = gradient_classes(*v);
    view->m = v->n * v->p() * v->q() * classes;
    view->k = ceil_div(view->k, classes);
    return view;
}

Flops kernel_flop(const Layer& layer) {
    const auto view = kernel_view(layer);
    const Flops counted = flop(layer);
    if (!view || layer.pass != Pass::dgrad) return counted;
    const double m = static_cast<double>(view->m), n = static_cast<double>(view->n), k = static_cast<double>(view->k);
    return std::min(counted, Flops{2 * m * n * k * static_cast<double>(view->batch)});
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

Mapping mapping_for(const Layer& layer, const Machine& machine, const SmLimits& limits) {
    Mapping m;
    if (std::holds_alternative<Streaming>(layer.op)) {
        m.family = KernelFamily::streaming;
        // One CTA of many threads a row, two bytes at a time; an index computed for each element; or 16 bytes a thread.
        const std::string& how = layer.hints.algorithm;
        m.threads = how == "scalar rows" ? 1024 : how == "vector rows" ? 512 : how == "index arithmetic" ? 128 : 256;
        m.a.through_l1 = how != "statistics first";  // else a row is read again for its values
        m.registers = 32;
        return m;
    }
    if (std::holds_alternative<AllReduce>(layer.op)) {
        m.family = KernelFamily::collective;
        m.threads = 512;
        return m;
    }
    if (std::holds_alternative<Attention>(layer.op)) return attention_mapping(layer, machine, limits);
    if (std::holds_alternative<MixtureOfExperts>(layer.op)) return experts_mapping(layer, machine, limits);
    const auto* convolution = std::get_if<Convolution>(&layer.op);
    KernelName name = parse_kernel_name(layer.hints.kernel);
    m.pipe = fitting_pipe(layer, name, machine);
    m.groups_in_turn = convolution && convolution->groups > 1 && wants_precomputed_offsets(layer);
    if (convolution && convolution->depthwise() && !m.groups_in_turn) {
        m.family = KernelFamily::depthwise;
        m.threads = 256;
        m.registers = 64;
        m.layout = layer.layout;
        if (is_tensor(m.pipe)) m.pipe = Pipe::fp32;
        return m;
    }
    if (convolution && asks_for_engine(layer)) {
        // The algorithm without precomputed offsets is run by the older engines, without Tensor Cores.
        name.family = KernelName::Family::engine;
        name.tile = engine_tile(*convolution);
        m.pipe = m.pipe == Pipe::fp64 ? Pipe::fp64 : Pipe::fp32;
    }
    const Target gpu(machine, limits);
    const GemmView view = *kernel_view(layer);
    m.layout = layout_of(layer, name, m.pipe);
    m.stages = name.stages > 0 ? name.stages : default_stages(gpu.architecture, m.pipe);
    m.launches =
        layer.hints.kernels > 0 ? small(layer.hints.kernels, kMostParts) : (wants_precomputed_offsets(layer) ? 2 : 1);
    if (layer.hints.tile_m >= 8 && layer.hints.tile_n >= 8) {
        m.source = Mapping::Source::row;
        m.cta = {small(layer.hints.tile_m, kLargestTile), small(layer.hints.tile_n, kLargestTile),
                 small(layer.hints.tile_k, kLargestTile)};
    } else if (name.tile.m > 0) {
        m.source = Mapping::Source::kernel_name;
        m.cta = named_tile(name, layer.pass);
    } else {
        m.cta = tile_by_rule(layer, view, gpu, m.pipe);
    }
    if (m.cta.k <= 0) m.cta.k = name.tile.k > 0 ? name.tile.k : default_k(layer, gpu.architecture, m.pipe);
    // By their L1 counters the narrow kernels of cuDNN take half a sector of each filter at a time.
    const bool narrow = convolution && !is_tensor(m.pipe) && name.family != KernelName::Family::engine && m.cta.n <= 32;
    if (narrow && layer.hints.tile_k == 0) m.cta.k = 4;
    // BLAS is column-major: a row-major product is its transpose, so the tile's first side lies along N.
    if (std::holds_alternative<Gemm>(layer.op) && m.source != Mapping::Source::rule) {
        m.transposed_view = true;
        std::swap(m.cta.m, m.cta.n);
        m.order = CtaOrder::columns_first;
    }
    return finish(m, layer, gpu, name);
}

Mapping with_tile(Mapping m, const Layer& layer, const Machine& machine, Tile tile) {
    if (m.family != KernelFamily::tiled) return m;
    const SmLimits limits = sm_limits(machine);
    const Target gpu(machine, limits);
    m.cta = {small(tile.m, kLargestTile), small(tile.n, kLargestTile), small(tile.k, kLargestTile)};
    if (m.cta.k <= 0) m.cta.k = default_k(layer, gpu.architecture, m.pipe);
    m.stages = default_stages(gpu.architecture, m.pipe);
    return finish(m, layer, gpu, {});
}

}  // namespace gambrel
