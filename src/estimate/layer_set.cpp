#include <filesystem>

#include <gambrel/estimate.hpp>

#include "base/file_bytes.hpp"

namespace gambrel {
namespace {

bool is_file(const std::string& path) {
    std::error_code ignored;
    return path.ends_with(".onnx") || std::filesystem::is_regular_file(path, ignored);
}

NetworkRecipe recipe_of(const LayerRequest& request) {
    NetworkRecipe recipe;
    recipe.name = request.network;
    recipe.batch = request.batch, recipe.sequence = request.sequence, recipe.context = request.context;
    recipe.tensor_parallel = request.tensor_parallel;
    recipe.precision = request.precision, recipe.kv_precision = request.kv_precision;
    recipe.layout = request.layout, recipe.pass = request.pass, recipe.phase = request.phase;
    recipe.training = request.training, recipe.fused = request.fused, recipe.in_order = request.in_order;
    return recipe;
}

// Of a config.json, a folder that holds one, or the name of a built-in model; true if it is one of them.
Result<bool> add_configuration(NetworkRecipe& recipe) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path path = recipe.name;
    if (const std::string_view builtin = builtin_configuration(recipe.name); !builtin.empty()) {
        recipe.configuration = builtin;
        return true;
    }
    if (fs::is_directory(path, ignored) && fs::is_regular_file(path / "config.json", ignored)) path /= "config.json";
    if (path.extension() != ".json") return false;
    const auto bytes = base_detail::FileBytes::open(path.string());
    if (!bytes) return tl::unexpected(bytes.error());
    recipe.configuration = bytes->view(), recipe.source = path.string();
    if (recipe.configuration.empty()) return failure(recipe.source, "is empty; expected a model's configuration");
    if (path.filename() == "config.json" && path.has_parent_path()) path = path.parent_path();
    recipe.name = path.stem().string();
    return true;
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

Result<Network> onnx_of(const LayerRequest& request) {
    OnnxOptions options;
    if (request.batch > 0) options.batch = request.batch;
    options.precision = request.precision;
    options.shapes = request.shapes;
    options.fused = request.fused;
    auto network = load_onnx(request.network, options);
    if (!network) return network;
    return as_run(std::move(*network), recipe_of(request));
}

Result<LayerSet> network_set(const LayerRequest& request) {
    NetworkRecipe recipe = recipe_of(request);
    const auto configured = add_configuration(recipe);
    if (!configured) return tl::unexpected(configured.error());
    if (!*configured)
        if (Errors wrong = model_flags(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
    const bool from_file = !*configured && is_file(request.network);
    if (!*configured && !from_file && !request.shapes.empty())
        return failure("--shape", "is for inputs of ONNX files; a built-in network takes --batch");
    auto network = from_file ? onnx_of(request) : network_by(recipe);
    if (!network) return tl::unexpected(network.error());
    LayerSet set;
    set.title = network->name;
    set.notes = network->notes;
    set.network = std::move(*network);
    if (!from_file) set.recipe = std::move(recipe);
    return set;
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
    return network_set(request);
}

}  // namespace gambrel
