// Fused attention. A CTA holds a tile of queries and walks along the keys: its time goes with the tiles that it visits,
// masked ones not among them; the kernel's with the tiles of all CTAs over the SMs, and with the longest CTA. The keys
// of one head are read from DRAM once and by every other tile of queries from L2.
#include <algorithm>
#include <cmath>

#include "base/arithmetic.hpp"
#include "delta/attention_costs.hpp"
#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

constexpr double kExponentialsPerCycle = 16;  // of an SM, in all architectures since Volta
constexpr double kThreadsPerSm = 2048;
constexpr FlopPerCycle kOfWarps{2048};  // products of 16 bits by single warps (mma.sync) on an SM, from A100 on

// Flash-attention 2 was written for Ampere, and multiplies on later GPUs by the same instructions.
const AttentionCosts& costs_of(const Mapping& mapping, const ModelInputs& h) {
    return attention_costs(mapping.warp_products ? "ampere" : h.architecture->id);
}

// Tiles of keys that all CTAs of one head visit, and those of the CTA that visits the most.
struct Visits {
    double ctas = 0, tiles = 0, most = 0;
};

// FP8 backward kernels leave masks to the arithmetic: some visit all tiles, some skip those of a causal mask.
Attention visited_masks(const Attention& a, const PreparedLayer& layer, const ModelInputs& h) {
    Attention seen = a;
    if (layer.pass != Pass::fwd && element_size(layer.precision).value() <= 1) {
        seen.window = 0;
        if (costs_of(layer.mapping, h).skips_causal_fp8 == 0) seen.causal = false;
    }
    return seen;
}

Visits visits_of(const Attention& a, const Mapping& m) {
    Visits v;
    const std::int64_t heads = m.packed_heads, rows = a.q_len * heads, tiles = ceil_div(rows, m.cta.m);
    // A long prompt has thousands of tiles, whose numbers rise evenly: some of them stand for all.
    constexpr std::int64_t kCounted = 128;
    const std::int64_t step = std::max<std::int64_t>(1, tiles / kCounted);
    double counted = 0;
    for (std::int64_t i = step / 2; i < tiles; i += step, ++counted) {
        const std::int64_t first = i * m.cta.m / heads, end = std::min(a.q_len, ceil_div((i + 1) * m.cta.m, heads));
        const Attention::Range keys = a.keys_of(first, end - first);
        const double visited = real(ceil_div(keys.end, m.cta.n) - keys.begin / m.cta.n);
        v.tiles += visited;
        v.most = std::max(v.most, visited);
    }
    v.ctas = real(tiles);
    v.tiles *= v.ctas / std::max(1.0, counted);
    return v;
}

struct Kernel {
    const Attention& a;
    const PreparedLayer& layer;
    const Mapping& mapping;
    const ModelInputs& gpu;
    const AttentionCosts& costs;
    Visits visits;
    double heads;     // that have CTAs of their own, of all sequences
    double resident;  // CTAs of an SM
    bool backward, fp8, cache8;

    Kernel(const PreparedLayer& l, const ModelInputs& h)
        : a(std::get<Attention>(l.op)),
          layer(l),
          mapping(l.mapping),
          gpu(h),
          costs(costs_of(l.mapping, h)),
          visits(visits_of(visited_masks(a, l, h), l.mapping)),
          heads(real(a.batch) * real(a.heads) / l.mapping.packed_heads),
          resident(std::max(1, occupancy(h.limits, l.mapping).ctas_per_sm)),
          backward(l.pass != Pass::fwd),
          fp8(element_size(l.precision).value() <= 1),
          cache8(!fp8 && element_size(a.kv_precision.value_or(l.precision)).value() <= 1) {}

