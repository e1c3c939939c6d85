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
    for (const Machine& m : model.machines) out["machines"].push_back(machine_numbers(m));
    for (const auto& l : model.layers)
        out["layers"].push_back({{"row", l.row},
                                 {"machine", l.machine},
                                 {"clock", l.clock ? Json(l.clock->value()) : Json(nullptr)},
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
