#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// Half of the lines have their home in the other partition.
constexpr double kElsewhere = 0.5;

// Bytes that miss in the partition of the SM that asks: each time that they come from DRAM they are asked for by
// `shared` CTAs before they go, whose SMs are in either half.
Bytes near_misses(Bytes dram, Bytes asked) {
    if (dram <= Bytes{}) return {};
    const double shared = std::max(1.0, asked / dram);
    return dram * 2 * (1 - std::exp2(-shared));
}

// The places in L2 of what comes from DRAM: a copy in the other half, too, of what is asked for there.
Bytes places_of(const ModelInputs& gpu, Bytes dram, Bytes asked) {
    if (gpu.l2_copies < 2) return dram;
    return dram + kElsewhere * near_misses(dram, asked);
}

// Of what a kernel writes, what is in L2 at its end: the oldest lines go first, whether read or written, and at most
// half of L2 is not yet written back.
Bytes left_behind(const ModelInputs& gpu, Bytes written, Bytes places_of_reads) {
    const Bytes all = written + places_of_reads;
    const Bytes most = std::min(written, gpu.usable_l2());
    return all > gpu.l2_capacity ? std::min(most, gpu.l2_capacity * (written / all)) : most;
}

Bytes left_in_l2(const PreparedLayer& layer, const ModelInputs& gpu, const Traffic& t) {
    const TransformTraffic& beside = layer.geometry.transforms;
    const double groups = layer.groups;
    const Bytes read_a = t.dram.a - groups * beside.dram.a, read_b = t.dram.b - groups * beside.dram.b;
    Bytes main_reads =
        places_of(gpu, read_a, t.l2.a - groups * beside.l2.a) + places_of(gpu, read_b, t.l2.b - groups * beside.l2.b);
    // A kernel that goes through a tensor and writes over it has one place for both.
    if (layer.mapping.family != KernelFamily::tiled && layer.geometry.rewritten > Bytes{}) main_reads = {};
    // A profiler empties the caches between the kernels of a call, too. A pass over a spectrum reads what it writes.
    const double turns = groups * beside.turns;
    const auto of_turns = [&](double times, Bytes written, Bytes places) {
        return times * left_behind(gpu, written / times, places / times);
    };
    const auto of_transform = [&](double times, Bytes written, Bytes moved) {
        const Bytes read = std::clamp(moved - written, Bytes{}, written);
        return of_turns(times, groups * written, groups * places_of(gpu, read, read));
    };
    const auto& handed_on = beside.handed_on;
    const Bytes before =
        of_transform(turns, handed_on[0], beside.dram.a) + of_transform(groups, handed_on[1], beside.dram.b);
    if (handed_on[2] <= Bytes{})
        return before + left_behind(gpu, t.dram.c - layer.geometry.read_once * groups, main_reads);
    // The kernel of a bias writes over what it reads.
    const bool in_place = layer.mapping.bias_kernel != BiasKernel::none;
    const Bytes last_reads = in_place ? Bytes{} : groups * places_of(gpu, handed_on[2], handed_on[2]);
    return before + of_turns(turns, groups * handed_on[2], main_reads) +
           of_turns(beside.turns, layer.geometry.written, last_reads);
}

}  // namespace

Bytes left_by_profiled(const PreparedLayer& layer, const ModelInputs& gpu, const Traffic& t) {
    return layer.profiled && gpu.architecture->l2_keeps_written ? left_in_l2(layer, gpu, t) : Bytes{};
}

void count_as_profiler(const PreparedLayer& layer, const ModelInputs& gpu, Seconds time, Traffic& t) {
    const Architecture& a = *gpu.architecture;
    if (a.l2_keeps_written) t.left_in_l2 = left_in_l2(layer, gpu, t);
    t.l2_fetched = a.l2_counts_launch * layer.mapping.launches;
    if (gpu.l2_copies < 2) return;
    const double read = kElsewhere * a.l2_counts_read_crossing, write = kElsewhere * a.l2_counts_write_crossing,
                 rewrite = kElsewhere * a.l2_counts_rewrite_crossing;
    const double groups = layer.groups;
    const Bytes stored_again = layer.geometry.rewritten * groups, read_back = layer.geometry.read_back * groups;
    t.l2_crossing.a = read * near_misses(t.dram.a - t.beside, t.l2.a);
    t.l2_crossing.b = read * near_misses(t.dram.b, t.l2.b);
    const Bytes fresh = std::max(Bytes{}, t.l2.c - stored_again - read_back);
    t.l2_crossing.c = write * fresh + rewrite * stored_again + read * read_back;
    // The crossings are an estimate; what the slices can look up in this time is a bound of it.
    const Bytes room = std::max(Bytes{}, gpu.l2_bandwidth * gpu.l2_lookups * time - t.l2.total() - t.l2_fetched);
    if (const Bytes crossing = t.l2_crossing.total(); crossing > room) t.l2_crossing *= room / crossing;
}

}  // namespace gambrel::delta_detail
