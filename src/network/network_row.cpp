#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "network/operator_rows.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

// Spellings of published tables.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kAliases = {
    {{"gpt3-27", "gpt3-2b7"}, {"opt-13", "opt-1b3"}}};

std::string model_name(std::string_view cell) {
    std::string name = lower(cell);
    std::replace(name.begin(), name.end(), '_', '-');
    for (const auto& [alias, known] : kAliases)
        if (name == alias) return std::string(known);
    return name;
}

}  // namespace

std::vector<Layer> network_layers(RowCells& cells, const Layer& common) {
    ModelOptions options;
    options.batch = cells.integer(Column::batch, 1);
    options.sequence = cells.integer(Column::seq, 0);
    options.fused = false;
    options.compiled = lower(cells.text(Column::mode)) == "fused";
    options.precision = common.precision;
    const std::string phase = lower(cells.text(Column::phase));
    if (phase.starts_with("train")) options.phase = Phase::train;
    // A published step of several GPUs is no time of one.
    const std::string notes = lower(cells.text(Column::notes));
    if (const auto digits = notes.find_first_not_of("0123456789");
        digits != 0 && digits != std::string::npos && notes.substr(digits).starts_with(" gpus"))
        cells.fault(fmt::format("notes: \"{}\": a step of several GPUs; rows are of one", notes));
    if (!cells.faults().empty()) return {};
    auto network = builtin_model(model_name(cells.text(Column::network)), options);
    if (!network) {
        for (const Error& error : network.error()) cells.fault(fmt::format("network {}: {}", error.where, error.what));
        return {};
    }
    std::vector<Layer> layers;
    for (const Layer& layer : network->layers) {
        // Published steps are of both passes, not of the optimizer.
        if (layer.name == "optimizer") continue;
        Layer one = layer;
        one.hints.gpu = common.hints.gpu;
        one.hints.sm_clock = common.hints.sm_clock;
        one.repeat = 1;
        layers.insert(layers.end(), static_cast<std::size_t>(layer.repeat), one);
    }
    return layers;
}

}  // namespace gambrel::network_detail
