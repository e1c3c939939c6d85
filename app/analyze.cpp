#include <algorithm>

#include <gambrel/ingest.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "app/mpi_world.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {
namespace {

// The layers in the order that they run; predict and explore merge those that are equal.
Result<Network> network_in_order(const LayerRequest& r) {
    const auto models = builtin_models();
    const bool builtin = std::any_of(models.begin(), models.end(), [&](const auto& m) { return m.name == r.network; });
    if (builtin || r.network.ends_with(".json")) {
        ModelOptions options;
        options.phase = r.phase.value_or(r.training ? Phase::train : Phase::prefill);
        if (r.batch > 0) options.batch = r.batch;
        if (r.tensor_parallel > 0) options.tensor_parallel = r.tensor_parallel;
        options.sequence = r.sequence, options.context = r.context, options.fused = r.fused;
        options.precision = r.precision, options.kv_precision = r.kv_precision;
        return builtin ? builtin_model(r.network, options) : load_model_config(r.network, options);
    }
    if (r.network.ends_with(".onnx")) {
        OnnxOptions options;
        if (r.batch > 0) options.batch = r.batch;
        options.precision = r.precision, options.shapes = r.shapes;
        return load_onnx(r.network, options);
    }
    BuiltinOptions options;
    if (r.batch > 0) options.batch = r.batch;
    if (r.sequence > 0) options.sequence = r.sequence;
    auto network = builtin_network(r.network, options);
    if (network && r.precision) return with_precision(std::move(*network), *r.precision);
    return network;
}

Result<std::vector<Layer>> layers_in_order(const NetworkFlags& flags) {
    const auto request = request_of(flags);
    if (!request) return tl::unexpected(request.error());
    std::vector<Layer> out;
    if (!request->table.empty()) {
        LayerTableOptions options;
        options.precision = request->precision;
        const auto table = load_layer_table(request->table, options);
        if (!table) return tl::unexpected(table.error());
        for (const LayerRow& row : table->rows) out.insert(out.end(), row.layers.begin(), row.layers.end());
        return out;
    }
    auto network = network_in_order(*request);
    if (!network) return tl::unexpected(network.error());
    return request->training && !network->model ? training(*network).layers : network->layers;
}

}  // namespace

Action setup_analyze(Parser& command) {
    auto flags = std::make_shared<AnalysisFlags>();
    auto files = std::make_shared<std::vector<std::string>>();
    command.add_option("FILE", *files).required();
    auto network = std::make_shared<NetworkFlags>();
    command.add_option("--network,--model-config", network->network);
    network->add_options_to(command);
    flags->add_to(command);
    return [flags, files, network] {
        if (!network->network.empty() || !network->layers.empty()) {
            auto layers = layers_in_order(*network);
            if (!layers) return bad_input(layers.error());
            flags->network = std::move(*layers);
        } else if (network->any()) {
            return bad_input(
                {{"analyze", "--batch, --phase and the like describe a network: give --network or --layers too"}});
        }
        MpiWorld world;
        TraceShare share{world.rank(), world.size(), {}, {}};
        share.send = [&](std::string_view text) { world.send(0, text); };
        share.receive = [&](int from) { return world.receive(from); };
        return run_analysis(*files, *flags, share);
    };
}

}  // namespace gambrel::app
