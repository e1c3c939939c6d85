// What of a launch runs beside what: the CTAs of a wave, copies and multiplications, and kernels that follow one
// another.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

Waves waves_of(const TiledLaunch& c) {
    const double ctas = static_cast<double>(c.grid.ctas()), per_sm = std::max(1, c.occupancy.ctas_per_sm);
    const double full = std::floor(ctas / (per_sm * c.gpu.sms)), rest = ctas - full * per_sm * c.gpu.sms;
    const double even = std::ceil(rest / c.gpu.sms);  // if the last wave were balanced
    // CTAs of a product come to every SM as its places fall free, one by one.
    const bool gathers = !c.layer.gemm && full > 0 && rest > 0;
    const double more = gathers ? c.gpu.calibration->last_wave_gathering * (per_sm - even) : 0;
    return {per_sm, full, even + more};
}

bool copied_past_registers(const TiledLaunch& c) {
    const auto& matrix = c.gpu.architecture->matrix;
    return matrix && matrix->asynchronous_copies;
}

bool queues_copies(const TiledLaunch& c) {
    const bool product = c.layer.gemm && !is_tensor(c.mapping.pipe);
    // Of a convolution on Tensor Cores each SM has a CTA or two, which are at different places: while one stores, the
    // memory serves those of other SMs.
    const bool tensor = !c.layer.gemm && is_tensor(c.mapping.pipe) && c.mapping.transform == Transform::none;
    return c.mapping.a.asynchronous || tensor || (product && copied_past_registers(c));
}

bool hides_in_part(const TiledLaunch& c) {
    constexpr std::int32_t kTwoWarps = 64;
    return c.layer.gemm && !is_tensor(c.mapping.pipe) && !queues_copies(c) && c.mapping.threads <= kTwoWarps;
}

bool kernels_alone(const PreparedLayer& layer) {
    return layer.timing == Timing::kernel || layer.timing == Timing::graph;
}

bool queues_tiles(const TiledLaunch& c) {
    const bool several = c.geometry.transforms.turns > 1 || c.layer.groups > 1;
    return c.mapping.transform == Transform::fft_tiled && several && !kernels_alone(c.layer);
}

}  // namespace gambrel::delta_detail
