// Products in FP8 whose input has one scale, by kernels that are known from their source: vLLM's, of CUTLASS. Clusters
// of CTAs, whole waves, no split; and the kernels before them that quantize the input. docs/model/tensor-cores.md.
#include <algorithm>
#include <cmath>

#include "base/arithmetic.hpp"
#include "delta/levels.hpp"
#include "delta/streaming_costs.hpp"

namespace gambrel::delta_detail {
namespace {

double whole(double count, double of) { return std::ceil(count / of); }

// The CTAs of all SMs walk along the shorter side of the grid, one line of clusters after the other: the operand of
// that side is read once for each line.
struct Walk {
    explicit Walk(const TiledLaunch& c) {
        const Cluster cluster = c.mapping.ctas_together();
        const double rows = whole(static_cast<double>(c.grid.rows), cluster.rows);
        const double columns = whole(static_cast<double>(c.grid.columns), cluster.columns);
        const double in_flight = std::max(1.0, std::floor(c.gpu.sms / (cluster.rows * cluster.columns)));
        along_m = c.grid.columns > c.grid.rows;
        walked = along_m ? c.geometry.a.unique : c.geometry.b.unique;
        lines = along_m ? columns : rows;
        together = std::clamp(in_flight / (along_m ? rows : columns), 1.0, lines);
    }
    bool along_m = false;
    Bytes walked;
    double lines = 1, together = 1;  // lines in all, and in flight
};

bool past_the_end(double size, std::int64_t tiles, std::int32_t tile, std::int32_t cluster) {
    return tiles > 1 && (tiles % cluster != 0 || std::fmod(size, tile) != 0);
}

}  // namespace

// CTAs, with those that fill a cluster up at the end of the rows or columns.
double clustered_ctas(const TiledLaunch& c) {
    const Cluster cluster = c.mapping.ctas_together();
    const double rows = whole(static_cast<double>(c.grid.rows), cluster.rows) * cluster.rows;
    const double columns = whole(static_cast<double>(c.grid.columns), cluster.columns) * cluster.columns;
    return rows * columns * static_cast<double>(c.grid.batch);
}

// A cluster whose tiles reach past the end of the matrix does not wait for memory as the others do. From then on CTAs
// of one line are at different places of k.
bool clusters_out_of_step(const TiledLaunch& c) {
    return past_the_end(c.geometry.m, c.grid.rows, c.mapping.cta.m, c.mapping.ctas_together().rows) ||
           past_the_end(c.geometry.n, c.grid.columns, c.mapping.cta.n, c.mapping.ctas_together().columns);
}

// Lines in flight find each other's reads in L2 while they are at the same place of k. Where multiplications set the
// pace they stay so; where CTAs wait for memory they drift apart, wave by wave, and then L2 has what it can hold.
Bytes read_again(const TiledLaunch& c, Seconds busy, Seconds l2) {
    const Walk walk(c);
    if (walk.lines <= 1 || walk.walked <= c.gpu.l2_capacity) return {};
    const double in_step = 1 / walk.together;
    const Bytes again = walk.walked * (walk.lines - 1) * (1 - c.gpu.l2_capacity / walk.walked);
    const Geometry& g = c.geometry;
    const Bytes moved = walk.walked * walk.lines * in_step + g.a.unique + g.b.unique - walk.walked +
                        g.output * g.output_element;  // in step
    const bool paced = busy >= kFilled * l2 && moved / (c.gpu.dram_bandwidth * c.gpu.gemm_dram) <= busy;
    double apart = 1;
    if (!clusters_out_of_step(c))
        apart = paced ? 0 : 1 - std::exp(-clustered_ctas(c) / (c.gpu.sms * c.gpu.calibration->drift_waves));
    return again * (in_step + (1 - in_step) * apart);
}

bool walks_along_m(const TiledLaunch& c) { return Walk(c).along_m; }

// Two kernels with a CTA of 256 threads for each row. The first finds the largest value: a thread has four elements of
// the row on their way and waits for them before it asks for the next, and a CTA joins its value with those of the
// others by an atomic on one address, one after the other, before it makes room for the next CTA. The second has 16
// elements of a thread on their way; it finds in L2 what the first one read, as far as that holds it beside the result.
Seconds one_scale_time(const TiledLaunch& c) {
    constexpr double kThreads = 256, kFirst = 4, kSecond = 16;
    const ModelInputs& h = c.gpu;
    const double rows = c.layer.rows_of_one_scale, k = c.geometry.k;
    const double in_flight = std::max(1.0, std::floor(h.limits.max_warps * 32 / kThreads)) * h.sms;
    const Seconds wait = whole(rows, in_flight) * h.dram_latency / h.clock;
    const Bytes input = rows * k * element_size(Precision::bf16);
    const Seconds first = std::max(input / h.dram_bandwidth, wait * whole(k, kThreads * kFirst));
    const Seconds joined = rows * h.calibration->joined_maximum;
    const double missing = std::clamp(2 * (c.layer.quantized / h.usable_l2()) - 1, 0.0, 1.0);
    const Bandwidth mixed = h.dram_bandwidth * streaming_costs().reach(h);
    return first + joined + std::max(c.layer.quantized * missing / mixed, wait * whole(k, kThreads * kSecond));
}

}  // namespace gambrel::delta_detail
