// The file is part of the build, so a fault in it is an internal error.
#include "delta/attention_costs.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::delta_detail {
namespace {

using json = nlohmann::ordered_json;  // an entry follows the one that it is like
using C = AttentionCosts;

struct Field {
    const char* name;
    double C::*member;
    double C::*otherwise = nullptr;  // that kernels without one of their own have; it stands above
};
constexpr Field kFields[] = {
    {"matrix", &C::matrix},
    {"softmax", &C::softmax},
    {"matrix_fp8", &C::matrix_fp8, &C::matrix},
    {"softmax_fp8", &C::softmax_fp8, &C::softmax},
    {"matrix_cache8", &C::matrix_cache8, &C::matrix},
    {"wide_cache8", &C::wide_cache8},
    {"matrix_backward", &C::matrix_backward},
    {"softmax_backward", &C::softmax_backward},
    {"matrix_backward_fp8", &C::matrix_backward_fp8, &C::matrix_backward},
    {"softmax_backward_fp8", &C::softmax_backward_fp8, &C::softmax_backward},
    {"skips_causal_fp8", &C::skips_causal_fp8},
    {"first", &C::first},
    {"first_backward", &C::first_backward},
    {"chain", &C::chain},
    {"tail", &C::tail},
    {"memory", &C::memory},
    {"floor", &C::floor},
    {"floor_backward", &C::floor_backward},
    {"cache_write", &C::cache_write},
    {"cache_write_memory", &C::cache_write_memory},
    {"decode_first", &C::decode_first},
    {"decode_tile", &C::decode_tile},
    {"decode_overlap", &C::decode_overlap},
    {"decode_blend", &C::decode_blend},
    {"decode_matrix", &C::decode_matrix},
    {"search", &C::search},
    {"search_wide", &C::search_wide},
    {"combine", &C::combine},
    {"combine_part", &C::combine_part},
    {"regroup", &C::regroup},
    {"regroup_memory", &C::regroup_memory},
};

std::map<std::string, AttentionCosts, std::less<>> read_costs() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "attention"; });
    if (file == files.end()) throw std::logic_error("data/model/attention.json is not in the build");
    const json all = json::parse(file->text);
    std::map<std::string, AttentionCosts, std::less<>> out;
    for (const auto& [id, kernels] : all.at("kernels").items()) {
        const bool alike = kernels.contains("like");
        AttentionCosts costs = alike ? out.at(kernels.at("like").get<std::string>()) : AttentionCosts{};
        for (const Field& field : kFields)
            if (kernels.contains(field.name))
                costs.*field.member = kernels.at(field.name).get<double>();
            else if (!alike && field.otherwise)
                costs.*field.member = costs.*field.otherwise;
            else if (!alike)
                throw std::logic_error("data/model/attention.json: " + id + " has no " + field.name);
        if (kernels.contains("recorded")) {
            costs.wide_from = kernels.at("recorded").at("wide_from").get<double>();
            costs.recorded_batch = kernels.at("recorded").at("batch").get<double>();
        }
        out.emplace(id, costs);
    }
    for (const auto& [id, like] : all.at("uses").items()) out.emplace(id, out.at(like.get<std::string>()));
    return out;
}

}  // namespace

const AttentionCosts& attention_costs(std::string_view architecture) {
    static const auto all = read_costs();
    const auto found = all.find(architecture);
    return found != all.end() ? found->second : all.at("ampere");
}

}  // namespace gambrel::delta_detail
