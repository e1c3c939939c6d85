#include "mapping/rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gambrel::mapping_detail {
namespace {

constexpr std::array<Tile, 3> kConvolutionSimt = {{{128, 128, 8}, {128, 64, 8}, {128, 32, 8}}};
constexpr std::array<Tile, 5> kGemmSimt = {{{128, 128, 8}, {128, 64, 8}, {64, 64, 8}, {128, 32, 8}, {32, 128, 8}}};
constexpr std::array<Tile, 4> kVolta = {{{256, 128, 32}, {128, 128, 32}, {256, 64, 32}, {64, 64, 32}}};
constexpr std::array<Tile, 6> kAmpere = {
    {{256, 128, 32}, {128, 256, 32}, {128, 128, 32}, {128, 64, 64}, {64, 64, 64}, {64, 32, 64}}};
constexpr std::array<Tile, 5> kHopper = {{{128, 256, 64}, {256, 128, 64}, {128, 128, 64}, {128, 64, 64}, {64, 64, 64}}};

constexpr double kMostRegisters = 255;  // of a thread

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Pipe tensor_pipe(Precision precision) {
    switch (precision) {
        case Precision::fp64:
            return Pipe::tensor_fp64;
        case Precision::fp32:
        case Precision::tf32:
            return Pipe::tensor_tf32;
        case Precision::fp16:
            return Pipe::tensor_fp16;
        case Precision::bf16:
            return Pipe::tensor_bf16;
        case Precision::fp8:
            return Pipe::tensor_fp8;
        case Precision::int8:
            break;
    }
    return Pipe::tensor_int8;
}

Pipe plain_pipe(Precision precision) {
    switch (precision) {
        case Precision::fp64:
            return Pipe::fp64;
        case Precision::fp16:
            return Pipe::fp16;
        case Precision::bf16:
            return Pipe::bf16;
        default:
            return Pipe::fp32;
    }
}

bool has_pipe(const Machine& machine, Pipe pipe) {
    const Arithmetic& a = machine.pipes[pipe];
    return (a.dense && a.dense->value.value() > 0) || a.measured.has_value();
}

double sms(const Machine& machine) { return machine.sm.sms ? machine.sm.sms->value : 80; }

}  // namespace

ComputeCapability capability(const Machine& machine) {
    return machine.compute_capability.value_or(ComputeCapability{9, 0});
}

Pipe pipe_for(const Layer& layer, const Machine& machine) {
    const Precision math = layer.hints.math.value_or(layer.precision);
    const bool named_tensor = parse_kernel_name(layer.hints.kernel).tensor_core.value_or(false);
    const bool named_plain = !layer.hints.kernel.empty() && !named_tensor;
    const Pipe tensor = tensor_pipe(math);
    const bool wanted = layer.hints.tensor_core.value_or(named_tensor || math != Precision::fp32);
    if (wanted && !named_plain && math != Precision::fp64 && has_pipe(machine, tensor)) return tensor;
    const Pipe plain = plain_pipe(math);
    return has_pipe(machine, plain) ? plain : Pipe::fp32;
}

// Convolutions on CUDA cores: the width that pads the fewest filters, 64 where it ties, never 32 above 256 filters.
// Of cuDNN 7 by its times on six GPUs; 128 is taken only where a name says so.
Tile convolution_simt_tile(std::int64_t filters) {
    const auto padded = [&](std::int64_t width) { return ceil_div(filters, width) * width; };
    const bool narrow = filters <= 256 && padded(32) < padded(64);
    return narrow ? kConvolutionSimt[2] : kConvolutionSimt[1];
}

// Bytes that L2 gives all SMs in a cycle; 0: not known.
double l2_width(const Machine& machine) {
    const MemoryLevel* l2 = machine.find(Level::l2);
    if (!l2 || !l2->width) return 0;
    return l2->width->value.value() * (l2->per_sm ? sms(machine) : 1);
}

// The tile whose waves end first: CTAs in whole waves of the machine, each worth its area over what a tile of its size
// reaches, as larger ones load less for each multiplication; and no sooner than L2 has given all of them their
// operands, which more SMs do not hasten.
Tile shortest_waves(const Layer& layer, const GemmView& view, const Machine& machine, Pipe pipe) {
    const std::span<const Tile> tiles = known_tiles(machine, pipe);
    const double width = l2_width(machine), machine_sms = sms(machine);
    const Arithmetic& a = machine.pipes[pipe];
    const double macs = a.dense ? a.dense->value.value() / 2 : 0;
    // MAC that an SM does while L2 gives an element.
    const double area_of_element = width > 0 ? macs * element_size(layer.precision).value() / width : 0;
    Tile best = tiles.front();
    double best_time = 0;
    for (const Tile& tile : tiles) {
        const double ctas = static_cast<double>(ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n) * view.batch);
        const double area = static_cast<double>(tile.m) * tile.n;
        const double reach = area / (area + 4096);
        const double waves = std::ceil(ctas / machine_sms);
        const double time = std::max(waves * area / reach, ctas * (tile.m + tile.n) * area_of_element);
        if (best_time == 0 || time < best_time) {
            best = tile;
            best_time = time;
        }
    }
    return best;
}