    // Keys arrive as the operands of a product do.
    [[nodiscard]] Bandwidth bandwidth() const { return gpu.dram_bandwidth * std::min(1.0, gpu.gemm_dram); }
    // Sequences that decode beside a prompt have a CTA for each of their heads, whose other rows are empty.
    [[nodiscard]] double beside() const { return real(a.decode_batch) * real(a.heads) / mapping.packed_heads; }
    [[nodiscard]] double tiles_beside() const { return real(ceil_div(a.decode_kv_len, mapping.cta.n)); }
    [[nodiscard]] double ctas() const { return (heads * visits.ctas + beside()) * mapping.split_k; }
    [[nodiscard]] double tiles() const { return heads * visits.tiles + beside() * tiles_beside(); }
    [[nodiscard]] double longest_cta() const { return std::max(visits.most, tiles_beside()); }
    // Of a tile at the peak rate.
    [[nodiscard]] double matrix_cycles() const {
        const double dk = real(a.head_dim), dv = real(a.head_dim_v), products = backward ? 3 * dk + 2 * dv : dk + dv;
        FlopPerCycle rate = std::max(FlopPerCycle{1}, gpu.flop_per_cycle[mapping.pipe]);
        if (mapping.warp_products) rate = std::min(rate, kOfWarps);
        return (Flops{2 * real(mapping.cta.m) * mapping.cta.n * products} / rate).value();
    }
    [[nodiscard]] double tile_cycles() const {
        const double scores = real(mapping.cta.m) * mapping.cta.n / kExponentialsPerCycle, peak = matrix_cycles();
        if (cache8) {
            const double wide = std::max(0.0, real(a.head_dim) / 128 - 1) * costs.wide_cache8;
            return peak * (costs.matrix_cache8 + wide) + scores * costs.softmax;
        }
        if (backward)
            return fp8 ? peak * costs.matrix_backward_fp8 + scores * costs.softmax_backward_fp8
                       : peak * costs.matrix_backward + scores * costs.softmax_backward;
        return fp8 ? peak * costs.matrix_fp8 + scores * costs.softmax_fp8
                   : peak * costs.matrix + scores * costs.softmax;
    }
    [[nodiscard]] Bytes queries_and_outputs() const {
        const double rows = (real(a.batch) * real(a.q_len) + real(a.decode_batch)) * real(a.heads);
        return rows * (real(a.head_dim) + real(a.head_dim_v)) * element_size(layer.precision);
    }
};

// Keys and values of the new positions go into the cache by a kernel before: one CTA a token, of as many threads as its
// heads have elements. Queries that meet an FP8 cache are quantized.
Seconds cache_time(const Kernel& k) {
    if (!k.a.paged || k.layer.timing == Timing::kernel) return {};
    const Attention& a = k.a;
    const double tokens = real(a.batch) * real(a.q_len) + real(a.decode_batch),
                 elements = real(a.kv_heads) * real(a.head_dim);
    const double resident = std::min(32.0, std::floor(kThreadsPerSm / std::clamp(elements, 32.0, 512.0)));
    const Cycles by_ctas{tokens * k.costs.cache_write / (k.gpu.sms * resident)};
    const double values = a.latent ? 0 : real(a.kv_heads) * real(a.head_dim_v);
    const Bytes cache = tokens * (elements + values) * element_size(a.kv_precision.value_or(k.layer.precision));
    const Bytes made = tokens * (elements + values) * element_size(k.layer.precision);
    Seconds time = std::max(by_ctas / k.gpu.clock, (cache + made) / k.gpu.dram_bandwidth * k.costs.cache_write_memory);
    if (k.cache8 && a.q_len > 1)
        time += 0.75 * k.queries_and_outputs() / k.gpu.dram_bandwidth * k.costs.cache_write_memory;
    return time;
}

Seconds prefill_time(const Kernel& k, const Traffic& traffic, TimeTerms& t) {
    const AttentionCosts& c = k.costs;
    const double tile = k.tile_cycles(), ctas = k.ctas() / k.mapping.split_k;
    // A CTA that is alone on its SM has nothing to hide its start behind.
    const double first = k.backward ? c.first_backward : c.first, longest = k.longest_cta() * tile / k.mapping.split_k;
    const double work = (ctas * first / k.resident + k.tiles() * tile) / k.gpu.sms;
    const double chain = first + longest * c.chain;
    const double busy = std::max(chain, work + (ctas > k.gpu.sms ? c.tail * (first + longest) : 0));
    t[Term::compute] = Cycles{k.tiles() * k.matrix_cycles() / k.gpu.sms} / k.gpu.clock;
    t[Term::issue] = Cycles{busy} / k.gpu.clock;
    t[Term::l2] = traffic.l2.total() / k.gpu.l2_bandwidth;
    t[Term::dram] = traffic.dram.total() / k.bandwidth() * std::max(1.0, c.memory);
    t.waves = ctas / (k.gpu.sms * k.resident);
    t.tail = work > 0 ? busy / work : 1;
    return std::max(t[Term::issue], t[Term::dram]) + (k.mapping.split_k > 1 ? Seconds{c.combine} : Seconds{});
}

