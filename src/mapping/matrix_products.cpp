// Kernels on Tensor Cores of Architecture::matrix_gemm: which tile their library takes, and what the choice and the
// time (src/delta/matrix_time.cpp) both need to know of a tile.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mapping/rules.hpp"

namespace gambrel {
namespace {

// Inlined where tiles are compared, which functions that other rooms call are not.
double charged_waves_by(const Calibration& fit, double even, double k, double overhead) {
    const double shared = even + fit.wave_rounding * (std::ceil(even) - even);
    if (even > 1) return shared;
    return std::max(shared, std::min(1.0, (fit.gemm_split_chunk + overhead) / (k + overhead)));
}
double share_of_clock(double busy, double fed, double lowest_voltage) {
    if (fed <= busy) return 1;
    const double held = std::sqrt(busy / fed);
    return held >= lowest_voltage ? held : busy / fed / lowest_voltage;
}

}  // namespace

double tile_overhead(const MatrixGemm& library, FlopPerCycle rate) {
    return calibration().tile_overhead * (rate / library.full_rate);
}

double charged_waves(double even, double k, double overhead) {
    return charged_waves_by(calibration(), even, k, overhead);
}

MatrixPower matrix_power(const Machine& machine, const Architecture& architecture) {
    if (!architecture.matrix_gemm || architecture.matrix_gemm->flop_energy <= 0 || !machine.board_power) return {};
    const double flop = architecture.matrix_gemm->flop_energy;
    const auto& boost = machine.clocks.boost;
    return {FlopRate{machine.board_power->value / (flop * 1e-12)},
            calibration().byte_energy * architecture.flop_energy / flop,
            boost ? architecture.matrix_gemm->lowest_voltage / boost->value : 0};
}

double flop_in_fp16(const MatrixGemm& library, Bytes element) {
    // TF32 has the multiplier of FP16 and twice its wires.
    if (element >= Bytes{2}) return element / Bytes{2};
    const double half = library.half_width_energy > 0 ? library.half_width_energy : calibration().half_width_energy;
    if (element >= Bytes{1}) return half;
    return library.quarter_width_energy > 0 ? library.quarter_width_energy : half * half;
}

double powered_clock(Seconds busy, Seconds fed, double lowest_voltage) {
    return share_of_clock(busy.value(), fed.value(), lowest_voltage);
}

namespace mapping_detail {
namespace {

// The same as the model's bandwidth of L2: what a benchmark reached, else the width.
double l2_reached(const Target& gpu) {
    const MemoryLevel* l2 = gpu.machine.find(Level::l2);
    const auto& boost = gpu.machine.clocks.boost;
    if (!l2 || !l2->measured || !boost) return l2_width(gpu);
    return l2->measured->ceiling.value / l2->measured->clock.value_or(boost->value) / BytesPerCycle{1};
}

}  // namespace

double l2_width(const Target& gpu) {
    const MemoryLevel* l2 = gpu.machine.find(Level::l2);
    if (!l2 || !l2->width) return 0;
    return l2->width->value.value() * (l2->per_sm ? gpu.sms : 1);
}

Tile fastest_matrix_tile(const Layer& layer, const GemmView& view, const Target& gpu, Pipe pipe) {
    const MatrixGemm& library = *gpu.architecture.matrix_gemm;
    const Calibration& fit = calibration();
    const Arithmetic& a = gpu.machine.pipes[pipe];
    const FlopPerCycle rate = a.dense ? a.dense->value : FlopPerCycle{2};
    const double macs = rate.value() / 2, width = l2_reached(gpu) * library.l2_reuse;
    const double sms = std::max(1.0, gpu.sms), k = static_cast<double>(view.k);
    // cuDNN's convolutions are not persistent, and only their filter gradients are split.
    const bool product = std::holds_alternative<Gemm>(layer.op), split = product || layer.pass == Pass::wgrad;
    const double most_parts = split ? std::max(1.0, std::floor(k / fit.gemm_split_chunk)) : 1;
    const Bytes element = element_size(layer.precision);
    const double cycles_of_byte = width > 0 ? k * element.value() / width : 0;
    const double overhead = tile_overhead(library, rate);
    const auto& boost = gpu.machine.clocks.boost;
    const double cycles_of_sum = boost ? fit.sum_of_parts * boost->value / Cycles{1} : 0;
    // Cycles at boost clock in which the board feeds the multiplications, and a byte that L2 sends.
    const MatrixPower power = matrix_power(gpu.machine, gpu.architecture);
    const double cycles_of_flop = boost && power.fed > FlopRate{} ? boost->value.value() / power.fed.value() : 0;
    const double sums = static_cast<double>(view.m) * static_cast<double>(view.n) * static_cast<double>(view.batch);
    const double multiplied = 2 * sums * k * flop_in_fp16(library, element) * cycles_of_flop;
    const double sent = k * element.value() / std::max(1.0, library.l2_reuse) * power.byte * cycles_of_flop;
    // An output of one of so many tiles: waves that are rounded up only add to it. Less than a rounding error is taken
    // off, so that it is never above the time.
    const double least_of_output = (1 - 1e-9) * (k + overhead) / (sms * macs);
    const Tile* best = &library.tiles.front();
    double best_time = std::numeric_limits<double>::infinity();
    for (const Tile& tile : library.tiles) {
        const double tiles = static_cast<double>(ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n) * view.batch);
        const double edges = tiles * (tile.m + tile.n), fed = multiplied + edges * sent;
        const double least = tiles * tile.m * tile.n * least_of_output;
        if (edges * cycles_of_byte >= best_time || least * std::max(least, fed) > best_time * best_time) continue;
        const double parts = 2 * tiles > sms ? 1 : std::min(std::floor(sms / tiles), most_parts);
        const double even = tiles * parts / sms;
        const double waves = product ? charged_waves_by(fit, even, k / parts, overhead) : std::ceil(even);
        const double busy = waves * (k / parts + overhead) * tile.m * tile.n / macs;
        const double held = share_of_clock(busy, fed, 0);  // libraries were tuned on kernels of all lengths
        const double time = std::max(busy / held, edges * cycles_of_byte) + (parts > 1 ? cycles_of_sum : 0);
        if (time >= best_time) continue;
        best = &tile;
        best_time = time;
    }
    return {best->m, best->n, 0};
}

}  // namespace mapping_detail
}  // namespace gambrel
