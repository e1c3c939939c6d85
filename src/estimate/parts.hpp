// What a whole estimate and the figures of a table have in common.
#pragma once

#include <gambrel/estimate.hpp>

namespace gambrel::estimate_detail {

struct ShownBytes {
    Bytes l1, l2, dram;
};
// L2 as its counter counts, so that predicted and measured points can be laid over each other (docs/model/traffic.md,
// "What a profiler counts"). What a kernel that ran alone left in L2 did not reach DRAM while it was profiled; in a
// stream of kernels it does.
inline ShownBytes shown_bytes(const Traffic& t, const Layer& layer) {
    return {t.l1.total(), t.counted_l2(), layer.hints.cold ? t.counted_dram() : t.dram.total()};
}

// Of a tile that no SM can hold; else empty.
Errors not_launchable(const Layer& layer, const Mapping& mapping, const Occupancy& fits, const Machine& machine);

}  // namespace gambrel::estimate_detail
