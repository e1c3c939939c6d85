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
    // Compiled programs join element-wise kernels; attention and norms stay those of PyTorch.
    options.fused = false;
    options.precision = common.precision;
    const std::string phase = lower(cells.text(Column::phase));
    if (phase.starts_with("train")) options.phase = Phase::train;
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
