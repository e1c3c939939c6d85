#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "explore/evaluator.hpp"

namespace gambrel {
namespace {

struct Row {
    Layer layer;
    double time = 0;
};

std::string key_of(const Layer& layer) {
    if (const auto* v = std::get_if<Convolution>(&layer.op))
        return fmt::format("conv {}x{}x{}x{} {}x{}x{} pad {},{} stride {},{} dilation {},{} groups {}", v->n, v->c,
                           v->h, v->w, v->k, v->r, v->s, v->pad_top, v->pad_left, v->stride_h, v->stride_w,
                           v->dilation_h, v->dilation_w, v->groups);
    if (const auto* g = std::get_if<Gemm>(&layer.op))
        return fmt::format("gemm {}x{}x{} batch {}{}{}", g->m, g->n, g->k, g->batch, g->a_transposed ? " At" : "",
                           g->b_transposed ? " Bt" : "");
    return {};
}

// Seconds of the row; 0 if it has none.
double time_of(const LayerTable& table, const LayerRow& row) {
    constexpr std::array<std::pair<std::string_view, double>, 3> kColumns = {
        {{"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_s", 1}}};
    for (const auto& [column, unit] : kColumns) {
        const auto it = std::find(table.columns.begin(), table.columns.end(), column);
        const auto at = static_cast<std::size_t>(it - table.columns.begin());
        if (at >= row.cells.size()) continue;
        double value = 0;
        const std::string& text = row.cells[at];
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault == std::errc{} && value > 0) return value * unit;
    }
    return 0;
}

double predicted(const Layer& layer, const Machine& machine, const ModelInputs& h) {
    const Mapping mapping = mapping_for(layer, machine);
    return predict(layer, mapping, occupancy(machine, mapping), h).time.value();
}

using Rows = std::map<std::string, Row>;  // by what is computed

}  // namespace

Factors factors_between(const Machine& from, const ModelInputs& a, const Machine& to, const ModelInputs& b) {
    Factors f;
    const auto per_sm_second = [](const ModelInputs& h) { return h.clock.value() * h.sms; };
    for (const Resource r : all_resources()) f[r] = base_value(to, b, r) / base_value(from, a, r);
    // Rates of an SM are factors of what one SM does in a cycle, and L2's follows the clock by itself.
    f[Resource::shared_bandwidth] /= per_sm_second(b) / per_sm_second(a);
    f[Resource::l1_bandwidth] /= per_sm_second(b) / per_sm_second(a);
    f[Resource::l2_bandwidth] /= f[Resource::clock];
    f[Resource::schedulers] /= f[Resource::macs];
    f[Resource::l2_capacity] = b.usable_l2() / a.usable_l2();  // what the model uses: the halves of one may be copies
    return f;
}

Result<RatioProof> ratio_proof(const LayerTable& table, const std::string& from, double min_time) {
    std::map<std::string, Rows> by_gpu;
    for (const LayerRow& row : table.rows)
        if (row.layers.size() == 1 && !row.layers.front().hints.gpu.empty())
            if (const double time = time_of(table, row); time > 0) {
                const Machine* machine = find_in_catalogue(row.layers.front().hints.gpu);
                if (machine) by_gpu[machine->id].emplace(key_of(row.layers.front()), Row{row.layers.front(), time});
            }
    const Machine* first = find_in_catalogue(from);
    if (!first) return failure(from, "not in the catalogue");
    if (by_gpu[first->id].empty()) return failure(first->id, "no row of this GPU has a time");
    const ModelInputs a = *model_inputs(*first);
    RatioProof proof{first->name, {}, 0};
    for (const auto& [gpu, rows] : by_gpu) {
        if (gpu == first->id) continue;
        const Machine& second = *find_in_catalogue(gpu);
        const ModelInputs b = *model_inputs(second);
        const Factors f = factors_between(*first, a, second, b);
        const ModelInputs design = scaled(a, f);
        // The host's time for a framework's call is not a resource of the GPU, and whether two instructions issue
        // together depends on the schedulers: both are those of the second GPU.
        ModelInputs hosted = design;
        hosted.architecture = b.architecture;
        const Machine built = with_room(*first, f);
        for (const auto& [key, start] : by_gpu[first->id]) {
            const auto found = rows.find(key);
            if (found == rows.end()) continue;
            if (std::min(start.time, found->second.time) < min_time) {
                ++proof.short_rows;
                continue;
            }
            const double before = predicted(start.layer, *first, a);
            const Layer& other = found->second.layer;
            RatioRow row{second.name, key, key.substr(0, 4), start.time / found->second.time};
            row.factors_alone = before / predicted(other, built, design);
            row.predicted = before / predicted(other, built, hosted);
            row.by_rule = before / predicted(start.layer, built, hosted);
            row.as_itself = before / predicted(other, second, b);
            proof.rows.push_back(row);
        }
    }
    return proof;
}

}  // namespace gambrel
