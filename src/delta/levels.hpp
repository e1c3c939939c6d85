// One function for each memory level, and the time. Each takes what the level before it gave and names its mechanism.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gambrel/placement.hpp>

#include "delta/geometry.hpp"
#include "delta/lanes.hpp"

namespace gambrel::delta_detail {

// One launch of a tiled kernel on a GPU, as the levels see it.
struct TiledLaunch {
    TiledLaunch(const PreparedLayer& prepared, const Occupancy& fits, const ModelInputs& inputs);
    const PreparedLayer& layer;
    const Mapping& mapping;
    const Grid& grid;
    const Geometry& geometry;
    const Occupancy& occupancy;
    const ModelInputs& gpu;
    double resident;  // CTAs that an SM really has at a time: what the launch gives it, up to what fits
};

// std::fmod of positive numbers, to the last bit. Those here are nearly always counts, which need no long division:
// below 2^40 the quotient of whole numbers cannot round up to the next one, and the difference is exact.
inline double remainder_of(double value, double size) {
    constexpr double kLargest = 0x1p40;
    if (value < kLargest && size < kLargest) {
        const auto v = static_cast<std::int64_t>(value), s = static_cast<std::int64_t>(size);
        if (static_cast<double>(v) == value && static_cast<double>(s) == size)
            return value - static_cast<double>(static_cast<std::int64_t>(value / size)) * size;
    }
    return std::fmod(value, size);
}

// One CTA from its start to its end, in cycles of its SM.
template <class Number>
struct BasicCtaWork {
    using Work = Quantity<0, 0, 0, 1, Number>;
    Work compute, issue, latency, shared;
    Cycles unfilled;    // between instructions, whatever else runs
    Work apart;         // before and after the loop over k, in which a CTA multiplies nothing
    Work scattered;     // in loads and stores whose threads meet different lines: the multipliers wait
    Cycles fetching;    // what a CTA alone waits for beyond `unfilled`; further ones are busy meanwhile
    Number places = 1;  // a CTA with fewer warps than the SM has schedulers keeps only one in so many of them busy
    // CTAs together on one SM.
    [[nodiscard]] Work of(double ctas) const {
        if (ctas <= 0) return {};
        const Work together = busy(ctas);
        if (fetching <= Cycles{}) return together + unfilled;
        return together + unfilled + larger(Cycles{}, fetching - larger(Cycles{}, together - busy(1)));
    }
    [[nodiscard]] Work busy(double ctas) const {
        const Work multiplied = compute * crowded(ctas) + scattered * ctas;
        return larger(larger(larger(multiplied, shared * ctas) + apart, issue * ctas), latency);
    }
    // As many CTAs, spread over all schedulers, would take as long as the busiest scheduler does. Two that come to an
    // SM one after the other stand on the same schedulers before the next place is taken.
    [[nodiscard]] Number crowded(double ctas) const {
        const auto crowds = places > 1;
        if (!any(crowds)) return ctas;
        const Number rounds = whole_below(ctas / (2 * places)), rest = whole_above(ctas - 2 * places * rounds);
        return select(crowds, places * (2 * rounds + smaller(rest, 2.0)), Number{ctas});
    }
};
using CtaWork = BasicCtaWork<double>;
CtaWork work_of(const TiledLaunch& c);
inline double waves_behind_first(const LaunchCounts& n) {
    return std::max(0.0, n.full_waves + (n.gathered > 0 ? 1 : 0) - 1);
}
// Of tiles by Fourier transforms that are taken in turn the host launches those that come next while the kernels of a
// tile run, but nothing runs beside those that transform the filters.
inline constexpr double kLaunchesOfFilters = 4;
bool queues_tiles(const TiledLaunch& c);
// All counts of a launch with that traffic.
LaunchCounts launch_counts(const TiledLaunch& c, const Traffic& traffic);
// What the kernels of convolutions do that a GEMM does not: engines load element by element and wait at every step,
// Winograd's algorithm transforms its tiles, and there may be kernels beside the main one, before or after it.
void count_scattered(const TiledLaunch& c, double steps, LaunchCounts& n);
void count_engine(const TiledLaunch& c, double steps, LaunchCounts& n);
void count_transform(const TiledLaunch& c, double steps, LaunchCounts& n);
void count_beside(const TiledLaunch& c, LaunchCounts& n);
// Products of spectra: what passes through shared memory for an element of k and one of the real products that a
// complex one takes, the share of a tile that there is, and what differs for tiles of images.
inline bool is_fourier(const Mapping& m) {
    return m.transform == Transform::fft || m.transform == Transform::fft_tiled;
}
double complex_fragments(const Mapping& m);
double outputs_that_exist(const TiledLaunch& c);
void count_complex(const TiledLaunch& c, double steps, LaunchCounts& n);
// Of a tile's columns, the share that is put in order and stored where there are fewer filters than the four
// columns of a fragment.
double stored_columns(const TiledLaunch& c);
// What kernels beside the main one move of the filters, beyond what the number of their passes says; may be negative.
Bytes filters_otherwise(const TiledLaunch& c);
Seconds transform_time(const TiledLaunch& c);        // of the kernels beside the main one
Seconds beside_matrix_kernel(const TiledLaunch& c);  // the same where that one is timed by matrix_time_of
// What of the DRAM bandwidth is left to data where check bits that lie in the same memory are read beside them.
template <class Inputs>
double data_share(const Inputs& gpu) {
    return std::max(0.1, 1 - gpu.calibration->ecc_refetch * gpu.check_bits);
}
template <class Inputs>
auto data_bandwidth(const Inputs& gpu) {
    return data_share(gpu) * gpu.dram_bandwidth;
}
// CTAs in waves. The first is dealt evenly; where waves end together, the SM that is first takes as many of the rest as
// fit, so a last wave costs more than an even share of it.
struct Waves {
    double per_sm;    // CTAs that fit on an SM
    double full;      // whole waves
    double gathered;  // CTAs of the busiest SM in the last wave
};
Waves waves_of(const TiledLaunch& c);
bool copied_past_registers(const TiledLaunch& c);
// Tiles are copied to shared memory past the registers and queue while others are multiplied.
bool queues_copies(const TiledLaunch& c);
// Beside the kernels, where a table times whole calls.
Seconds call_overhead(const TiledLaunch& c);
// Products by CTAs of two warps: neither multiplications nor memory hides all of the other.
bool hides_in_part(const TiledLaunch& c);
// The measured time has no gap between kernels in it.
bool kernels_alone(const PreparedLayer& layer);

OperandTraffic shared_traffic(const PreparedLayer& layer);
OperandTraffic l1_traffic(const PreparedLayer& layer);
OperandTraffic l2_traffic(const TiledLaunch& c);
void dram_traffic(const TiledLaunch& c, Traffic& traffic);
// Bytes that DRAM could have moved in the time in which it opens rows for an operand of whose rows a step asks for
// short pieces.
Bytes bytes_of_openings(const TiledLaunch& c, const OperandAccess& o, Bytes read);
// Share of the DRAM bandwidth at which pieces arrive for which DRAM opens another of its rows in so many cases of one.
double reach_of_pieces(const ModelInputs& gpu, Bytes piece, double opened);
// What of the output is still in L2 when a kernel ends that a profiler ran with empty caches: DRAM needs no time for
// it. Other kernels do not gain this time: each writes back what the one before it left.
Bytes left_by_profiled(const PreparedLayer& layer, const ModelInputs& gpu, const Traffic& t);
// What a profiler's counters of this kernel see that the levels do not, and the other way round.
void count_as_profiler(const PreparedLayer& layer, const ModelInputs& gpu, Seconds time, Traffic& traffic);
// The time, and the terms of one group that it is made of; takes from `traffic` what an uneven wave has no time to
// read.
Seconds time_of(const TiledLaunch& c, Traffic& traffic, TimeTerms& terms);
Seconds time_of(const LaunchCounts& n, const ModelInputs& h);  // the time alone
// The same for products on Tensor Cores of architectures whose libraries' times are known (Architecture::matrix_gemm).
// Busy time is named after what fills nine tenths of it; latency only where nothing does.
inline constexpr double kFilled = 0.9;
// What the time of such a product waits for; see overlapped() for how its terms share it.
PerTerm matrix_exposed(const TimedTraffic& p);
bool by_matrix_units(const TiledLaunch& c);
Seconds matrix_time_of(const TiledLaunch& c, Traffic& traffic, TimeTerms& terms);
// Waves of such a product: between the CTAs of an SM and the next whole number.
double matrix_waves(const TiledLaunch& c);
// In which the board's power feeds what is multiplied and what L2 sends. 0: it is not known to be limited.
Seconds matrix_fed_time(const TiledLaunch& c);
double k_of_part(const TiledLaunch& c);  // of the reduction, of one part of a split
// FLOP of one SM in a cycle, in the precision of the layer.
FlopPerCycle matrix_rate(const TiledLaunch& c);
// Products by kernels whose clusters are known: scaled_time.cpp.
double clustered_ctas(const TiledLaunch& c);
bool clusters_out_of_step(const TiledLaunch& c);
bool walks_along_m(const TiledLaunch& c);
Bytes read_again(const TiledLaunch& c, Seconds busy, Seconds l2);  // from DRAM, beside once
Seconds one_scale_time(const TiledLaunch& c);                      // of the kernels that quantize the input
// What an uneven last wave reads again is bounded by what DRAM has time for.
void bound_rereads(Seconds kernel, Bandwidth dram, Traffic& traffic);
// Bounds of these times from below.
LeastWork least_work(const LaunchCounts& n, const ModelInputs& h);
LeastWork matrix_least_work(const TiledLaunch& c, const Traffic& traffic);
// Fills terms, time and bound; takes the traffic.
void time_tiled(const TiledLaunch& c, TimedTraffic& p);
// What the time waits for, second by second: launch and call, then what nothing hides, then the longest term.
PerTerm exposed_time(const TiledLaunch& c, const TimedTraffic& p);

Regime regime_of(const TiledLaunch& c, double waves);
// The longest of some terms; the first of equals.
inline Term longest(const TimeTerms& terms, std::initializer_list<Term> of) {
    Term found = *of.begin();
    for (const Term t : of)
        if (terms[t] > terms[found]) found = t;
    return found;
}

// The same two functions with the paper's equations.
void paper_traffic(const TiledLaunch& c, const Layer& layer, Traffic& traffic);
void paper_time(const TiledLaunch& c, Prediction& p);

// Layers without tiles of a GEMM: one function for each family in a file of its own. Each fills the traffic at every
// level and the terms, and gives the time.
void prepare_untiled(const Layer& layer, PreparedLayer& prepared);
Seconds untiled_time(const PreparedLayer& layer, const ModelInputs& gpu, TimeTerms& terms, Traffic& traffic);
bool streams(const PreparedLayer& layer);                          // its time is streaming_time's
void start_untiled(const PreparedLayer& layer, Traffic& traffic);  // before caches
// Fills traffic, terms, time and bound.
void time_untiled(const PreparedLayer& layer, const ModelInputs& gpu, TimedTraffic& p);
PerTerm untiled_exposed(const TimedTraffic& p);
Regime regime_of_untiled(const PreparedLayer& layer);

// With the traffic that the GPU's caches leave.
StreamingCounts streaming_counts(const PreparedLayer& layer, const ModelInputs& gpu, Traffic& traffic);
Seconds streaming_time(const PreparedLayer& layer, const ModelInputs& gpu, TimeTerms& terms, Traffic& traffic);
Seconds attention_time(const PreparedLayer& layer, const ModelInputs& gpu, TimeTerms& terms, Traffic& traffic);
Seconds experts_time(const PreparedLayer& layer, const ModelInputs& gpu, TimeTerms& terms, Traffic& traffic);
Seconds all_reduce_time(const PreparedLayer& layer, const ModelInputs& gpu, TimeTerms& terms, Traffic& traffic);

// Moved by the epilogue: of what it stores, how much it stores over what it or a CTA before it has read.
struct OutputTraffic {
    Bytes fresh, rewritten, read;
    [[nodiscard]] Bytes total() const { return fresh + rewritten + read; }
};
OutputTraffic output_traffic(const Geometry& geometry, const Mapping& mapping);

}  // namespace gambrel::delta_detail
