// What a page needs to compute: layers and machines as numbers.
#include <algorithm>
#include <cmath>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/json_values.hpp"
#include "report/page_json.hpp"

namespace gambrel {

using namespace chart_detail;
using namespace report_detail;

namespace {

// Whether another sequence would change anything: most built-in networks have none.
bool takes_sequence(const NetworkRecipe& recipe, const Network& network) {
    NetworkRecipe other = recipe;
    other.sequence = recipe.sequence == 64 ? 32 : 64;
    const auto changed = network_by(other);
    if (!changed || changed->layers.size() != network.layers.size()) return changed.has_value();
    for (std::size_t i = 0; i < network.layers.size(); ++i)
        if (!(network.layers[i].op == changed->layers[i].op)) return true;
    return false;
}

void add_recipe(const LayerSet& layers, PageModel& model) {
    if (!layers.recipe || !layers.network) return;
    const Network& network = *layers.network;
    if (network.layers.size() != model.layers.size() || model.machines.size() != 1) return;
    model.recipe = layers.recipe;
    model.batch = std::max<std::int64_t>(1, layers.recipe->batch);
    if (network.model) {
        model.batch = network.model->batch;
        // Decode adds one position at a time; its cache is what grows.
        if (network.model->phase == Phase::decode)
            model.context = network.model->context;
        else
            model.sequence = network.model->sequence;
    } else if (takes_sequence(*layers.recipe, network)) {
        model.sequence = layers.recipe->sequence > 0 ? layers.recipe->sequence : BuiltinOptions{}.sequence;
    }
}

}  // namespace

std::optional<PageModel> page_model(const Estimates& estimates) {
    const EstimatorOptions& options = estimates.options;
    if (options.method != Method::model || options.search || options.tile || estimates.partial) return std::nullopt;
    PageModel model;
    model.roofs = options.roofs;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            const Machine& on = e.on->machine;
            if (on.own_architecture) return std::nullopt;
            const auto same = [&](const Machine& m) { return m.name == on.name; };
            const auto at = std::find_if(model.machines.begin(), model.machines.end(), same);
            const auto index = static_cast<std::size_t>(at - model.machines.begin());
            if (at == model.machines.end()) model.machines.push_back(on);
            const auto clock = e.layer->hints.sm_clock ? e.layer->hints.sm_clock : options.clock;
            model.layers.push_back({*e.layer, model.layers.size(), index, clock});
        }
    if (model.layers.empty()) return std::nullopt;
    model.any_precision = estimates.layers->network.has_value();
    add_recipe(*estimates.layers, model);
    return model;
}

namespace report_detail {
namespace {

Json numbers_json(const std::vector<double>& numbers) {
    Json out = Json::array();
    for (const double n : numbers) out.push_back(std::isfinite(n) ? Json(n) : Json(nullptr));
    return out;
}

Json machine_numbers(const Machine& m) {
    return {{"id", printable(m.id)},
            {"name", printable(m.name.empty() ? m.id : m.name)},
            {"numbers", numbers_json(numbers_of(m))}};
}

}  // namespace

Json page_model_json(const PageModel& model) {
    Json out{{"roofs", roofs_name(model.roofs)},
             {"near_roof", near_roof()},
             {"machines", Json::array()},
             {"layers", Json::array()}};
    if (model.traced) out["traced"] = true;
    if (model.any_precision)
        for (const Precision p : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                  Precision::fp8, Precision::int8})
            out["precisions"].push_back({{"name", name(p)}, {"number", static_cast<int>(p)}});
    if (model.recipe)
        out["recipe"] = {{"configuration", model.recipe->configuration},
                         {"numbers", numbers_json(numbers_of(*model.recipe))},
                         {"batch", model.batch},
                         {"sequence", model.sequence},
                         {"context", model.context}};
    for (const Machine& m : model.machines) out["machines"].push_back(machine_numbers(m));
    for (const auto& l : model.layers)
        out["layers"].push_back({{"row", l.row},
                                 {"machine", l.machine},
                                 {"clock", l.clock ? Json(l.clock->value()) : Json(nullptr)},
                                 {"times", l.times},
                                 {"extra", l.extra.value()},
                                 {"numbers", numbers_json(numbers_of(l.layer))}});
    return out;
}

Json page_catalogue() {
    Json out = Json::array();
    for (const Machine& m : catalogue())
        if (missing_numbers(m).empty()) out.push_back(machine_numbers(m));
    return out;
}

}  // namespace report_detail
}  // namespace gambrel
