#include <algorithm>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/machine_facts.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

class Sheet {
public:
    explicit Sheet(const TextStyle& style) : style_(style) { style_.width = std::clamp(style.width, 40, 250); }

    void paragraph(std::string_view text, std::string_view color = {}) {
        for (auto& line : wrapped(printable(text, !style_.unicode), style_.width))
            out_ += painted(std::move(line), color, style_.color) + "\n";
    }
    void section(const MachineSection& section);
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    TextStyle style_;
    std::string out_;
};

void Sheet::section(const MachineSection& section) {
    out_ += "\n" + painted(section.heading, "1", style_.color) + "\n";
    int what = 0, value = 0;
    for (const auto& l : section.lines)
        what = std::max(what, display_width(l.what)), value = std::max(value, display_width(l.value));
    constexpr int kOrigin = 9, kLeastCite = 30;
    const int before = 2 + what + 2 + value + 2 + kOrigin + 2;
    // Beside the numbers if there is room for a readable column, else under them.
    const bool beside = style_.width - before >= kLeastCite;
    for (const auto& l : section.lines) {
        std::string line =
            fmt::format("  {}  {}  {}", aligned(l.what, what, false), aligned(l.value, value, true), l.origin);
        const int room = beside ? style_.width - before : style_.width - 6;
        const auto cite =
            l.cite.empty() ? std::vector<std::string>{} : wrapped(printable(l.cite, !style_.unicode), room);
        for (std::size_t i = 0; i < cite.size(); ++i) {
            if (!beside || i > 0) {
                out_ += truncated(line, style_.width, !style_.unicode) + "\n";
                line.clear();
            }
            line = aligned(line, beside ? before : 6, false) + painted(cite[i], "2", style_.color);
        }
        out_ += (cite.empty() ? truncated(line, style_.width, !style_.unicode) : line) + "\n";
    }
}

}  // namespace

std::string machine_sheet(const Machine& m, const TextStyle& style) {
    Sheet sheet(style);
    sheet.paragraph(m.id.empty() || m.id == m.name ? m.name : fmt::format("{} ({})", m.name, m.id), "1");
    if (const std::string about = machine_about(m); !about.empty()) sheet.paragraph(about);
    if (!m.note.empty()) sheet.paragraph(m.note);
    if (!m.partial.empty()) sheet.paragraph("Partial measurement: " + m.partial + ".");
    for (const auto& section : machine_facts(m)) sheet.section(section);
    return sheet.take();
}

}  // namespace gambrel
