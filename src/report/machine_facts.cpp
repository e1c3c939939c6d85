#include "report/machine_facts.hpp"

#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

class Collector {
public:
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
    // What follows is a rate of this pipe: integer operations are not FLOP.
    void pipe(Pipe p) { integer_ = is_integer(p); }
    // Closes what was gathered so far under a heading; nothing if there is none.
    void section(std::string heading) {
        if (!lines_.empty()) sections_.push_back({std::move(heading), std::move(lines_)});
        lines_.clear();
        integer_ = false;
    }
    [[nodiscard]] std::vector<MachineSection> take() { return std::move(sections_); }

private:
    static std::string value_text(double value, std::string_view unit) { return exact(value) + std::string(unit); }
    static std::string value_text(Bytes value, std::string_view unit) { return binary_text(value) + std::string(unit); }
    template <class Q>
    static std::string value_text(Q value, std::string_view unit) {
        return to_text(value, 4) + std::string(unit);
    }
    void add(std::string what, std::string value, Origin origin, std::string cite) {
        if (const auto flop = value.find("FLOP"); integer_ && flop != std::string::npos) value.erase(flop, 2);
        lines_.push_back({std::move(what), std::move(value), std::string(name(origin)), std::move(cite)});
    }

    bool integer_ = false;
    std::vector<MachineLine> lines_;
    std::vector<MachineSection> sections_;
};

void add_pipes(Collector& sheet, const Machine& m) {
    for (const Pipe p : all_pipes()) {
        const Arithmetic& a = m.pipes[p];
        sheet.pipe(p);
        const std::string what(title(p));
        sheet.fact(what, a.dense);
        sheet.fact(what + ", sparse", a.sparse);
        sheet.at_clock(what + ", stated", a.stated);
        sheet.at_clock(what + ", stated sparse", a.stated_sparse);
        sheet.at_clock(what + ", measured", a.measured);
    }
    sheet.section("Arithmetic, per SM and cycle");
}

void add_levels(Collector& sheet, const Machine& m) {
    for (const MemoryLevel& l : m.levels) {
        const std::string what(name(l.level));
        const std::string_view each = l.per_sm ? " per SM" : "";
        sheet.fact(what + " capacity", l.capacity, each);
        sheet.fact(what + " width", l.width, each);
        sheet.fact(what + " bandwidth", l.bandwidth);
        sheet.fact(what + " partitions", l.partitions);
        sheet.fact(what + " check bits of ECC, of the data", l.inline_ecc);
        sheet.fact(what + " bytes that share check bits", l.ecc_block);
        sheet.fact(what + " latency", l.latency);
        sheet.at_clock(what + ", measured", l.measured);
    }
    sheet.section("Memory levels");
}

void add_organisation(Collector& sheet, const Machine& m) {
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
    sheet.fact("launch", m.launch);
    sheet.section("Host");
}

void add_ceilings(Collector& sheet, const Machine& m) {
    for (const Pipe p : all_pipes()) {
        sheet.pipe(p);
        if (const auto c = compute_ceiling(m, p); c && c->value.value() > 0) sheet.ceiling(std::string(title(p)), c);
        if (const auto c = compute_ceiling(m, p, {}, Roofs::theoretical, true); c && m.pipes[p].sparse)
            sheet.ceiling(std::string(title(p)) + ", sparse", c);
    }
    for (const Level l : all_levels()) sheet.ceiling(std::string(name(l)), memory_ceiling(m, l));
    sheet.section("Roofs at boost clock");
}

}  // namespace

std::vector<MachineSection> machine_facts(const Machine& machine) {
    Collector sheet;
    add_ceilings(sheet, machine);
    add_organisation(sheet, machine);
    add_pipes(sheet, machine);
    add_levels(sheet, machine);
    return sheet.take();
}

std::string machine_about(const Machine& m) {
    std::string about = m.architecture;
    const auto add = [&](const std::string& text) { about += (about.empty() ? "" : ", ") + text; };
    if (!m.chip.empty()) add(m.chip);
    if (m.compute_capability) add("compute capability " + to_text(*m.compute_capability));
    if (!m.source.empty()) add("source: " + m.source);
    return about;
}

}  // namespace gambrel::report_detail
