// What a launch does, counted: everything of its time that no clock, rate, bandwidth or latency changes.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

double slices_of(const Mapping& m) { return m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1; }

// Integer multiply-adds of one warp in a k-step for the offsets and bounds of filter taps, in cuDNN's tiled kernels.
// Its engines have them in the slots that an element of a tile costs.
double offsets_of_step(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    const bool along_channels = m.layout == Layout::nhwc;  // a step stays in one tap
    const bool tiled = !m.engine && m.transform == Transform::none && m.cta.k > 1 && !along_channels;
    return tiled && (c.geometry.taps > 1 || m.computes_offsets) ? c.gpu.calibration->tap_offsets : 0;
}

// Instructions of one warp in a k-step that load the next tile and store it in shared memory. Where they pass registers
// on their way, elements of a product that lie along k have addresses of their own, each in the transposed tile and,
// unless their rows begin with sectors, in memory.
double loads_of_step(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    constexpr double kOthers = 2, kVector = 4;  // a load and a store
    const double a = static_cast<double>(m.cta.m) * m.cta.k / m.threads, b = a * m.cta.n / m.cta.m;
    if (!c.layer.gemm || copied_past_registers(c)) return kOthers * (a + b) / std::clamp(m.a.vector, 1, 4);
    const bool aligned = remainder_of(c.geometry.k * c.geometry.element.value(), kSector) == 0;
    const double along_k = c.gpu.calibration->instructions_along_k * (1 + (aligned ? 1 / kVector : 1));
    return a * (m.a.k_major ? along_k : kOthers) + b * (m.b.k_major ? along_k : kOthers);
}

// Instructions of one warp in a k-step: multiplications, fragments from shared memory (16 bytes a thread), loads and
// stores of the next tile, and the loop.
double instructions_of_step(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    const double slices = slices_of(m);
    const double outputs = static_cast<double>(m.cta.m) * m.cta.n * slices / m.threads;
    const double k = m.cta.k / slices, side = std::sqrt(outputs);
    return k * (outputs + 2 * side * 4 / 16) + loads_of_step(c) + c.gpu.calibration->instructions_per_step +
           offsets_of_step(c);
}

// Elements that the warps of a CTA take from shared memory for one element of k, as wavefronts of 128 bytes move them.
double fragments(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    const Calibration& fit = *c.gpu.calibration;
    constexpr double kWavefront = 128;
    const double vector = m.engine && m.pipe == Pipe::fp16 ? 8 : 4;  // elements of a load
    const double slices = slices_of(m), warps = m.threads / 32.0;
    double loads = warps * 2 * std::sqrt(static_cast<double>(m.cta.m) * m.cta.n * slices / m.threads) / vector / slices;
    // Fused: a warp has two of 16 products of 32 tiles and 32 filters, 8 x 4 outputs a thread.
    if (m.transform == Transform::winograd_fused) loads = warps * 2 * (8 + 4) / vector;
    const double wavefronts = m.engine ? fit.engine_fragment_wavefronts : fit.fragment_wavefronts;
    return loads * wavefronts * kWavefront / c.geometry.element.value();
}

double instructions_of_direct(const TiledLaunch& c, double steps) {
    const Calibration& fit = *c.gpu.calibration;
    const double channels = steps / std::max<double>(1, static_cast<double>(c.geometry.taps));
    return fit.direct_start + fit.direct_channel * channels + fit.direct_tap * steps;
}

// Instructions of a warp before and after its loop. cuDNN's kernels put their outputs in order in shared memory: each
// has an address there, is stored, waited for and loaded. cuBLAS's, and those of spectra, store them as they are.
double instructions_around_loop(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    constexpr double kInOrder = 8;
    const double of_output =
        c.gpu.calibration->instructions_per_output - (c.layer.gemm || is_fourier(m) ? kInOrder : 0);
    const double outputs =
        static_cast<double>(m.cta.m) * m.cta.n * (is_fourier(m) ? outputs_that_exist(c) : stored_columns(c));
    return c.gpu.calibration->instructions_outside_loop + of_output * outputs / m.threads;
}