Tile tile_by_rule(const Layer& layer, const GemmView& view, const Machine& machine, Pipe pipe) {
    const bool convolution = std::holds_alternative<Convolution>(layer.op);
    if (convolution && !is_tensor(pipe)) {
        if (layer.pass == Pass::wgrad) return kConvolutionSimt[0];
        return convolution_simt_tile(view.n);
    }
    return shortest_waves(layer, view, machine, pipe);
}

void give_resources(Mapping& m, const Layer& layer, const Machine& machine, KernelName::Family family) {
    const bool tensor = is_tensor(m.pipe);
    const bool hopper = tensor && capability(machine).major >= 9;
    const std::int32_t area = m.cta.m * m.cta.n;
    const std::int32_t slices = std::max(1, m.cta.k / std::max(1, m.warp.k ? m.warp.k : m.cta.k));
    if (hopper) {
        m.threads = 384;  // one producer and two consumer warp groups, as cuBLAS's sm90 kernels have it
    } else if (tensor) {
        m.threads = capability(machine).major == 7 ? std::max(128, area / 64) : std::max(128, area / 128);
        m.threads = std::min(m.threads, 256);
    } else if (family == KernelName::Family::gemm && std::min(m.cta.m, m.cta.n) <= 32) {
        m.threads = 256;  // 4x4 outputs a thread: launches of sgemm_128x32, 32x128
        if (area <= 1024) m.threads = 128;
    } else {
        m.threads = std::max(64, area * slices / 64);  // 8x8 outputs a thread
    }
    if (family == KernelName::Family::engine) m.threads = area >= 8192 ? 256 : 64;
    m.threads = std::min(m.threads, 1024);
    // Accumulators and a third more for fragments and addresses: 57, 82 and 126 registers at 16, 32 and 64 outputs in
    // profiler traces of sgemm kernels; 230 at 128 of a CUTLASS kernel.
    const double outputs = static_cast<double>(area) * slices / m.threads;
    const double needed = 34 + 1.44 * outputs;
    // Addresses may spill, accumulators cannot: such a tile asks for more than a thread can have.
    m.registers =
        hopper ? 168 : static_cast<std::int32_t>(outputs > kMostRegisters ? needed : std::min(needed, kMostRegisters));
    const auto element = static_cast<std::int32_t>(element_size(layer.precision).value());
    std::int32_t shared = m.stages * (m.cta.m + m.cta.n) * m.cta.k * element;
    // cuDNN's own kernels ask for a power of two; the strided ones always for 32 KiB (launches in profiler traces).
    if (family == KernelName::Family::cudnn && !tensor) {
        shared = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(shared)));
        if (m.cta.n >= 128) shared = 32768;
        if (layer.pass != Pass::fwd) shared = 32768;
    }
    m.shared_memory = Bytes{static_cast<double>(shared)};
    const std::int32_t warps = m.threads / 32;
    const std::int32_t warp_area = std::max(1, area * slices / warps);
    m.warp.m = std::min(m.cta.m, warp_area >= 4096 ? 64 : warp_area >= 2048 ? 64 : 32);
    m.warp.n = std::max(8, warp_area / std::max(1, m.warp.m));
    m.warp.k = m.cta.k / slices;
}

std::int32_t split_by_rule(const Layer& layer, const GemmView& view, const Mapping& m, const Machine& machine,
                           KernelName::Family family) {
    const std::int64_t tiles = ceil_div(view.m, m.cta.m) * ceil_div(view.n, m.cta.n) * view.batch;
    const std::int64_t steps = ceil_div(view.k, m.cta.k);
    const std::int64_t longest_split = std::max<std::int64_t>(1, steps / 4);
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        if (layer.pass != Pass::wgrad) return 1;
        if (family == KernelName::Family::engine)  // chunks of 512 pixels of one image, by the engine's last argument
            return m.split_chunk > 0 ? static_cast<std::int32_t>(v->n * ceil_div(v->p() * v->q(), m.split_chunk)) : 1;
        if (is_tensor(m.pipe)) {
            // A power of two that gives about 64 CTAs of 128x128, at least two parts.
            const std::int64_t wanted = 64 * 16384 / (static_cast<std::int64_t>(m.cta.m) * m.cta.n * tiles);
            const auto filled = std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(2, wanted)));
            return static_cast<std::int32_t>(
                std::clamp<std::int64_t>(static_cast<std::int64_t>(filled), 1, longest_split));
        }
        // About 5.6 CTAs an SM, at least 12 parts, in the launches and bytes of stridedB_splitK kernels on V100.
        const auto wanted = static_cast<std::int64_t>(std::round(5.6 * sms(machine) / static_cast<double>(tiles)));
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(std::max<std::int64_t>(12, wanted), 1, longest_split));
    }
    // cuBLAS splits where less than half of the SMs would have a CTA and each part still has a long way to go.
    if (2 * tiles > static_cast<std::int64_t>(sms(machine))) return 1;
    const std::int64_t longest = view.k / 512;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(sms(machine)) / tiles, 1,
                                                              std::max<std::int64_t>(1, longest)));
}

}  // namespace gambrel::mapping_detail

namespace gambrel {

std::span<const Tile> known_tiles(const Machine& machine, Pipe pipe) {
    using namespace mapping_detail;
    if (!is_tensor(pipe)) return kGemmSimt;
    const int major = capability(machine).major;
    if (major >= 9) return kHopper;
    if (major == 7) return kVolta;
    return kAmpere;
}

}  // namespace gambrel
