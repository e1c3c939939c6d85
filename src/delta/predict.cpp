#include <algorithm>

#include <gambrel/delta.hpp>

#include "delta/levels.hpp"
#include "delta/streaming_formula.hpp"

namespace gambrel {
namespace delta_detail {
namespace {

void all_groups(double groups, Traffic& t) {
    if (groups <= 1) return;
    for (OperandTraffic* level : {&t.shared, &t.l1, &t.l2, &t.dram}) *level *= groups;
    t.dram_uneven *= groups;
    t.filled *= groups;
    t.beside *= groups;
    t.completed *= groups;
}

double resident_ctas(const Grid& grid, const Occupancy& occupancy, const ModelInputs& gpu) {
    const double share = std::ceil(static_cast<double>(grid.ctas()) / gpu.sms);
    return std::clamp(share, 1.0, static_cast<double>(std::max(1, occupancy.ctas_per_sm)));
}

// Workspaces of the kernels beside the main one.
void add_transforms(const PreparedLayer& layer, Traffic& t) {
    const TransformTraffic& more = layer.geometry.transforms;
    if (more.l1.total() + more.l2.total() + more.dram.total() <= Bytes{}) return;  // most launches have none
    for (auto part : {&OperandTraffic::a, &OperandTraffic::b, &OperandTraffic::c}) {
        t.l1.*part += layer.groups * (more.l1.*part);
        t.l2.*part += layer.groups * (more.l2.*part);
        t.dram.*part += layer.groups * (more.dram.*part);
    }
}

// What is the same for both models.
Prediction started(const PreparedLayer& layer, const Occupancy& occupancy) {
    Prediction p;
    p.mapping = layer.mapping;
    p.occupancy = occupancy;
    p.grid = layer.grid;
    if (layer.groups > 1) p.grid.batch = static_cast<std::int64_t>(layer.groups);
    p.flop = layer.flop;
    return p;
}

void time_traffic(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs, TimedTraffic& p) {
    if (layer.mapping.family != KernelFamily::tiled) {
        time_untiled(layer, inputs, p);
    } else {
        const TiledLaunch c(layer, occupancy, inputs);
        p.traffic.shared = layer.shared;
        p.traffic.l1 = layer.l1;
        p.traffic.l2 = l2_traffic(c);
        dram_traffic(c, p.traffic);
        time_tiled(c, p);
        all_groups(layer.groups, p.traffic);
        const Bytes filters = layer.groups * filters_otherwise(c);
        for (OperandTraffic* level : {&p.traffic.l1, &p.traffic.l2, &p.traffic.dram}) level->b += filters;
    }
    add_transforms(layer, p.traffic);
    count_as_profiler(layer, inputs, p.time, p.traffic);
}

}  // namespace

TiledLaunch::TiledLaunch(const PreparedLayer& prepared, const Occupancy& fits, const ModelInputs& inputs)
    : layer(prepared),
      mapping(prepared.mapping),
      grid(prepared.grid),
      geometry(prepared.geometry),
      occupancy(fits),
      gpu(inputs),
      resident(resident_ctas(prepared.grid, fits, inputs)) {}

}  // namespace delta_detail

using namespace delta_detail;

// A table that names an algorithm and no kernel timed a library's call; one that counts kernels, a framework's.
std::optional<Timing> timing_of(const Hints& hints) {
    if (hints.timing) return hints.timing;
    const bool names_call = !hints.algorithm.empty() && !hints.algorithm_found && hints.algorithm != kFastestAlgorithm;
    if (hints.kernel.empty() && names_call) return Timing::call;
    return hints.kernels > 0 ? std::optional(Timing::framework) : std::nullopt;
}

PreparedLayer prepare(const Layer& layer, const Mapping& mapping) {
    PreparedLayer p;
    p.mapping = mapping;
    p.cold = layer.hints.cold;
    p.profiled = layer.hints.profiled;
    const bool tiled = mapping.family == KernelFamily::tiled;
    // The mapping has the transform of one group.
    p.flop = tiled && !mapping.groups_in_turn ? kernel_flop(layer, mapping.transform) : kernel_flop(layer);
    if (!tiled) {
        prepare_untiled(layer, p);
        if (layer.hints.overwrites) p.geometry.rewritten = p.l2.c;
        return p;
    }
    p.gemm = std::holds_alternative<Gemm>(layer.op);
    p.timing = timing_of(layer.hints);
    const auto of_one = [&](const Layer& one) {
        const GemmView view = *kernel_view(one, mapping.transform);
        p.grid = grid(view, mapping);
        p.geometry = geometry(one, view, mapping, p.grid);
    };
    if (mapping.groups_in_turn) {
        // Groups that are launched one after another are alike: everything is that of one of them.
        p.groups = static_cast<double>(std::get<Convolution>(layer.op).groups);
        of_one(one_group(layer));
    } else {
        of_one(layer);
    }
    // The kernel that adds up parts finds them in L2, unless a profiler has emptied the caches before it.
    if (layer.hints.adds_up_parts && p.cold && mapping.split_k > 1)
        p.geometry.read_once += p.geometry.output * Bytes{4.0 * mapping.split_k};
    if (layer.hints.quantizes_input != InputScales::none) {
        const double rows = p.geometry.m * p.geometry.batch;
        p.quantized = rows * p.geometry.k * (element_size(Precision::bf16) + p.geometry.element);
        if (layer.hints.quantizes_input == InputScales::tensor) p.rows_of_one_scale = rows;
    }
    p.shared = shared_traffic(p);
    p.l1 = l1_traffic(p);
    return p;
}

Prediction predict(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs) {
    Prediction p = started(layer, occupancy);
    time_traffic(layer, occupancy, inputs, p);
    if (layer.mapping.family != KernelFamily::tiled) {
        p.regime = regime_of_untiled(layer);
        p.exposed = untiled_exposed(p);
    } else {
        const TiledLaunch c(layer, occupancy, inputs);
        p.regime = regime_of(c, p.terms.waves);
        p.exposed = by_matrix_units(c) ? matrix_exposed(p) : exposed_time(c, p);
    }
    return p;
}

TimedTraffic timed_traffic(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs) {
    TimedTraffic p;
    time_traffic(layer, occupancy, inputs, p);
    return p;
}

Placement placed(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs) {
    Traffic traffic;
    if (layer.mapping.family != KernelFamily::tiled) {
        if (!streams(layer)) return {};
        start_untiled(layer, traffic);
        return {streaming_counts(layer, inputs, traffic), {}};
    }
    const TiledLaunch c(layer, occupancy, inputs);
    traffic.shared = layer.shared;
    traffic.l1 = layer.l1;
    traffic.l2 = l2_traffic(c);
    dram_traffic(c, traffic);
    if (by_matrix_units(c)) return {traffic, matrix_least_work(c, traffic)};
    const LaunchCounts counts = launch_counts(c, traffic);
    return {counts, least_work(counts, inputs)};
}

Seconds predicted_time(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs,
                       const Placement::Basis& basis) {
    if (const auto* counts = std::get_if<LaunchCounts>(&basis)) return time_of(*counts, inputs);
    TimeTerms terms;
    if (const auto* counts = std::get_if<StreamingCounts>(&basis)) return time_of_counts(*counts, inputs, terms);
    Traffic traffic;
    if (std::holds_alternative<std::monostate>(basis)) return untiled_time(layer, inputs, terms, traffic);
    traffic = std::get<Traffic>(basis);
    return matrix_time_of(TiledLaunch(layer, occupancy, inputs), traffic, terms);
}

Seconds predicted_time(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs) {
    return predicted_time(layer, occupancy, inputs, placed(layer, occupancy, inputs).basis);
}

Prediction predict(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const ModelInputs& inputs,
                   Model model) {
    const PreparedLayer prepared = prepare(layer, mapping);
    if (model == Model::gambrel || mapping.family != KernelFamily::tiled) return predict(prepared, occupancy, inputs);
    Prediction p = started(prepared, occupancy);
    p.model = model;
    const TiledLaunch c(prepared, occupancy, inputs);
    paper_traffic(c, layer, p.traffic);
    paper_time(c, p);
    p.regime = regime_of(c, p.terms.waves);
    all_groups(prepared.groups, p.traffic);
    return p;
}

Prediction predict(const Layer& layer, const Machine& machine, const ModelInputs& inputs, Model model, bool search) {
    const Mapping mapping = mapping_for(layer, machine, inputs.limits);
    Prediction best = predict(layer, mapping, occupancy(inputs.limits, mapping), inputs, model);
    if (!search || mapping.family != KernelFamily::tiled) return best;
    for (const Tile& tile : known_tiles(machine, mapping.pipe)) {
        Mapping other = with_tile(mapping, layer, machine, tile);
        const Occupancy fits = occupancy(inputs.limits, other);
        if (fits.ctas_per_sm == 0) continue;
        other.source = Mapping::Source::search;
        const Prediction p = predict(layer, other, fits, inputs, model);
        if (p.time < best.time) best = p;
    }
    return best;
}

}  // namespace gambrel
