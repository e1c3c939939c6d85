#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include <gambrel/version.hpp>

#include "base/output_file.hpp"
#include "chart/svg_writer.hpp"
#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

std::string amount(const CheckItem& i, double value) {
    if (i.what == "roof") return percent_text(value);
    return i.what == "time" ? to_text(Seconds{value}, 4) : to_text(Bytes{value}, 4);
}

std::string change_of(const CheckItem& i) {
    return i.baseline && *i.baseline > 0 ? fmt::format("{:+.1f} %", 100 * (i.found / *i.baseline - 1)) : "";
}

// "time 1.2 ms, at most 1.1 ms (baseline 1.05 ms, +14.3 %)"
std::string sentence(const CheckItem& i) {
    const bool roof = i.what == "roof";
    std::string text = fmt::format("{} {}, {} {}", roof ? "percent of roof" : i.what, amount(i, i.found),
                                   roof ? "at least" : "at most", amount(i, i.limit));
    if (const std::string change = change_of(i); !change.empty())
        text += fmt::format(" (baseline {}, {})", amount(i, *i.baseline), change);
    return text;
}

constexpr const char* kPartial = "the profile was cut short or damaged, and what is missing was not checked";

std::vector<const CheckItem*> failures_first(const CheckResult& result) {
    std::vector<const CheckItem*> out;
    for (const auto& i : result.items) out.push_back(&i);
    std::stable_partition(out.begin(), out.end(), [](const CheckItem* i) { return !i->passed; });
    return out;
}

std::string verdict(const CheckResult& r) {
    if (r.items.empty()) return "nothing was checked";
    const std::string partial = r.partial ? fmt::format("; INCOMPLETE: {}", kPartial) : "";
    if (r.passed()) return fmt::format("passed: {}{}", plural(r.items.size(), "check"), partial);
    return fmt::format("FAILED: {} of {}{}", count_text(r.failures()), plural(r.items.size(), "check"), partial);
}

std::string kernel_name(const CheckItem& i) {
    return short_name(i.name, 60) + (i.phase.empty() ? "" : " (" + i.phase + ")");
}

}  // namespace

std::string check_text(const CheckResult& result, const TextStyle& style) {
    std::string out;
    Table table({{"kernel", false, 100, 16},
                 {"check", false, 90},
                 {"baseline", true, 60},
                 {"found", true, 80},
                 {"change", true, 65},
                 {"limit", true, 70},
                 {"", false, 95}});
    std::size_t shown = 0;
    for (const auto* i : failures_first(result)) {
        if (shown++ >= style.max_rows) break;
        table.add({{printable(kernel_name(*i), !style.unicode), i->what, i->baseline ? amount(*i, *i->baseline) : "",
                    amount(*i, i->found), change_of(*i), amount(*i, i->limit), i->passed ? "ok" : "FAILED"},
                   i->passed ? "" : "bad",
                   {}});
    }
    if (!result.items.empty()) out += terminal_text(table, style);
    if (result.items.size() > style.max_rows)
        out += fmt::format("{} more checks; --top N shows them\n", result.items.size() - style.max_rows);
    for (const auto& note : result.notes)
        for (auto& line : wrapped(printable("note: " + note, !style.unicode), style.width, 2)) out += line + "\n";
    return out + painted(verdict(result), result.passed() ? "32" : "31", style.color) + "\n";
}

std::string check_markdown(const CheckResult& result, std::string_view title) {
    std::string out = fmt::format("### {}: {}\n\n", markdown_escaped(title), verdict(result));
    if (!result.items.empty())
        out += "| | kernel | check | baseline | found | change | limit |\n|---|---|---|---:|---:|---:|---:|\n";
    std::size_t passed = 0;
    for (const auto* i : failures_first(result)) {
        if (i->passed && ++passed > 20) break;  // a pull request shows what is wrong, not ten thousand lines
        out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", i->passed ? "✅" : "❌",
                           markdown_escaped(kernel_name(*i)), i->what, i->baseline ? amount(*i, *i->baseline) : "",
                           amount(*i, i->found), change_of(*i), amount(*i, i->limit));
    }
    if (!result.notes.empty()) out += "\n";
    for (const auto& note : result.notes) out += fmt::format("- {}\n", markdown_escaped(note));
    return fmt::format("{}\n{}\n", out, base_detail::kCommentMark);
}

std::string check_junit(const CheckResult& result, std::string_view title) {
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out += fmt::format(
        "<testsuites>\n  <testsuite name=\"gambrel check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"0\">\n",
        xml_escaped(title), result.items.size() + (result.partial ? 1 : 0), result.failures(), result.partial ? 1 : 0);
    if (result.partial)
        out += fmt::format(
            "    <testcase classname=\"profile\" name=\"complete\">\n      <error message=\"{}\"/>\n"
            "    </testcase>\n",
            kPartial);
    for (const auto& i : result.items) {
        const std::string head =
            fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_escaped(kernel_name(i)), xml_escaped(i.what));
        out += i.passed ? head + "/>\n"
                        : fmt::format("{}>\n      <failure message=\"{}\"/>\n    </testcase>\n", head,
                                      xml_escaped(sentence(i)));
    }
    if (!result.notes.empty()) {
        out += "    <system-out>";
        for (const auto& note : result.notes) out += xml_escaped(note) + "\n";
        out += "</system-out>\n";
    }
    return out + "  </testsuite>\n</testsuites>\n";
}

std::string check_json(const CheckResult& result, std::string_view title) {
    using Json = nlohmann::ordered_json;
    Json out{{"schema", "gambrel-check-1"}, {"version", kVersion},           {"title", title},
             {"passed", result.passed()},   {"failures", result.failures()}, {"partial", result.partial}};
    out["checks"] = Json::array();
    for (const auto& i : result.items)
        out["checks"].push_back({{"name", i.name},
                                 {"phase", i.phase},
                                 {"what", i.what},
                                 {"found", i.found},
                                 {"limit", i.limit},
                                 {"baseline", i.baseline ? Json(*i.baseline) : Json(nullptr)},
                                 {"passed", i.passed}});
    out["notes"] = result.notes;
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gambrel
