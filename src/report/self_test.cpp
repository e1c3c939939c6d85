// The outcome of `gambrel measure --self-test`: a table, and the file that a user can attach to a report.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include <gambrel/version.hpp>

#include "chart/text.hpp"

namespace gambrel {

using namespace chart_detail;

namespace {

std::string_view word_of(KernelOutcome outcome) {
    switch (outcome) {
        case KernelOutcome::proved:
            return "proved";
        case KernelOutcome::failed:
            return "FAILED";
        case KernelOutcome::unsupported:
            return "not supported";
    }
    return "";
}

// How evenly the groups finished, and on how many SMs they ran.
std::string groups_text(const KernelCheck& k) {
    if (k.groups.empty()) return "";
    std::vector<std::uint64_t> cycles, units;
    for (const GroupTime& g : k.groups) cycles.push_back(g.cycles), units.push_back(g.unit);
    const auto [least, most] = std::minmax_element(cycles.begin(), cycles.end());
    std::sort(units.begin(), units.end());
    const auto distinct = std::unique(units.begin(), units.end()) - units.begin();
    return fmt::format("{} to {} cycles, {} groups on {} SMs", *least, *most, k.groups.size(), distinct);
}

}  // namespace

std::string self_test_text(const SelfTest& test, const TextStyle& wanted) {
    TextStyle style = wanted;
    style.width = std::clamp(style.width, 40, 250);
    const bool ascii = !style.unicode;
    Table table({{"kernel", false, 100, 16},
                 {"result", false, 95},
                 {"time", true, 60},
                 {"clock", true, 50},
                 {"groups", false, 40},
                 {"code", false, 30}});
    for (const KernelCheck& k : test.kernels) {
        std::vector<std::string> below;
        if (k.outcome == KernelOutcome::failed)
            for (auto& line : wrapped(printable(k.detail, ascii), style.width - 4))
                below.push_back("    " + std::move(line));
        table.add(
            {{printable(k.title, ascii), std::string(word_of(k.outcome)), k.time.value() > 0 ? to_text(k.time, 3) : "",
              k.clock ? fmt::format("{:.0f} MHz", k.clock->value() / 1e6) : "", groups_text(k),
              k.code != 0 ? fmt::format("{:016x}", k.code) : ""},
             k.outcome == KernelOutcome::failed ? "bad" : "",
             std::move(below)});
    }
    const auto count = [&](KernelOutcome outcome) {
        return std::count_if(test.kernels.begin(), test.kernels.end(),
                             [&](const KernelCheck& k) { return k.outcome == outcome; });
    };
    std::string text =
        printable(test.device.name + ", " + test.device.detail, ascii) + "\n\n" + terminal_text(table, style) + "\n";
    text += fmt::format("{} kernels proved, {} failed, {} not supported by this device{}.\n",
                        count(KernelOutcome::proved), count(KernelOutcome::failed), count(KernelOutcome::unsupported),
                        test.interrupted ? "; interrupted before the end" : "");
    return text;
}

std::string self_test_json(const SelfTest& test) {
    using Json = nlohmann::ordered_json;
    Json kernels = Json::array();
    for (const KernelCheck& k : test.kernels) {
        Json j{{"title", k.title}, {"outcome", word_of(k.outcome)}, {"detail", k.detail}};
        if (k.time.value() > 0) j["time_s"] = k.time.value();
        if (k.clock) j["clock_hz"] = k.clock->value();
        if (k.code != 0) j["code"] = fmt::format("{:016x}", k.code);
        for (const GroupTime& g : k.groups) j["groups"].push_back({g.cycles, g.nanoseconds, g.unit});
        kernels.push_back(std::move(j));
    }
    const Json out{{"schema", "gambrel-self-test-1"},
                   {"gambrel", std::string(kVersion)},
                   {"date", test.date},
                   {"device",
                    {{"kind", name(test.device.kind)},
                     {"name", test.device.name},
                     {"detail", test.device.detail},
                     {"units", test.device.units}}},
                   {"partial", test.interrupted},
                   {"kernels", std::move(kernels)}};
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gambrel
