// Configurations of transformers: files, and those that are built in.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/embedded.hpp"
#include "base/file_bytes.hpp"
#include "base/json_text.hpp"
#include "network/model_layers.hpp"

namespace gambrel {

using namespace network_detail;

namespace {

struct BuiltinModels {
    std::vector<std::string> notes;
    std::vector<BuiltinNetwork> list;
    BuiltinModels() {
        const auto files = embedded("models");
        notes.reserve(files.size());
        for (const auto& file : files) {
            notes.push_back(nlohmann::json::parse(file.text).value("gambrel_note", ""));
            list.push_back({file.name, notes.back()});
        }
    }
};

const BuiltinModels& models() {
    static const BuiltinModels instance;
    return instance;
}

}  // namespace

Result<Network> read_model_config(std::string_view text, const std::string& source, const ModelOptions& options) {
    std::filesystem::path path(source);
    if (path.filename() == "config.json" && path.has_parent_path()) path = path.parent_path();
    return configured_network(text, source, path.stem().string(), options);
}

Result<Network> load_model_config(const std::string& path, const ModelOptions& options) {
    const auto bytes = base_detail::FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return read_model_config(bytes->view(), path, options);
}

std::span<const BuiltinNetwork> builtin_models() { return models().list; }

std::string_view builtin_configuration(std::string_view name) {
    for (const auto& file : embedded("models"))
        if (file.name == name) return file.text;
    return {};
}

Result<Network> builtin_model(std::string_view name, const ModelOptions& options) {
    for (const auto& file : embedded("models")) {
        if (file.name != name) continue;
        auto network = read_model_config(file.text, std::string(name), options);
        if (network) network->note = nlohmann::json::parse(file.text).value("gambrel_note", "");
        return network;
    }
    std::vector<std::string> names;
    for (const BuiltinNetwork& model : builtin_models()) names.emplace_back(model.name);
    return failure(std::string(name), fmt::format("not one of the built-in models ({}){}", fmt::join(names, ", "),
                                                  did_you_mean(name, names)));
}

}  // namespace gambrel
