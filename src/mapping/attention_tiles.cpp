// data/model/attention.json to tiles and policies of attention kernels. The file is part of the build, so a fault in it
// is an internal error.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/arithmetic.hpp"
#include "base/embedded.hpp"
#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

using json = nlohmann::ordered_json;  // an entry follows the one that it is like

struct HeadTile {
    std::int64_t up_to;  // the largest head dimension
    Tile tile;           // m rows of queries, n keys
};
struct AttentionKernels {
    std::vector<HeadTile> tiles, tiles_cache8, tiles_unmasked;  // unmasked: of keys that are not paged
    std::int32_t decode_rows = 64, threads = 128, registers = 255;
    bool packs_always = false, splits_prefill = false;
    // In decode of up to `recorded_batch` sequences, the most that engines record a graph for, a sequence has no more
    // than `recorded_parts` parts; where heads are wider than `wide_from`, and no schedule is made for the lengths, so
    // many. 0: no such limit.
    std::int32_t recorded_parts = 0;
    std::int64_t recorded_batch = 0, wide_from = 0;
};

std::vector<HeadTile> tiles_from(const json& rows) {
    std::vector<HeadTile> tiles;
    for (const json& row : rows) tiles.push_back({row.at(0), {row.at(1), row.at(2), 0}});
    return tiles;
}

std::map<std::string, AttentionKernels, std::less<>> read_kernels() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "attention"; });
    if (file == files.end()) throw std::logic_error("data/model/attention.json is not in the build");
    const json all = json::parse(file->text);
    std::map<std::string, AttentionKernels, std::less<>> out;
    for (const auto& [id, kernels] : all.at("kernels").items()) {
        AttentionKernels k;
        if (kernels.contains("like")) k = out.at(kernels.at("like").get<std::string>());
        k.tiles = tiles_from(kernels.at("tiles"));
        if (kernels.contains("tiles_cache8")) k.tiles_cache8 = tiles_from(kernels.at("tiles_cache8"));
        if (kernels.contains("tiles_unmasked")) k.tiles_unmasked = tiles_from(kernels.at("tiles_unmasked"));
        k.decode_rows = kernels.value("decode_rows", k.decode_rows);
        k.threads = kernels.value("threads", k.threads);
        k.registers = kernels.value("registers", k.registers);
        k.packs_always = kernels.value("packs_always", k.packs_always);
        k.splits_prefill = kernels.value("splits_prefill", k.splits_prefill);
        if (kernels.contains("recorded")) {
            const json& graph = kernels.at("recorded");
            k.recorded_parts = graph.at("parts"), k.recorded_batch = graph.at("batch");
            k.wide_from = graph.at("wide_from");
        }
        out.emplace(id, std::move(k));
    }
    for (const auto& [id, like] : all.at("uses").items()) out.emplace(id, out.at(like.get<std::string>()));
    return out;
}

const AttentionKernels& kernels_of(std::string_view architecture) {
    static const auto all = read_kernels();
    const auto found = all.find(architecture);
    return found != all.end() ? found->second : all.at("ampere");
}

// A tile of queries, one of keys and one of values. Where that is more than a CTA can have, kernels keep a part of it.
Bytes shared_memory(const Attention& a, const Tile& tile, Bytes element, const SmLimits& limits) {
    const double queries = real(tile.m) * real(a.head_dim), values = a.latent ? 0 : real(a.head_dim_v);
    return std::min(limits.shared_memory_per_cta, (queries + tile.n * (real(a.head_dim) + values)) * element);
}

// The number of parts that the keys are shared out in: the least whose waves are as full as 0.85 of the fullest.
std::int64_t parts(double ctas, std::int64_t tiles, double slots, std::int64_t allowed) {
    if (ctas >= 0.8 * slots) return 1;
    const std::int64_t most = std::min<std::int64_t>({allowed, tiles, static_cast<std::int64_t>(slots)});
    const auto useful = [&](std::int64_t s) { return s == 1 || ceil_div(tiles, s) != ceil_div(tiles, s - 1); };
    const auto filled = [&](std::int64_t s) {
        const double waves = ctas * static_cast<double>(s) / slots;
        return waves / std::ceil(waves);
    };
    double best = 0;
    for (std::int64_t s = 1; s <= most; ++s)
        if (useful(s)) best = std::max(best, filled(s));
    for (std::int64_t s = 1; s <= most; ++s)
        if (useful(s) && filled(s) >= 0.85 * best) return s;
    return 1;
}

}  // namespace

