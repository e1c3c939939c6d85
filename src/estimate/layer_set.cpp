#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gambrel/estimate.hpp>

#include "base/file_bytes.hpp"

namespace gambrel {
namespace {

using base_detail::FileBytes;

// A file, or a pipe of the shell as in `gambrel predict <(curl ...)`.
bool is_file(const std::string& path) {
    std::error_code ignored;
    return path.ends_with(".onnx") ||
           (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored));
}

bool is_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

NetworkRecipe recipe_of(const LayerRequest& request) {
    NetworkRecipe recipe;
    recipe.name = request.network;
    recipe.batch = request.batch, recipe.sequence = request.sequence, recipe.context = request.context;
    recipe.tensor_parallel = request.tensor_parallel;
    recipe.precision = request.precision, recipe.kv_precision = request.kv_precision;
    recipe.layout = request.layout, recipe.pass = request.pass, recipe.phase = request.phase;
    recipe.training = request.training, recipe.fused = request.fused, recipe.in_order = request.in_order;
    recipe.fastest_algorithm = request.fastest_algorithm;
    return recipe;
}

// An ONNX file begins with the tag of a field, which is no character.
bool is_text(std::string_view bytes) {
    const std::string_view head = bytes.substr(0, 4096);
    return std::none_of(head.begin(), head.end(), [](char c) { return c >= 0 && c < '\t'; });
}

// The file that a network is read from, or the bytes of a built-in model's configuration.
struct NetworkSource {
    std::optional<FileBytes> file;
    std::string path;
    bool configured =
        false;  // a model's configuration; else an ONNX file, or a built-in network where there is no file
};

// What another command reads: by the first bytes of its formats, or the member of a trace that holds its events.
const char* profile_in(std::string_view bytes) {
    constexpr std::size_t kLooked = 1 << 16;
    if (bytes.starts_with("NVR")) return "a report of Nsight Compute";
    if (bytes.starts_with("SQLite format 3")) return "an export of Nsight Systems";
    if (is_json(bytes) && bytes.substr(0, kLooked).find("\"traceEvents\"") != bytes.npos) return "a trace";
    return nullptr;
}

Result<NetworkSource> source_of(NetworkRecipe& recipe) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    NetworkSource out;
    if (const std::string_view builtin = builtin_configuration(recipe.name); !builtin.empty()) {
        recipe.configuration = builtin;
        out.configured = true;
        return out;
    }
    fs::path path = recipe.name;
    if (fs::is_directory(path, ignored)) {
        path /= "config.json";
        if (!fs::is_regular_file(path, ignored))
            return failure(recipe.name, "is a folder without a config.json; expected a model's folder, or a file");
    }
    out.path = path.string();
    out.configured = path.extension() == ".json";
    if (!out.configured && !is_file(out.path)) return out;
    auto bytes = FileBytes::open(out.path);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->view().empty()) return failure(out.path, "is empty; expected an ONNX model or a model's configuration");
    if (const char* what = profile_in(bytes->view()))
        return failure(out.path,
                       fmt::format("is {}, which `gambrel analyze` reads; expected an ONNX model or a model's "
                                   "config.json",
                                   what));
    // A pipe has no name that could say what comes through it.
    out.configured = out.configured || is_json(bytes->view());
    if (out.configured) {
        recipe.configuration = bytes->view(), recipe.source = out.path;
        if (path.filename() == "config.json" && path.has_parent_path()) path = path.parent_path();
        recipe.name = path.stem().string();
    } else if (is_text(bytes->view())) {
        return failure(
            out.path,
            "is text, expected an ONNX model or a model's config.json; a table of layers is given by --layers");
    }
    out.file.emplace(std::move(*bytes));
    return out;
}

Errors not_built_in(const std::string& network) {
    std::vector<std::string> names;
    for (const BuiltinNetwork& each : builtin_networks()) names.emplace_back(each.name);
    if (std::find(names.begin(), names.end(), network) != names.end()) return {};
    const std::string networks = fmt::format("{}", fmt::join(names, ", "));
    for (const BuiltinNetwork& each : builtin_models()) names.emplace_back(each.name);
    return {{network, fmt::format("neither a file nor one of the built-in networks ({}) or of the {} built-in "
                                  "transformers, such as llama-3-8b{}",
                                  networks, builtin_models().size(), did_you_mean(network, names))}};
}

Errors model_flags(const LayerRequest& request) {
    Errors wrong;
    const auto refuse = [&](bool given, const char* flag) {
        if (given) wrong.push_back({flag, "is for transformers that come from a configuration"});
    };
    if (request.sequence > 0 && request.network != "bert-base")
        wrong.push_back({"--sequence", "is for bert-base and for transformers that come from a configuration"});
    refuse(request.phase.has_value() && *request.phase != Phase::train, "--phase");
    refuse(request.context > 0, "--context");
    refuse(request.tensor_parallel > 0, "--tensor-parallel");
    refuse(!request.fused && !is_file(request.network), "--fused");
    refuse(request.kv_precision.has_value(), "--kv-precision");
    return wrong;
}

Result<Network> onnx_of(const NetworkSource& source, const LayerRequest& request) {
    OnnxOptions options;
    if (request.batch > 0) options.batch = request.batch;
    options.precision = request.precision;
    options.shapes = request.shapes;
    options.fused = request.fused;
    auto network = read_onnx(source.file->view(), source.path, options);
    if (!network) return network;
    return as_run(std::move(*network), recipe_of(request));
}

Result<LayerSet> network_set(const LayerRequest& request) {
    NetworkRecipe recipe = recipe_of(request);
    const auto source = source_of(recipe);
    if (!source) return tl::unexpected(source.error());
    const bool from_file = !source->configured && source->file;
    if (!source->configured && !from_file)
        if (Errors wrong = not_built_in(request.network); !wrong.empty()) return tl::unexpected(std::move(wrong));
    if (!source->configured)
        if (Errors wrong = model_flags(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
    if (!source->configured && !from_file && !request.shapes.empty())
        return failure("--shape", "is for inputs of ONNX files; a built-in network takes --batch");
    auto network = from_file ? onnx_of(*source, request) : network_by(recipe);
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

Errors without_effect(const LayerRequest& request) {
    Errors wrong;
    if (request.table.empty()) return wrong;
    const auto refuse = [&](bool given, const char* flag, const char* column) {
        if (given) wrong.push_back({flag, fmt::format("is for a network; rows of a table have {}", column)});
    };
    refuse(request.batch > 0, "--batch", "a column N, or batch");
    refuse(request.sequence > 0, "--sequence", "a column q_len, or M");
    refuse(!request.shapes.empty(), "--shape", "columns with their sizes");
    refuse(request.layout.has_value(), "--layout", "a column layout");
    refuse(request.pass.has_value(), "--pass", "a column pass");
    refuse(request.training, "--training", "a column pass");
    refuse(request.phase.has_value(), "--phase", "a column phase");
    refuse(request.context > 0, "--context", "a column kv_len");
    refuse(request.tensor_parallel > 0, "--tensor-parallel", "the sizes of one GPU's part, or a column tp");
    refuse(!request.fused, "--fused", "a layer each");
    refuse(request.kv_precision.has_value(), "--kv-precision", "a column kv_precision");
    return wrong;
}

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
    if (Errors wrong = without_effect(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
    if (!request.table.empty()) return table_of(request);
    return network_set(request);
}

}  // namespace gambrel