// Outputs of the parts of a split, in FP32: written by one kernel and read by the next.
Bytes partial_sums(const Kernel& k) {
    if (k.mapping.split_k <= 1) return {};
    const double rows = (real(k.a.batch) * real(k.a.q_len) + real(k.a.decode_batch)) * real(k.a.heads);
    return rows * k.mapping.split_k * real(k.a.head_dim_v) * Bytes{8};
}

// Cycles in which a CTA finds the sequence that it works on: it adds up the lengths of all before it, 31 at a time (a
// warp's sum of 32 lanes, one of which is the next group's). CTAs that stay for many tiles (flash-attention 3, where
// the parts are fixed for a recorded graph) go on from the last one, so that they pass all sequences once.
struct Search {
    double of_cta = 0, of_kernel = 0;
};
Search search_cycles(const Kernel& k) {
    constexpr double kAtATime = 31;
    const double groups = (real(k.a.batch) - 1) / kAtATime;
    if (k.a.latent) return {};
    if (k.costs.wide_from > 0 && real(k.a.head_dim) > k.costs.wide_from) return {groups / 2 * k.costs.search_wide, 0};
    return {0, real(k.a.batch) <= k.costs.recorded_batch ? groups * k.costs.search : 0};
}

Seconds decode_time(const Kernel& k, const Traffic& traffic, TimeTerms& t) {
    const AttentionCosts& c = k.costs;
    const double parts = k.mapping.split_k, wide = real(k.a.head_dim) / 128;
    const double tile = k.matrix_cycles() * c.decode_matrix * (k.cache8 ? wide : 1) + c.decode_tile;
    // A CTA of heads wider than 256 starts with, and leaves, as many more registers and bytes.
    const double start = c.decode_first * (k.a.latent ? 1 : std::max(1.0, real(k.a.head_dim) / 256));
    const Search search = search_cycles(k);
    const double chain = start + search.of_cta + std::ceil(k.visits.most / parts) * tile;
    const double work = k.ctas() * chain * c.decode_overlap / k.gpu.sms;
    const double busy =
        std::max(chain, k.ctas() > k.gpu.sms * k.resident ? work + c.tail * chain : 0) + search.of_kernel;
    t[Term::compute] = Cycles{k.tiles() * k.matrix_cycles() / k.gpu.sms} / k.gpu.clock;
    t[Term::issue] = Cycles{busy} / k.gpu.clock;
    t[Term::l2] = traffic.l2.total() / k.gpu.l2_bandwidth;
    t[Term::dram] = traffic.dram.total() / k.bandwidth() * c.memory;
    t.waves = k.ctas() / (k.gpu.sms * k.resident);
    const double b = c.decode_blend;
    const Seconds joined{std::pow(std::pow(t[Term::issue].value(), b) + std::pow(t[Term::dram].value(), b), 1 / b)};
    Seconds time = std::max(joined, traffic.dram.total() / k.gpu.dram_bandwidth);
    if (parts > 1) {
        time += Seconds{c.combine + c.combine_part * parts} + partial_sums(k) / k.gpu.dram_bandwidth;
    }
    if (k.mapping.packed_heads > 1)
        time += Seconds{c.regroup} + k.queries_and_outputs() / k.gpu.dram_bandwidth * c.regroup_memory;
    return time;
}

