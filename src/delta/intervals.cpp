// data/model/intervals.json to a table for each architecture. The file is part of the build, so a fault in it is an
// internal error.
#include <algorithm>
#include <map>
#include <stdexcept>

#include <gambrel/delta.hpp>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel {
namespace {

using nlohmann::json;

TimeInterval interval(const json& row) { return {row.at("low").get<double>(), row.at("high").get<double>()}; }

struct Intervals {
    IntervalTable of_all;
    std::map<std::string, IntervalTable, std::less<>> by_architecture;  // by Architecture::id, if it has its own

    Intervals() {
        const auto files = embedded("model");
        const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "intervals"; });
        if (file == files.end()) throw std::logic_error("data/model/intervals.json is not in the build");
        const json all = json::parse(file->text).at("intervals");
        for (std::size_t i = 0; i < kRegimes; ++i)
            of_all[i] = interval(all.at(std::string(name(static_cast<Regime>(i)))));
        for (std::size_t i = 0; i < kRegimes; ++i) {
            const json& row = all.at(std::string(name(static_cast<Regime>(i))));
            if (const auto own = row.find("by_architecture"); own != row.end())
                for (const auto& [id, values] : own->items())
                    by_architecture.try_emplace(id, of_all).first->second[i] = interval(values);
        }
    }
};

}  // namespace

const IntervalTable& time_intervals(const Architecture& architecture) {
    static const Intervals known;
    const auto found = known.by_architecture.find(architecture.id);
    return found == known.by_architecture.end() ? known.of_all : found->second;
}

}  // namespace gambrel
