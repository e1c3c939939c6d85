// Threads, registers and shared memory of a tile.
#include <algorithm>
#include <bit>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {

// 4x4 outputs a thread in narrow tiles (launches of sgemm_128x32, 32x128), else 8x8.
std::int32_t threads_of_product(const Tile& tile, std::int32_t slices) {
    const std::int32_t area = tile.m * tile.n;
    if (std::min(tile.m, tile.n) <= 32) return area <= 1024 ? 128 : 256;
    return std::max(64, area * slices / 64);
}

void give_resources(Mapping& m, const Layer& layer, const Target& gpu, KernelName::Family family) {
    const bool tensor = is_tensor(m.pipe);
    const MatrixUnits* matrix = tensor ? &matrix_of(gpu.architecture) : nullptr;
    const std::int32_t area = m.cta.m * m.cta.n;
    const std::int32_t slices = std::max(1, m.cta.k / std::max(1, m.warp.k ? m.warp.k : m.cta.k));
    if (matrix && matrix->threads > 0) {
        m.threads = matrix->threads;
    } else if (matrix) {
        m.threads = std::min(std::max(128, area / matrix->outputs_per_thread), 256);
    } else if (family == KernelName::Family::gemm) {
        m.threads = threads_of_product(m.cta, slices);
    } else {
        m.threads = std::max(64, area * slices / 64);  // 8x8 outputs a thread
    }
    if (family == KernelName::Family::engine) m.threads = area >= 8192 ? 256 : 64;
    if (family == KernelName::Family::direct) m.threads = 32;  // an output a thread
    m.threads = std::min(m.threads, 1024);
    // Where the sums of a thread do not fit into its registers, there are twice as many threads. cuDNN's transforms
    // have kernels of one size: sums of the fused Winograd kernel lie in local memory.
    const double most = gpu.architecture.registers_per_thread;
    const bool fused = m.transform == Transform::winograd_fused;
    const bool one_size = fused || m.transform == Transform::fft || m.transform == Transform::fft_tiled;
    const bool halves = !one_size && !matrix && area * slices > most * m.threads;
    if (halves) m.threads = std::min(2 * m.threads, 1024);
    const double outputs = static_cast<double>(area) * slices / m.threads;
    // Sums in FP16 lie two in a register.
    const double sums = m.engine && m.pipe == Pipe::fp16 ? 0.5 : 1;
    const double needed = calibration().registers_fixed + calibration().registers_per_output * outputs * sums;
    if (fused) m.spilled = std::max(0, static_cast<std::int32_t>(needed - most));
    // Addresses may spill, accumulators cannot: such a tile asks for more than a thread can have.
    m.registers = matrix && matrix->registers > 0
                      ? matrix->registers
                      : static_cast<std::int32_t>(outputs > most && !one_size ? needed : std::min(needed, most));
    const double element = element_size(layer.precision).value();
    auto shared = static_cast<std::int32_t>(m.stages * (m.cta.m + m.cta.n) * m.cta.k * element);
    // cuDNN's own kernels ask for a power of two; the strided ones always for 32 KiB (launches in profiler traces).
    if (family == KernelName::Family::cudnn && !tensor) {
        shared = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(shared)));
        if (m.cta.n >= 128) shared = 32768;
        if (layer.pass != Pass::fwd) shared = 32768;
    }
    // By launches in profiler traces, 48 KiB and 126 registers for each of 256 threads.
    if (fused) shared = 49152;
    m.shared_memory = Bytes{static_cast<double>(shared)};
    const std::int32_t warps = m.threads / 32;
    const std::int32_t warp_area = std::max(1, area * slices / warps);
    m.warp.m = std::min(m.cta.m, warp_area >= 4096 ? 64 : warp_area >= 2048 ? 64 : 32);
    m.warp.n = std::max(8, warp_area / std::max(1, m.warp.m));
    m.warp.k = m.cta.k / slices;
}

}  // namespace gambrel::mapping_detail
