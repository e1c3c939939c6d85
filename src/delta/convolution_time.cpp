#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

FlopPerCycle rate_of(const TiledLaunch& c) { return std::max(FlopPerCycle{1}, c.gpu.flop_per_cycle[c.mapping.pipe]); }

// A call that is timed again and again finds in L2 what the one before it left there, if that is all it needs.
Cycles operand_latency(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const bool repeated = c.layer.timing && !kernels_alone(c.layer) && !c.layer.cold;
    const Bytes needed = g.a.unique + g.b.unique + g.output * g.output_element;
    return repeated && needed <= c.gpu.l2_capacity ? c.gpu.l2_latency : c.gpu.dram_latency;
}

}  // namespace

void add_engine_wait(const TiledLaunch& c, double steps, CtaWork& w) {
    const Cycles wait = steps * operand_latency(c);
    // In a profile with empty caches, and on Kepler, whose instructions wait whatever runs beside them, other CTAs were
    // seen to fill the wait.
    const bool filled = c.layer.cold || c.gpu.architecture->issue_interval > Cycles{};
    (filled ? w.latency : w.unfilled) += wait;
    w.places = std::max(1.0, c.gpu.schedulers / (c.mapping.threads / 32.0));
}

double engine_fragments(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    constexpr double kWavefront = 128, kVector = 4;  // bytes; elements of a load
    const double side = std::sqrt(static_cast<double>(m.cta.m) * m.cta.n / m.threads);
    const double loads = m.threads / 32.0 * 2 * side / kVector;
    return loads * c.gpu.calibration->engine_fragment_wavefronts * kWavefront / c.geometry.element.value();
}

void add_engine_work(const TiledLaunch& c, double steps, CtaWork& w) {
    const Mapping& m = c.mapping;
    const double loaded = static_cast<double>(m.cta.m + m.cta.n) * m.cta.k;
    const double own = c.gpu.architecture->engines.load_slots;
    const double slots = steps * loaded * (own > 0 ? own : c.gpu.calibration->engine_load_slots);
    w.compute += Flops{2 * slots} / rate_of(c);
    w.issue += Cycles{slots / 32 / c.gpu.schedulers};
}

// Fused only: of every channel 32 additions for each tile, a patch of 10 x 18 inputs that is loaded element by element,
// and the transformed filters, four at a time.
void add_transform_work(const TiledLaunch& c, double steps, CtaWork& w) {
    const Mapping& m = c.mapping;
    if (m.transform != Transform::winograd_fused) return;
    const double tiles = m.cta.m / 16.0, slots = c.gpu.calibration->scalar_load_slots;
    const double of_channel = 32 * tiles + slots * (10 * 18 + 16.0 * m.cta.n / 4);
    w.compute += Flops{2 * steps * m.cta.k * of_channel} / rate_of(c);
}

Seconds transform_time(const TiledLaunch& c) {
    const TransformTraffic& more = c.geometry.transforms;
    const bool fourier = c.mapping.transform == Transform::fft || c.mapping.transform == Transform::fft_tiled;
    const Calibration& fit = *c.gpu.calibration;
    const bool rearranges = c.mapping.transposes || c.mapping.writes_matrix;
    const double reach = fourier ? fit.fft_reach : rearranges ? fit.transpose_reach : 1;
    const Seconds moved =
        std::max(more.dram.total() / (reach * data_bandwidth(c.gpu)), more.l2.total() / c.gpu.l2_bandwidth);
    // A CTA that writes the matrix goes along up to 256 of its rows, and waits for memory in each.
    constexpr double kRows = 256;
    const double rows = c.mapping.writes_matrix ? std::min(c.geometry.k / c.geometry.taps, kRows) : 0;
    return moved + rows * c.gpu.dram_latency / c.gpu.clock;
}

Seconds offsets_time(const TiledLaunch& c) {
    return c.mapping.computes_offsets ? c.gpu.calibration->offsets_kernel / c.gpu.clock : Seconds{};
}

}  // namespace gambrel::delta_detail
