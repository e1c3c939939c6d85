// The file is part of the build, so a fault in it is an internal error.
#include "delta/streaming_costs.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::delta_detail {
namespace {

StreamingCosts read_streaming_costs() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "streaming"; });
    if (file == files.end()) throw std::logic_error("data/model/streaming.json is not in the build");
    const nlohmann::json all = nlohmann::json::parse(file->text);
    StreamingCosts c{};
    c.reach_plain = all.at("reach");
    c.check_bits = all.at("check_bits");
    c.kept = all.at("kept");
    for (std::size_t i = 0; i < 4; ++i)
        c.floor[i] = all.at("floor").at(std::string(name(static_cast<gambrel::Timing>(i))));
    c.l2_passes = all.at("l2_passes");
    c.layer_norm_reads = all.at("layer_norm_reads");
    c.softmax_reads = all.at("softmax_reads");
    c.softmax_warp_reads = all.at("softmax_warp_reads");
    c.norm_row = all.at("norm_row");
    c.norm_element = all.at("norm_element");
    c.scalar_iteration = all.at("scalar_iteration");
    c.vector_iteration = all.at("vector_iteration");
    c.index_element = all.at("index_element");
    c.atomic = all.at("atomic");
    c.ordered_atomic = all.at("ordered_atomic");
    c.blend = all.at("blend");
    c.series = all.at("series");
    return c;
}

}  // namespace

const StreamingCosts& streaming_costs() {
    static const StreamingCosts costs = read_streaming_costs();
    return costs;
}

}  // namespace gambrel::delta_detail
