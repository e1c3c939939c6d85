// data/model/batched.json to the tile of batched products. The file is part of the build, so a fault in it is an
// internal error.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"
#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

std::map<std::string, Tile, std::less<>> read_batched_tiles() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "batched"; });
    if (file == files.end()) throw std::logic_error("data/model/batched.json is not in the build");
    const nlohmann::json all = nlohmann::json::parse(file->text);
    std::map<std::string, Tile, std::less<>> out;
    constexpr std::int32_t kStep = 8;
    for (const auto& [id, sides] : all.at("tiles").items()) out.emplace(id, Tile{sides.at(0), sides.at(1), kStep});
    return out;
}

}  // namespace

std::optional<Tile> batched_tile(const Layer& layer, const Architecture& architecture) {
    static const auto all = read_batched_tiles();
    const auto* gemm = std::get_if<Gemm>(&layer.op);
    const auto found = all.find(architecture.id);
    if (!gemm || gemm->batch <= 1 || found == all.end()) return std::nullopt;
    return found->second;
}

}  // namespace gambrel::mapping_detail
