#include <algorithm>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/numbers.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

struct Line {
    std::string what, value, origin, cite;
};

class Sheet {
public:
    explicit Sheet(const TextStyle& style) : style_(style) { style_.width = std::clamp(style.width, 40, 250); }

    template <class Q>
    void fact(const std::string& what, const Fact<Q>& fact, std::string_view unit = {}) {
        if (fact) add(what, value_text(fact->value, unit), fact->origin, fact->cite);
    }
    template <class Q>
    void ceiling(const std::string& what, const std::optional<Ceiling<Q>>& ceiling) {
        if (ceiling) add(what, to_text(ceiling->value, 4), ceiling->origin, ceiling->cite);
    }
    template <class Q>
    void at_clock(const std::string& what, const std::optional<AtClock<Q>>& m) {
        if (!m) return;
        const std::string at = m->clock ? "; at " + to_text(*m->clock, 4) : "";
        add(what, to_text(m->ceiling.value, 4), m->ceiling.origin, m->ceiling.cite + at);
    }
    void paragraph(std::string_view text, std::string_view color = {}) {
        for (auto& line : wrapped(printable(text, !style_.unicode), style_.width))
            out_ += painted(std::move(line), color, style_.color) + "\n";
    }
    // Writes the lines gathered so far under a heading; nothing if there are none.
    void section(std::string_view heading);
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    static std::string value_text(double value, std::string_view unit) { return exact(value) + std::string(unit); }
    static std::string value_text(Bytes value, std::string_view unit) { return binary_text(value) + std::string(unit); }
    template <class Q>
    static std::string value_text(Q value, std::string_view unit) {
        return to_text(value, 4) + std::string(unit);
    }

    void add(std::string what, std::string value, Origin origin, std::string_view cite) {
        lines_.push_back(
            {std::move(what), std::move(value), std::string(name(origin)), printable(cite, !style_.unicode)});
    }

    TextStyle style_;
    std::vector<Line> lines_;
    std::string out_;
};

void Sheet::section(std::string_view heading) {
    if (lines_.empty()) return;
    out_ += "\n" + painted(std::string(heading), "1", style_.color) + "\n";
    int what = 0, value = 0;
    for (const auto& l : lines_)
        what = std::max(what, display_width(l.what)), value = std::max(value, display_width(l.value));
    constexpr int kOrigin = 9, kLeastCite = 30;
    const int before = 2 + what + 2 + value + 2 + kOrigin + 2;
    // Beside the numbers if there is room for a readable column, else under them.
    const bool beside = style_.width - before >= kLeastCite;
    for (const auto& l : lines_) {
        std::string line =
            fmt::format("  {}  {}  {}", aligned(l.what, what, false), aligned(l.value, value, true), l.origin);
        const int room = beside ? style_.width - before : style_.width - 6;
        const auto cite = l.cite.empty() ? std::vector<std::string>{} : wrapped(l.cite, room);
        for (std::size_t i = 0; i < cite.size(); ++i) {
            if (!beside || i > 0) {
                out_ += truncated(line, style_.width, !style_.unicode) + "\n";
                line.clear();
            }
            line = aligned(line, beside ? before : 6, false) + painted(cite[i], "2", style_.color);
        }
        out_ += (cite.empty() ? truncated(line, style_.width, !style_.unicode) : line) + "\n";
    }
    lines_.clear();
}

void add_pipes(Sheet& sheet, const Machine& m) {
    for (const Pipe p : all_pipes()) {
        const Arithmetic& a = m.pipes[p];
        const std::string what(title(p));
        sheet.fact(what, a.dense);
        sheet.fact(what + ", sparse", a.sparse);
        sheet.at_clock(what + ", stated", a.stated);
        sheet.at_clock(what + ", stated sparse", a.stated_sparse);
        sheet.at_clock(what + ", measured", a.measured);
    }
    sheet.section("Arithmetic, per SM and cycle");
}

void add_levels(Sheet& sheet, const Machine& m) {
    for (const MemoryLevel& l : m.levels) {
        const std::string what(name(l.level));
        const std::string_view each = l.per_sm ? " per SM" : "";
        sheet.fact(what + " capacity", l.capacity, each);
        sheet.fact(what + " width", l.width, each);
        sheet.fact(what + " bandwidth", l.bandwidth);
        sheet.fact(what + " partitions", l.partitions);
        sheet.fact(what + " latency", l.latency);
        sheet.at_clock(what + ", measured", l.measured);
    }
    sheet.section("Memory levels");
}

void add_organisation(Sheet& sheet, const Machine& m) {
    sheet.fact("base", m.clocks.base);
    sheet.fact("boost", m.clocks.boost);
    sheet.fact("memory", m.clocks.memory);
    sheet.section("Clocks");
    sheet.fact("SMs", m.sm.sms);
    sheet.fact("schedulers", m.sm.schedulers, " per SM");
    sheet.fact("warps at most", m.sm.max_warps, " per SM");
    sheet.fact("CTAs at most", m.sm.max_ctas, " per SM");
    sheet.fact("registers", m.sm.registers, " per SM");
    sheet.fact("shared memory", m.sm.shared_memory, " per SM");
    sheet.fact("shared memory", m.sm.shared_memory_per_cta, " per CTA");
    sheet.fact("sector", m.sm.sector);
    sheet.fact("line", m.sm.line);
    sheet.section("Organisation");
}

void add_ceilings(Sheet& sheet, const Machine& m) {
    for (const Pipe p : all_pipes()) {
        if (const auto c = compute_ceiling(m, p); c && c->value.value() > 0) sheet.ceiling(std::string(title(p)), c);
        if (const auto c = compute_ceiling(m, p, {}, Roofs::theoretical, true); c && m.pipes[p].sparse)
            sheet.ceiling(std::string(title(p)) + ", sparse", c);
    }
    for (const Level l : all_levels()) sheet.ceiling(std::string(name(l)), memory_ceiling(m, l));
    sheet.section("Roofs at boost clock");
}

}  // namespace

std::string machine_sheet(const Machine& m, const TextStyle& style) {
    Sheet sheet(style);
    sheet.paragraph(m.id.empty() || m.id == m.name ? m.name : fmt::format("{} ({})", m.name, m.id), "1");
    std::string about = m.architecture;
    const auto add = [&](const std::string& text) { about += (about.empty() ? "" : ", ") + text; };
    if (!m.chip.empty()) add(m.chip);
    if (m.compute_capability) add("compute capability " + to_text(*m.compute_capability));
    if (!m.source.empty()) add("source: " + m.source);
    if (!about.empty()) sheet.paragraph(about);
    if (!m.note.empty()) sheet.paragraph(m.note);
    add_ceilings(sheet, m);
    add_organisation(sheet, m);
    add_pipes(sheet, m);
    add_levels(sheet, m);
    return sheet.take();
}

}  // namespace gambrel
