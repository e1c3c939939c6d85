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

}  // namespace

void count_as_profiler(const PreparedLayer& layer, const ModelInputs& gpu, Seconds time, Traffic& t) {
    const Architecture& a = *gpu.architecture;
    if (a.l2_keeps_written) {
        const auto stays = [&](Bytes written) { return std::min(written, gpu.usable_l2()); };
        Bytes last = t.dram.c - layer.geometry.read_once * layer.groups;
        // A profiler empties the caches between the kernels of a call, too.
        for (const Bytes& workspace : layer.geometry.transforms.handed_on) t.left_in_l2 += stays(workspace);
        if (layer.geometry.transforms.handed_on[2] > Bytes{}) last = layer.geometry.written;
        t.left_in_l2 += stays(last);
    }
    t.l2_fetched = a.l2_counts_launch * layer.mapping.launches;
    if (gpu.l2_copies < 2) return;
    const double read = kElsewhere * a.l2_counts_read_crossing, write = kElsewhere * a.l2_counts_write_crossing,
                 rewrite = kElsewhere * a.l2_counts_rewrite_crossing;
    const double groups = layer.groups;
    const Bytes stored_again = layer.geometry.rewritten * groups, read_back = layer.geometry.read_back * groups;
    t.l2_crossing.a = read * near_misses(t.dram.a, t.l2.a);
    t.l2_crossing.b = read * near_misses(t.dram.b, t.l2.b);
    const Bytes fresh = std::max(Bytes{}, t.l2.c - stored_again - read_back);
    t.l2_crossing.c = write * fresh + rewrite * stored_again + read * read_back;
    // The crossings are an estimate; what the slices can look up in this time is a bound of it.
    const Bytes room = std::max(Bytes{}, gpu.l2_bandwidth * gpu.l2_lookups * time - t.l2.total() - t.l2_fetched);
    if (const Bytes crossing = t.l2_crossing.total(); crossing > room) t.l2_crossing *= room / crossing;
}

}  // namespace gambrel::delta_detail