// On CUDA cores: what the schedulers issue, and how long a single CTA takes however free its SM is.
void count_instructions(const TiledLaunch& c, double steps, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    const Calibration& fit = *c.gpu.calibration;
    const double packed = m.pipe == Pipe::fp16 || m.pipe == Pipe::bf16 ? 0.5 : 1;
    const double around = instructions_around_loop(c);
    const double instructions =
        is_direct(m) ? instructions_of_direct(c, steps) : steps * instructions_of_step(c) * packed + around;
    n.warps = m.threads / 32.0;
    n.issued = instructions * n.warps;
    n.issue_slots = c.gpu.architecture->issue_slots;
    // A CTA alone on its SM has free slots for the offsets between its multiplications.
    n.in_turn = (instructions - steps * offsets_of_step(c)) * fit.issue_interval;
    if (!c.layer.gemm && !is_direct(m)) n.around_loop = around * fit.issue_interval;
    const Cycles unfilled = c.gpu.architecture->issue_interval;
    if (unfilled > Cycles{} && !is_fourier(m)) n.unfilled = instructions * unfilled;
    if (m.transform == Transform::fft_tiled) count_complex(c, steps, n);
}

void count_multiplications(const TiledLaunch& c, double steps, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    const Calibration& fit = *c.gpu.calibration;
    n.multiplied = Flops{steps * 2 * (static_cast<double>(m.cta.m) * m.cta.n * m.cta.k)};
    if (n.tensor) {
        if (const auto& matrix = c.gpu.architecture->matrix) n.reach = matrix->reach;
        // Loads of the next stages are under way while one is multiplied; what remains is a barrier and a fragment
        // load.
        n.barriers = fit.matrix_barrier * steps;
        return;
    }
    // Asynchronous copies take elements of any alignment past the registers.
    const double slots = (copied_past_registers(c) ? 0.5 : 1) * fit.scalar_load_slots;
    if (c.layer.gemm) n.scalar_loads = Flops{steps * 2 * slots * (m.cta.m + m.cta.n) * m.cta.k};
    const double of_step = static_cast<double>(m.cta.m) * m.cta.n * m.cta.k / m.threads;  // multiplications of a thread
    n.tap_offsets = 1 + offsets_of_step(c) / of_step;
    if (slices_of(m) > 1) n.sliced = fit.sliced_step;
    count_instructions(c, steps, n);
    count_scattered(c, steps, n);
    if (m.engine) count_engine(c, steps, n);
    if (m.transform != Transform::none) count_transform(c, steps, n);
}

void count_cta(const TiledLaunch& c, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    auto steps = static_cast<double>(c.grid.k_steps);
    if (m.padded_k > 0) steps = std::max(steps, static_cast<double>(m.padded_k) / m.split_k / m.cta.k);
    if (m.four_products) steps *= 4.0 / 3;
    n.pipe = m.pipe;
    n.tensor = is_tensor(m.pipe);
    count_multiplications(c, steps, n);
    const Bytes of_step = c.geometry.element * m.cta.k;
    const bool direct =
        m.a.asynchronous && c.gpu.architecture->matrix && c.gpu.architecture->matrix->operands_from_shared_memory;
    const bool counted = !n.tensor && !is_direct(m) && !is_fourier(m);
    const double of_warps = direct    ? 0
                            : counted ? fragments(c)
                                      : (m.warp.m + m.warp.n) * (m.threads / 32.0) / slices_of(m);
    // Fused Winograd stores a patch of inputs, loads the 16 inputs of each of its 32 tiles from it, and stores these
    // and the filters transformed.
    constexpr double kPatch = 10 * 18 + 32 * 16, kTransformed = 16 * (32 + 32);
    const bool fused = m.transform == Transform::winograd_fused;
    const double of_cta = fused ? kPatch + kTransformed : m.cta.m + m.cta.n;
    n.shared += is_fourier(m) ? Bytes{steps * m.cta.k * complex_fragments(m)} : steps * of_step * (of_cta + of_warps);
}

