// The file is part of the build, so a fault in it is an internal error.
#include "delta/expert_costs.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::delta_detail {
namespace {

using Kinds = std::map<std::string, ExpertCosts, std::less<>>;

std::map<std::string, Kinds, std::less<>> read_expert_costs() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "experts"; });
    if (file == files.end()) throw std::logic_error("data/model/experts.json is not in the build");
    const nlohmann::json all = nlohmann::json::parse(file->text);
    std::map<std::string, Kinds, std::less<>> out;
    for (const auto& [id, kinds] : all.at("kernels").items())
        for (const auto& [kind, c] : kinds.items())
            out[id].emplace(kind, ExpertCosts{c.at("reach"), c.at("narrow"), c.at("memory"), c.at("blend"),
                                              c.at("floor"), c.at("gather"), c.at("scatter"), c.at("rate")});
    for (const auto& [id, like] : all.at("uses").items()) out.emplace(id, out.at(like.get<std::string>()));
    return out;
}

}  // namespace

const ExpertCosts& expert_costs(const Architecture& architecture, std::string_view kind) {
    static const auto all = read_expert_costs();
    const auto found = all.find(architecture.id);
    const Kinds& kinds = found != all.end() ? found->second : all.at("ampere");
    const auto of_kind = kinds.find(kind);
    return of_kind != kinds.end() ? of_kind->second : kinds.at("bf16");
}

}  // namespace gambrel::delta_detail