Mapping attention_mapping(const Layer& layer, const Machine& machine, const SmLimits& limits) {
    const auto& a = std::get<Attention>(layer.op);
    // Flash-attention 2 on GPUs that have later kernels of their own.
    const auto& matrix = limits.architecture->matrix;
    const bool groups = matrix && matrix->operands_from_shared_memory,
               second = groups && layer.hints.algorithm == "flash-attention 2";
    const AttentionKernels& kernels = kernels_of(second ? "ampere" : limits.architecture->id);
    const bool decode = a.q_len == 1,
               narrow_cache = element_size(a.kv_precision.value_or(layer.precision)) < element_size(layer.precision);
    const bool unmasked = !a.causal && a.window == 0 && !a.paged && layer.pass == Pass::fwd;
    const auto& tiles = narrow_cache && !kernels.tiles_cache8.empty() ? kernels.tiles_cache8
                        : unmasked && !kernels.tiles_unmasked.empty() ? kernels.tiles_unmasked
                                                                      : kernels.tiles;
    const auto fits = [&](const HeadTile& t) { return a.head_dim <= t.up_to; };
    const auto found = std::find_if(tiles.begin(), tiles.end(), fits);
    Mapping m;
    m.family = KernelFamily::attention;
    m.warp_products = second;
    m.pipe = fitting_pipe(layer, {}, machine);
    m.cta = found != tiles.end() ? found->tile : tiles.back().tile;
    m.cta.k = static_cast<std::int32_t>(std::min<std::int64_t>(a.head_dim, 1024));
    if (layer.hints.tile_m >= kSmallestTile && layer.hints.tile_n >= kSmallestTile) {  // as the kernel's name has it
        constexpr std::int64_t kLargest = 1024;
        m.source = Mapping::Source::row;
        m.cta.m = static_cast<std::int32_t>(std::min(kLargest, layer.hints.tile_m));
        m.cta.n = static_cast<std::int32_t>(std::min(kLargest, layer.hints.tile_n));
    } else if (decode) {
        m.cta.m = std::min(m.cta.m, kernels.decode_rows);
    }
    // The rows that one instruction multiplies: of a warp, or of a group of four (wgmma).
    m.warp = {std::min(m.cta.m, groups && !second ? 64 : 16), m.cta.n, m.cta.k};
    m.threads = kernels.threads;
    m.registers = kernels.registers;
    m.shared_memory = shared_memory(a, m.cta, element_size(layer.precision), limits);
    const std::int64_t group = a.heads / a.kv_heads;
    if (layer.pass == Pass::fwd && (kernels.packs_always || decode)) m.packed_heads = static_cast<std::int32_t>(group);
    const auto rows = static_cast<double>(ceil_div(a.q_len * m.packed_heads, m.cta.m));
    const double ctas = rows * static_cast<double>(a.batch * a.heads / m.packed_heads);
    const bool splits =
        decode ? kernels.packs_always || group > 1 : kernels.splits_prefill && a.paged && a.decode_batch == 0;
    const bool limited = decode && !a.latent && kernels.recorded_parts > 0,
               recorded = limited && a.batch <= kernels.recorded_batch;
    if (layer.pass == Pass::fwd && limited && a.head_dim > kernels.wide_from) {
        m.split_k = recorded ? kernels.recorded_parts : 1;
    } else if (layer.pass == Pass::fwd && splits) {
        const std::int64_t keys = ceil_div(a.keys_read(), m.cta.n);
        const double slots = limits.sms * (decode ? std::max(1, occupancy(limits, m).ctas_per_sm) : 1);
        m.split_k = static_cast<std::int32_t>(parts(ctas, keys, slots, recorded ? kernels.recorded_parts : 128));
    }
    return m;
}

}  // namespace gambrel::mapping_detail
