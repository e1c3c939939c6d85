#include <filesystem>

#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

bool is_file(const std::string& path) {
    std::error_code ignored;
    return path.ends_with(".onnx") || std::filesystem::is_regular_file(path, ignored);
}

Result<Network> network_of(const LayerRequest& request) {
    if (!is_file(request.network)) {
        if (!request.shapes.empty())
            return failure("--shape", "is for inputs of ONNX files; a built-in network takes --batch");
        BuiltinOptions options;
        if (request.batch > 0) options.batch = request.batch;
        if (request.sequence > 0) options.sequence = request.sequence;
        auto network = builtin_network(request.network, options);
        if (network && request.precision) return with_precision(std::move(*network), *request.precision);
        return network;
    }
    OnnxOptions options;
    if (request.batch > 0) options.batch = request.batch;
    options.precision = request.precision;
    options.shapes = request.shapes;
    return load_onnx(request.network, options);
}

Result<LayerSet> table_of(const LayerRequest& request) {
    LayerTableOptions options;
    if (request.precision) options.precision = *request.precision;
    auto table = load_layer_table(request.table, options);
    if (!table) return tl::unexpected(table.error());
    LayerSet set;
    set.title = std::filesystem::path(request.table).filename().string();
    set.notes = table->notes;
    set.table = std::move(*table);
    return set;
}

}  // namespace

Result<LayerSet> load_layers(const LayerRequest& request) {
    if (request.network.empty() == request.table.empty())
        return failure("NETWORK",
                       "give a network (a built-in name or an .onnx file) or --layers F.csv, one of the two");
    if (!request.table.empty()) return table_of(request);
    auto network = network_of(request);
    if (!network) return tl::unexpected(network.error());
    if (request.layout) *network = with_layout(std::move(*network), *request.layout);
    if (request.training || (request.pass && *request.pass != Pass::fwd)) *network = training(*network);
    if (request.pass) std::erase_if(network->layers, [&](const Layer& l) { return l.pass != *request.pass; });
    network->layers = merged(network->layers);
    LayerSet set;
    set.title = network->name;
    set.notes = network->notes;
    set.network = std::move(*network);
    return set;
}

}  // namespace gambrel