// cuDNN's tiled kernels put their outputs in order in shared memory: each is stored and loaded. Counted on A100 as
// wavefronts that do not grow with k: 14.6 bytes an output by 128x64, 19 by 128x32. On Tensor Cores a CTA alone on its
// SM is seen to wait for it: with 256x128, T4 takes 12,800 cycles and V100 9,000 beside 80 for each element of k.
void count_staging(const TiledLaunch& c, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    if (c.layer.gemm || m.engine || is_direct(m) || m.transform != Transform::none) return;
    const double outputs = stored_columns(c) * m.cta.m * m.cta.n;
    Bytes& moved = n.tensor && n.per_sm == 1 ? n.staged : n.shared;
    moved += 2 * outputs * c.gpu.calibration->fragment_wavefronts * c.geometry.output_element;
}

// Parts of a split that add up in order. CTAs that came first run first, so the parts of a tile end in as many rounds
// as an SM has CTAs.
void count_ordered_sums(const TiledLaunch& c, LaunchCounts& n) {
    const double parts = static_cast<double>(c.grid.split_k);
    if (c.mapping.sums != SplitSums::in_order || parts <= 1) return;
    const double tiles = n.ctas / parts, sms = c.gpu.sms;
    n.parts = parts;
    // Sums of slices have passed through shared memory and are stored by 16 bytes: half of the requests.
    n.sum_share = slices_of(c.mapping) > 1 ? 0.5 : 1;
    n.sum_rounds = std::max(1.0, n.ctas / sms);
    n.together = std::min(parts, std::max(1.0, sms / tiles));
}

// Of kernels that are profiled one by one; a second kernel of a call is a transform or a table.
void count_cold_start(const TiledLaunch& c, LaunchCounts& n) {
    if (!c.layer.cold) return;
    const Calibration& fit = *c.gpu.calibration;
    const bool is_short = c.mapping.engine || is_direct(c.mapping);
    n.borders = c.mapping.border_sides * c.geometry.k * c.gpu.architecture->engines.border_step;
    n.cold_start = (is_short ? fit.cold_start_short : fit.cold_start) + (c.mapping.launches - 1) * fit.cold_start_short;
}

// A sum without a register is loaded and stored for every element of k; local memory is cached in L1.
Bytes spilled(const TiledLaunch& c) {
    constexpr Bytes kMoved{2 * 4};
    const Mapping& m = c.mapping;
    const double steps = static_cast<double>(c.grid.k_steps * c.grid.ctas());
    return kMoved * (static_cast<double>(m.spilled) * m.threads * m.cta.k * steps);
}

void count_bytes(const TiledLaunch& c, const Traffic& t, LaunchCounts& n) {
    const Bytes local = spilled(c);
    n.l1 = t.l1.total() + local;
    n.l2 = t.l2.total();
    // Local memory of more than L1 holds is in L2.
    const Bytes held = Bytes{4} * (static_cast<double>(c.mapping.spilled) * c.mapping.threads * c.resident);
    if (held > c.occupancy.l1) n.l2 += local;
    const Bytes a = t.dram.a - t.dram_uneven.a, b = t.dram.b - t.dram_uneven.b;
    n.read = a + b;
    n.stored = t.dram.c - t.filled;
    // What is read before it is written comes sector by sector, and with the check bits that the write needs.
    const Bytes filled = (t.filled + t.completed) * data_share(c.gpu) / reach_of_pieces(c.gpu, Bytes{kSector}, 1);
    // Rows are opened in some banks while others send what was asked for before.
    const Bytes moved = n.read + n.stored + filled;
    const Bytes opened = bytes_of_openings(c, c.geometry.a, a) + bytes_of_openings(c, c.geometry.b, b);
    n.dram = opened > Bytes{} ? Bytes{std::hypot(moved.value(), opened.value())} : moved;
}

