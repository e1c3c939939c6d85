// Networks made again without reading a file.
#include <algorithm>

#include <fmt/format.h>

#include "network/model_layers.hpp"

namespace gambrel {
namespace network_detail {

Result<Network> configured_network(std::string_view text, const std::string& source, const std::string& name,
                                   const ModelOptions& options) {
    Errors notes;
    const auto config = parse_model_config(text, source, notes);
    if (!config) return tl::unexpected(config.error());
    auto network = model_network(*config, options, name);
    if (!network) return network;
    network->note = fmt::format("{} by its configuration", config->family.empty() ? "a transformer" : config->family);
    network->notes.insert(network->notes.begin(), notes.begin(), notes.end());
    return network;
}

}  // namespace network_detail

namespace {

ModelOptions model_options(const NetworkRecipe& recipe) {
    ModelOptions options;
    options.phase = recipe.phase.value_or(recipe.training ? Phase::train : Phase::prefill);
    if (recipe.batch > 0) options.batch = recipe.batch;
    options.sequence = recipe.sequence;
    options.context = recipe.context;
    if (recipe.tensor_parallel > 0) options.tensor_parallel = recipe.tensor_parallel;
    options.fused = recipe.fused;
    options.precision = recipe.precision;
    options.kv_precision = recipe.kv_precision;
    return options;
}

Result<Network> read_network(const NetworkRecipe& recipe) {
    if (!recipe.configuration.empty())
        return network_detail::configured_network(recipe.configuration,
                                                  recipe.source.empty() ? recipe.name : recipe.source, recipe.name,
                                                  model_options(recipe));
    BuiltinOptions options;
    if (recipe.batch > 0) options.batch = recipe.batch;
    if (recipe.sequence > 0) options.sequence = recipe.sequence;
    auto network = builtin_network(recipe.name, options);
    if (network && recipe.precision) return with_precision(std::move(*network), *recipe.precision);
    return network;
}

// SGD with momentum, once for every parameter: weights, gradients and momentum in FP32, and a copy of the weights in
// the precision of the layers where that is narrower.
Layer momentum_step(const Network& network) {
    const auto narrow = [](const Layer& l) { return element_size(l.precision) < element_size(Precision::fp32); };
    const bool mixed = std::any_of(network.layers.begin(), network.layers.end(), narrow);
    Streaming s;
    s.kind = StreamingKind::optimizer;
    s.read = {network.parameters, network.parameters, network.parameters, 0};
    s.written = (mixed ? 2.5 : 2) * network.parameters;
    Layer layer;
    layer.name = "optimizer";
    layer.op = s;
    layer.precision = Precision::fp32;
    return layer;
}

// Convolutions on Tensor Cores read NHWC; tensors that are kept otherwise are turned over before and after each.
void keep_as_nchw(Network& network) {
    for (Layer& layer : network.layers)
        if (std::holds_alternative<Convolution>(layer.op)) layer.hints.other_layout = true;
}

}  // namespace

void take_fastest_algorithms(std::vector<Layer>& layers) {
    for (Layer& layer : layers) {
        const auto* v = std::get_if<Convolution>(&layer.op);
        if (v && v->groups == 1 && layer.hints.algorithm.empty()) layer.hints.algorithm = kFastestAlgorithm;
    }
}

Network as_run(Network network, const NetworkRecipe& recipe) {
    if (recipe.layout) network = with_layout(std::move(network), *recipe.layout);
    if (recipe.layout == Layout::nchw) keep_as_nchw(network);
    const bool trained = network.model && network.model->phase == Phase::train;
    const bool step = !network.model && recipe.phase == Phase::train;
    if (!trained && (recipe.training || step || (recipe.pass && *recipe.pass != Pass::fwd)))
        network = training(network);
    if (step && network.parameters > 0) network.layers.push_back(momentum_step(network));
    if (recipe.fastest_algorithm) take_fastest_algorithms(network.layers);
    if (recipe.pass) std::erase_if(network.layers, [&](const Layer& l) { return l.pass != *recipe.pass; });
    if (!recipe.in_order) network.layers = merged(network.layers);
    return network;
}

Result<Network> network_by(const NetworkRecipe& recipe) {
    auto network = read_network(recipe);
    if (!network) return network;
    return as_run(std::move(*network), recipe);
}

}  // namespace gambrel
