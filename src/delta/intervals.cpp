// data/model/intervals.json to a table. The file is part of the build, so a fault in it is an internal error.
#include <algorithm>
#include <stdexcept>

#include <gambrel/delta.hpp>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel {
namespace {

std::array<TimeInterval, kRegimes> read_intervals() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "intervals"; });
    if (file == files.end()) throw std::logic_error("data/model/intervals.json is not in the build");
    const nlohmann::json all = nlohmann::json::parse(file->text).at("intervals");
    std::array<TimeInterval, kRegimes> table;
    for (std::size_t i = 0; i < kRegimes; ++i) {
        const auto& row = all.at(std::string(name(static_cast<Regime>(i))));
        table[i] = {row.at("low").get<double>(), row.at("high").get<double>()};
    }
    return table;
}

}  // namespace

TimeInterval time_interval(Regime regime) {
    static const std::array<TimeInterval, kRegimes> table = read_intervals();
    return table[static_cast<std::size_t>(regime)];
}

}  // namespace gambrel
