#include <algorithm>
#include <filesystem>

#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

bool is_file(const std::string& path) {
    std::error_code ignored;
    return path.ends_with(".onnx") || std::filesystem::is_regular_file(path, ignored);
}

// A config.json, a folder that holds one, or the name of a built-in model.
std::optional<Result<Network>> model_of(const LayerRequest& request) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    std::string path = request.network;
    if (fs::is_directory(path, ignored) && fs::is_regular_file(fs::path(path) / "config.json", ignored))
        path = (fs::path(path) / "config.json").string();
    const auto models = builtin_models();
    const bool builtin = std::any_of(models.begin(), models.end(), [&](const auto& m) { return m.name == path; });
    if (!path.ends_with(".json") && !builtin) return std::nullopt;
    ModelOptions options;
    options.phase = request.phase.value_or(request.training ? Phase::train : Phase::prefill);
    if (request.batch > 0) options.batch = request.batch;
    options.sequence = request.sequence;
    options.context = request.context;
    if (request.tensor_parallel > 0) options.tensor_parallel = request.tensor_parallel;
    options.fused = request.fused;
    options.precision = request.precision;
    options.kv_precision = request.kv_precision;
    return builtin ? builtin_model(path, options) : load_model_config(path, options);
}

Errors model_flags(const LayerRequest& request) {
    Errors wrong;
    const auto refuse = [&](bool given, const char* flag) {
        if (given) wrong.push_back({flag, "is for transformers that come from a configuration"});
    };
    refuse(request.phase.has_value() && *request.phase != Phase::train, "--phase");
    refuse(request.context > 0, "--context");
    refuse(request.tensor_parallel > 0, "--tensor-parallel");
    refuse(!request.fused && !is_file(request.network), "--fused");
    refuse(request.kv_precision.has_value(), "--kv-precision");
    return wrong;
}

Result<Network> network_of(const LayerRequest& request) {
    if (auto model = model_of(request)) return std::move(*model);
    if (Errors wrong = model_flags(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
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
    options.fused = request.fused;
    return load_onnx(request.network, options);
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

std::vector<Layer> LayerSet::layers() const {
    std::vector<Layer> all;
    if (network) all = network->layers;
    if (table)
        for (const LayerRow& row : table->rows) all.insert(all.end(), row.layers.begin(), row.layers.end());
    return all;
}

Result<LayerSet> load_layers(const LayerRequest& request) {
    if (request.network.empty() == request.table.empty())
        return failure("NETWORK",
                       "give a network (a built-in name or an .onnx file) or --layers F.csv, one of the two");
    if (!request.table.empty()) return table_of(request);
    auto network = network_of(request);
    if (!network) return tl::unexpected(network.error());
    if (request.layout) *network = with_layout(std::move(*network), *request.layout);
    if (request.layout == Layout::nchw) keep_as_nchw(*network);
    const bool trained = network->model && network->model->phase == Phase::train;
    const bool step = !network->model && request.phase == Phase::train;
    if (!trained && (request.training || step || (request.pass && *request.pass != Pass::fwd)))
        *network = training(*network);
    if (step && network->parameters > 0) network->layers.push_back(momentum_step(*network));
    if (request.pass) std::erase_if(network->layers, [&](const Layer& l) { return l.pass != *request.pass; });
    if (!request.in_order) network->layers = merged(network->layers);
    LayerSet set;
    set.title = network->name;
    set.notes = network->notes;
    set.network = std::move(*network);
    return set;
}

}  // namespace gambrel