// In FP32 FLOP of the same energy: what is multiplied, what L2 sends, and what DRAM moves. A row of DRAM that is opened
// takes energy as it takes time, so that its bytes are those of its time.
Flops fed(const TiledLaunch& c, const LaunchCounts& n) {
    const Architecture& a = *c.gpu.architecture;
    Flops all = n.ctas * n.multiplied + Flops{c.gpu.calibration->byte_energy * n.l2.value()};
    if (a.flop_energy > 0) all += Flops{a.dram_byte_energy / a.flop_energy * n.dram.value()};
    return all;
}

Seconds fixed_overhead(const TiledLaunch& c) {
    if (!c.layer.timing || kernels_alone(c.layer) || *c.layer.timing == Timing::stream) return {};
    if (*c.layer.timing == Timing::call) return c.gpu.architecture->library_call;
    if (!c.layer.gemm) return c.gpu.architecture->convolution_call;
    const Calibration& fit = *c.gpu.calibration;
    const double linear = c.geometry.batch > 1 ? 0 : fit.linear_call, split = c.grid.split_k > 1 ? fit.split_call : 0;
    return (1 + linear + split) * c.gpu.architecture->gemm_call;
}

// Of a library's call: once for all groups.
Cycles offsets_kernel(const TiledLaunch& c) {
    const bool is_call = c.layer.timing == Timing::call || c.layer.timing == Timing::stream;
    return is_call && c.mapping.computes_offsets ? c.gpu.calibration->offsets_kernel : Cycles{};
}

}  // namespace

LaunchCounts launch_counts(const TiledLaunch& c, const Traffic& traffic) {
    LaunchCounts n;
    count_cta(c, n);
    const Waves w = waves_of(c);
    n.ctas = static_cast<double>(c.grid.ctas());
    n.per_sm = w.per_sm;
    n.full_waves = w.full;
    n.gathered = w.gathered;
    n.rounds = std::ceil(n.ctas / (w.per_sm * c.gpu.sms));
    n.k_steps = static_cast<double>(c.grid.k_steps);
    count_staging(c, n);
    count_bytes(c, traffic, n);
    // Where one array is both, what L1 gives and takes passes the same lines. Of cuDNN 7's wide engine the fragments
    // alone are already more than the cycles of its CTAs on T4; those of cuDNN 8 have it in the slots of their loads.
    const bool narrow = c.mapping.cta.n <= 32 && !c.mapping.explicit_matrix;
    const bool counted =
        c.mapping.engine && (!narrow || n.scattered > Bytes{} || c.gpu.architecture->engines.load_slots > 0);
    const bool passes = !c.mapping.a.asynchronous && !counted && !is_fourier(c.mapping);
    if (c.gpu.architecture->l1_holds_shared_memory && passes) n.shared += n.l1 / n.ctas;
    count_ordered_sums(c, n);
    n.gemm = c.layer.gemm;
    if (n.gemm && n.pipe == Pipe::fp32) n.fed = fed(c, n);
    n.asynchronous = queues_copies(c);
    n.hides_in_part = hides_in_part(c);
    n.alone = kernels_alone(c.layer);
    n.launches = c.mapping.launches;
    n.groups = c.layer.groups;
    n.queued = queues_tiles(c);
    count_cold_start(c, n);
    n.call = fixed_overhead(c);
    n.offsets = offsets_kernel(c);
    if (c.mapping.transform == Transform::winograd_separate)
        n.products_in_turn = c.geometry.batch * c.gpu.architecture->product_launch;
    count_beside(c, n);
    return n;
}

Seconds call_overhead(const TiledLaunch& c) { return fixed_overhead(c) + offsets_kernel(c) / c.gpu.clock; }

}  // namespace gambrel::delta_detail
