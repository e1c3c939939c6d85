// Layers that stream. The time is that of the memory level that feeds them: DRAM, or L2 where a replayed or repeated
// kernel finds its tensors there; kernels of one CTA a row also take the SMs' time for their rows.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"
#include "delta/streaming_costs.hpp"
#include "delta/streaming_formula.hpp"

namespace gambrel::delta_detail {
namespace {

// Threads of a CTA that mapping_for gives a streaming kernel, by how it reads.
constexpr std::int32_t kScalarRows = 1024, kVectorRows = 512, kIndexed = 128;

// Times that the input comes from memory: a kernel that needs a row's statistics first reads it again.
double reads_of(const Streaming& s, const PreparedLayer& layer, const StreamingCosts& c) {
    if (s.rows <= 0 || layer.mapping.a.through_l1) return 1;
    if (s.kind == StreamingKind::layer_norm) return c.layer_norm_reads;
    if (s.kind == StreamingKind::softmax) return s.read[0] / s.rows <= 1024 ? c.softmax_warp_reads : c.softmax_reads;
    return 1;
}

// Of all SMs for the rows, where a CTA has one.
Cycles row_cycles(const Streaming& s, const PreparedLayer& layer, const ModelInputs& h, const StreamingCosts& c) {
    if (s.rows <= 0) return {};
    const double columns = std::max(s.written, s.read[0]) / s.rows;
    if (layer.mapping.threads == kIndexed) return Cycles{s.rows * columns * c.index_element / h.sms};
    const std::int32_t cta = layer.mapping.threads;
    if (cta == kScalarRows || cta == kVectorRows) {
        const double threads = std::clamp(columns, 32.0, 1024.0), iterations = std::ceil(columns / 1024);
        const double resident = std::max(1.0, std::floor(h.limits.max_warps * 32 / threads));
        const double row = iterations * (cta == kScalarRows ? c.scalar_iteration : c.vector_iteration);
        return Cycles{std::max(s.rows * row / (h.sms * resident), 0.7 * row)};
    }
    if (s.kind == StreamingKind::layer_norm && !layer.mapping.a.through_l1)
        return Cycles{s.rows * (c.norm_row + c.norm_element * columns) / h.sms};
    return {};
}

// A CTA goes along its row in steps, and in each waits for every tensor that it reads, a second time for what it reads
// twice. CTAs of rows of one length run in waves.
Cycles waits_in_rows(const Streaming& s, const ModelInputs& h) {
    if (s.row_step <= 0 || s.rows <= 0) return {};
    const double columns = std::max(s.written, s.read[0]) / s.rows;
    const double readings = (s.read[0] + s.read[1] + s.read[2] + s.read[3] + s.read_again) / (s.rows * columns);
    const double waits = s.row_waits + std::ceil(columns / s.row_step) * readings;
    return std::ceil(s.rows / (s.rows_per_sm * h.sms)) * waits * h.dram_latency;
}

// Sums over all rows, 32 columns by a CTA of 1024 threads: it waits for the rows of each step, and for their
// statistics, which other CTAs have read before.
Cycles waits_in_columns(const Streaming& s, const ModelInputs& h) {
    if (s.column_step <= 0 || s.rows <= 0) return {};
    constexpr double kColumns = 32, kThreads = 1024;
    const double ctas = std::ceil(std::max(s.written, s.read[0]) / s.rows / kColumns);
    const double resident = std::max(1.0, std::floor(h.limits.max_warps * 32 / kThreads));
    return std::ceil(ctas / (resident * h.sms)) * std::ceil(s.rows / s.column_step) * (h.dram_latency + h.l2_latency);
}

// Of what a kernel reads a second time, the share that L2 has lost by then: the rows that all SMs work on, read and
// written, pass in between. As in dram.cpp, the capacity lies between a half of L2 and the whole where it has two
// halves.
double lost_share(const Streaming& s, Bytes once, Bytes again, const ModelInputs& h) {
    if (s.rows <= 0 || s.rows_per_sm <= 0) return 1;
    const Bytes between = s.rows_per_sm < s.rows ? once / s.rows * std::min(s.rows, s.rows_per_sm * h.sms)
                                                 : once + again;  // a tensor that the kernel before it wrote
    const Bytes least = h.usable_l2(), most = h.l2_capacity;
    if (most <= least) return between > least ? 1 : 0;
    return std::clamp((between - least) / (most - least), 0.0, 1.0);
}

// A CTA that has an SM to itself has so many bytes on their way at a time: two loads of 16 bytes a thread.
Cycles waits_in_turn(const Streaming& s, const Traffic& traffic, const ModelInputs& h) {
    if (s.threads_per_sm <= 0) return {};
    constexpr Bytes kOnTheWay{32};
    return traffic.dram.total() / (kOnTheWay * s.threads_per_sm * h.sms) * h.dram_latency;
}

// Of additions to L2. Each of an SM's is issued by itself, and where it is a fence, too, the next one waits for it.
Cycles atomics_cycles(const Streaming& s, const ModelInputs& h, const StreamingCosts& c) {
    return Cycles{s.atomics * (s.atomics_ordered ? c.ordered_atomic : c.atomic) / h.sms};
}

// An error function, an exponential or a power is a series of instructions on the FP32 lanes, half as many of which an
// SM of A100 has as one of its successors.
double series_slots(const Streaming& s, const StreamingCosts& c) {
    return s.kind == StreamingKind::transcendental ? s.written * c.series : 0;
}

// The bus turns around between reads and writes; a stream that is nearly all of one kind keeps the bandwidth that a
// benchmark of reads measures.
double reach_of(const Traffic& traffic, const ModelInputs& h, const StreamingCosts& c) {
    const double written = traffic.dram.c / std::max(Bytes{1}, traffic.dram.total());
    return 1 - (1 - c.reach(h)) * std::min(1.0, 3 * written);
}

void add_second_reading(const Streaming& s, const PreparedLayer& layer, const ModelInputs& h, Traffic& traffic) {
    const Bytes again = s.read_again * element_size(layer.precision);
    const Bytes local = s.spilled * element_size(Precision::fp32);
    for (OperandTraffic* level : {&traffic.l1, &traffic.l2}) level->a += again + local, level->c += local;
    traffic.dram.a += again * lost_share(s, layer.dram.total(), again, h) + local;
    traffic.dram.c += local;
}

// Of the rows that a gather looks up, the share that comes from DRAM: each row of its table once, and again where L2
// has lost it meanwhile. What one partition of L2 lacks it finds in the other, so all of it counts.
double looked_up(const Streaming& s, const PreparedLayer& layer, const ModelInputs& h) {
    if (s.kind != StreamingKind::gather || s.table_rows <= 0 || s.rows <= 0) return 1;
    const double distinct = s.table_rows * -std::expm1(-s.rows / s.table_rows);
    const Bytes touched = distinct * (s.read[0] / s.rows) * element_size(layer.precision);
    const double lost = 1 - std::min(1.0, h.l2_capacity / touched);
    return (distinct + (s.rows - distinct) * lost) / s.rows;
}

// What DRAM must give of a stream whose tensors were used just before: all but what L2 has kept of them.
double missed(Bytes footprint, const PreparedLayer& layer, const ModelInputs& h, const StreamingCosts& c) {
    if (!kernels_alone(layer) || layer.cold || footprint <= Bytes{}) return 1;
    return std::max(0.0, 1 - h.usable_l2() * c.kept / footprint);
}

// A warp of a depthwise kernel has an output for each lane and loops over its taps, as cuDNN's direct kernels do. Where
// threads lie a stride apart, a load has as many times the sectors, and takes the slots of as many loads.
struct DepthwiseWarps {
    double count = 0, slots = 0;   // of each, for its outputs
    double ctas = 0, in_turn = 0;  // outputs of a thread of a CTA, one after the other
};
DepthwiseWarps depthwise_warps(const PreparedLayer& layer, const ModelInputs& h) {
    constexpr double kWarp = 32;
    const Calibration& fit = *h.calibration;
    const double outputs = std::max(1.0, layer.dram.c / element_size(layer.precision));
    const double loads = layer.l1.a / element_size(layer.precision) / outputs;
    const bool by_planes = h.architecture->depthwise_tap > 0 && layer.plane > 0;
    DepthwiseWarps w{outputs / kWarp, fit.direct_start + fit.direct_channel + fit.direct_tap * loads};
    if (!by_planes) return w;
    // A CTA knows its image and channel, so that no thread has to divide. The threads go through a plane side by side,
    // and those beyond its end do nothing.
    w.slots = fit.direct_channel + h.architecture->depthwise_tap * loads;
    w.ctas = outputs / layer.plane;
    w.in_turn = std::ceil(layer.plane / layer.mapping.threads);
    w.count = w.ctas * std::ceil(layer.plane / kWarp);
    return w;
}
// For each of its outputs a thread waits for L2, and from the second on for DRAM where L2 does not hold what a repeated
// call needs. Where L1 keeps nothing it waits for every further row of taps too, which L2 has by then, and for the
// filter's rows before the first output.
Cycles depthwise_waits(const DepthwiseWarps& w, const PreparedLayer& layer, const ModelInputs& h) {
    if (w.ctas <= 0) return {};
    const Cycles next = layer.dram.total() > h.l2_capacity ? h.dram_latency : h.l2_latency;
    const Cycles further = h.architecture->l1_keeps_global_loads
                               ? Cycles{}
                               : ((layer.tap_rows - 1) * w.in_turn + layer.tap_rows) * h.l2_latency;
    const Cycles issued{(w.in_turn * w.slots) * h.calibration->issue_interval};
    const double at_once = std::max(1.0, std::floor(h.limits.max_warps * 32 / layer.mapping.threads));
    return std::max(1.0, w.ctas / (h.sms * at_once)) * (issued + h.l2_latency + (w.in_turn - 1) * next + further);
}

// What a GPU's caches leave of the traffic.
void miss_caches(const PreparedLayer& layer, const ModelInputs& h, Traffic& traffic) {
    const StreamingCosts& c = streaming_costs();
    const auto* s = std::get_if<Streaming>(&layer.op);
    const double reads = s ? reads_of(*s, layer, c) : 1;
    traffic.l1.a *= reads;
    traffic.l2.a *= reads;
    traffic.dram.a *= reads;
    if (s) traffic.dram.a *= looked_up(*s, layer, h);
    traffic.dram *= missed(layer.dram.total(), layer, h, c);
    if (s) add_second_reading(*s, layer, h, traffic);
}

void count_start(const PreparedLayer& layer, const ModelInputs& h, StreamingCounts& n) {
    if (layer.profiled)
        n.launch = h.calibration->cold_start_short;
    else if (layer.timing)
        n.launch = Seconds{streaming_costs().floor[static_cast<std::size_t>(*layer.timing)]};
    else
        n.launch = h.launch, n.first = h.dram_latency;
    n.host = layer.host;
    n.host_ahead = layer.host_ahead;
}

}  // namespace

StreamingCounts streaming_counts(const PreparedLayer& layer, const ModelInputs& h, Traffic& traffic) {
    const StreamingCosts& c = streaming_costs();
    miss_caches(layer, h, traffic);
    StreamingCounts n;
    n.pipe = layer.mapping.pipe;
    n.multiplied = layer.flop;
    n.l1 = traffic.l1.total();
    n.l2 = traffic.l2.total();
    n.dram = traffic.dram.total() - left_by_profiled(layer, h, traffic);
    count_start(layer, h, n);
    n.waited = layer.waits_in_turn * h.dram_latency;
    if (const auto* s = std::get_if<Streaming>(&layer.op)) {
        n.rows = std::max(row_cycles(*s, layer, h, c), atomics_cycles(*s, h, c));
        n.of_lanes = series_slots(*s, c);
        n.l2_passes = c.l2_passes;
        n.reach = reach_of(traffic, h, c);
        n.waited = std::max({n.waited, waits_in_turn(*s, traffic, h), waits_in_rows(*s, h), waits_in_columns(*s, h),
                             s->lone_waits * h.dram_latency});
        // Loads that wait for each other also wait for the bandwidth.
        if (n.waited > Cycles{}) n.blend = c.blend;
    } else if (layer.mapping.family == KernelFamily::depthwise) {
        const DepthwiseWarps warps = depthwise_warps(layer, h);
        n.of_schedulers = warps.count * warps.slots;
        n.waited = depthwise_waits(warps, layer, h);
    }
    return n;
}

Seconds streaming_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic& traffic) {
    return time_of_counts(streaming_counts(layer, h, traffic), h, t);
}

}  // namespace gambrel::delta_detail