// How often keys come from DRAM beside the first time. CTAs start by rows, then sequences, then heads.
double read_again(const Kernel& k, Bytes keys) {
    const double slots = k.gpu.sms * k.resident, sequences = real(k.a.batch + k.a.decode_batch);
    const auto missed = [&](Bytes in_use) { return std::clamp(1 - k.gpu.usable_l2() / in_use, 0.0, 1.0); };
    double again = 0;
    if (k.visits.ctas > 1) {  // the tiles of queries of one head, wave by wave
        const double together = std::min(k.heads, slots / k.visits.ctas + 1);
        const double waves = std::ceil(k.visits.ctas * k.heads / slots);
        again = missed(keys / std::max(1.0, sequences * real(k.a.kv_heads)) * together) * std::max(0.0, waves - 1);
    }
    // The query heads of a group, which run together if all sequences of several heads find room on the SMs.
    const double group = real(k.a.heads) / real(k.a.kv_heads) / k.mapping.packed_heads;
    const double of_head = std::max(1.0, k.ctas() * k.mapping.packed_heads / real(k.a.heads));
    const double passes = group / std::clamp(slots / of_head, 1.0, group);
    return std::max(again, missed(keys / real(k.a.kv_heads)) * (passes - 1));
}

// Kernels as the simulator has them (docs/simulator.md, "Attention"): O and dO are multiplied first; CTAs that hold
// keys visit tiles of Q and dO and add to dQ in FP32, which is cleared before and rounded afterwards; dK and dV of
// query heads that share keys are added up. What one kernel leaves for the next is written once, and read or changed as
// far as it is no longer in L2.
void backward_traffic(const Kernel& k, Traffic& traffic) {
    const Attention& a = k.a;
    const double dk = real(a.head_dim), dv = real(a.head_dim_v), rows = real(a.batch) * real(a.q_len) * real(a.heads);
    const Bytes size = element_size(k.layer.precision), sum = element_size(Precision::fp32);
    const Bytes keys_of_heads = real(a.batch) * real(a.kv_len) * real(a.heads) * (dk + dv) * size;
    const Bytes sums = rows * dk * sum, apart = a.heads > a.kv_heads ? keys_of_heads : Bytes{};
    const Bytes visits = k.tiles() * real(k.mapping.cta.m) * ((dk + dv) * size + (dk + 2) * sum);
    const Bytes before = rows * (2 * dv * size + sum) + sums, after = sums + rows * dk * size;
    const Bytes l2 = before + 2 * keys_of_heads + visits + after +
                     apart * (a.heads > a.kv_heads ? 1 + real(a.kv_heads) / real(a.heads) : 0);
    traffic.l2.b = std::max(l2, k.layer.l2.total()) - k.layer.l2.total();
    const double missed = std::clamp(1 - k.gpu.usable_l2() / (k.layer.dram.total() + sums + apart), 0.0, 1.0);
    traffic.dram.b = sums * (1 + 3 * missed) + apart * (1 + missed) + rows * dv * size * missed;
}

}  // namespace

Seconds attention_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic& traffic) {
    const Kernel k(layer, h);
    const Attention& a = k.a;
    // Every CTA reads its tiles of keys and values through L2; shared memory takes the place of L1.
    const double values = a.latent ? 0 : real(a.head_dim_v);
    const Bytes of_tile =
        real(k.mapping.cta.n) * (real(a.head_dim) + values) * element_size(a.kv_precision.value_or(layer.precision));
    const Bytes keys = std::max(layer.dram.a - 0.5 * k.queries_and_outputs(), Bytes{});
    if (k.backward) {
        backward_traffic(k, traffic);
    } else {
        traffic.l2.b = std::max(keys, k.tiles() * of_tile) - keys;
        traffic.dram.b = std::min(traffic.l2.b, keys * read_again(k, keys));
        traffic.l2.c += partial_sums(k);
    }
    traffic.l1 = traffic.l2;
    const bool decode = a.q_len == 1;
    const Seconds kernel = decode ? decode_time(k, traffic, t) : prefill_time(k, traffic, t);
    const double floor = k.backward ? k.costs.floor_backward : k.costs.floor;
    // A kernel's own time has nothing before it and nothing after it.
    const bool alone = layer.timing == Timing::kernel;
    t[Term::launch] = alone ? Seconds{} : Seconds{floor} + (layer.timing ? Seconds{} : h.launch);
    t.prologue = cache_time(k);
    return t[Term::launch] + kernel + t.prologue;
}

}  // namespace gambrel::delta_detail
