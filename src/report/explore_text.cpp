#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/explore_charts.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

// A line of words over a table, as narrow as the style asks.
std::string heading(const std::string& text, const TextStyle& style) {
    std::string out;
    for (const std::string& line : wrapped(printable(text, !style.unicode), style.width)) out += line + "\n";
    return out;
}

std::string share_text(double part, double whole) {
    const double percent = 100 * part / whole;
    return percent < 0.05 ? "" : fmt::format("{:.1f}", percent);
}

void add_designs(std::string& out, const ExplorationReport& c, const TextStyle& style) {
    std::vector<TableColumn> columns{
        {"design", false, 100, 8}, {"speed-up", true, 99}, {"cost", true, 98}, {"time", true, 60}};
    for (std::size_t t = 0; t < kTerms; ++t)
        columns.push_back({fmt::format("{} %", name(static_cast<Term>(t))), true, 90 - static_cast<int>(t)});
    Table table(columns);
    for (const EvaluatedDesign& d : c.designs) {
        std::vector<TableCell> cells{printable(d.name, !style.unicode), fmt::format("{:.3f}", d.speedup),
                                     fmt::format("{:.2f}", d.cost), to_text(Seconds{d.timing.time})};
        for (const double part : d.timing.exposed) cells.push_back(share_text(part, d.timing.time));
        TableRow row{std::move(cells), "", {}};
        const bool found = &d != &c.designs.front() && !c.search.empty();
        const std::string what = found ? d.what + ": " + factors_text(c, d.factors) : d.what;
        for (const std::string& line : wrapped(printable(what, !style.unicode), style.width - 4))
            row.below.push_back("    " + line);
        table.add(std::move(row));
    }
    out += terminal_text(table, style);
}

void add_networks(std::string& out, const ExplorationReport& c, const TextStyle& style) {
    if (c.workload.networks.size() < 2) return;
    std::vector<TableColumn> columns{{"network", false, 100, 8}};
    for (const EvaluatedDesign& d : c.designs) columns.push_back({d.name, true, 50});
    Table table(columns);
    for (std::size_t n = 0; n < c.workload.networks.size(); ++n) {
        std::vector<TableCell> cells{printable(c.workload.networks[n], !style.unicode)};
        for (const EvaluatedDesign& d : c.designs) cells.push_back(to_text(Seconds{d.timing.network_time[n]}));
        table.add({std::move(cells), "", {}});
    }
    out += "\nTime of one run of each network\n" + terminal_text(table, style);
}

void add_sensitivities(std::string& out, const ExplorationReport& c, const TextStyle& style) {
    Table table({{"resource", false, 100, 8},
                 {"start", true, 50},
                 {"elasticity", true, 99},
                 {"twice as much", true, 98},
                 {"layers that follow it", true, 70}});
    for (const Sensitivity& s : by_elasticity(c)) {
        const auto follow = std::count_if(s.layers.begin(), s.layers.end(), [](double e) { return e > 0.5; });
        table.add({{std::string(name(s.resource)), amount_text(s.resource, base_value(c.base, c.hardware, s.resource)),
                    fmt::format("{:.2f}", s.elasticity), fmt::format("{:.3f}x", s.doubled),
                    fmt::format("{} of {}", follow, s.layers.size())},
                   "",
                   {}});
    }
    out +=
        "\n" +
        heading("Sensitivity of the start: elasticity is 1 where time follows the resource, 0 where it has no effect",
                style);
    out += terminal_text(table, style);
}

std::string tile_text(const LayerTime& l) {
    return l.tile.m > 0 ? fmt::format("{}x{}x{}", l.tile.m, l.tile.n, l.tile.k) : "";
}

// The layers that take the time, at the start and in the last design.
void add_layers(std::string& out, const ExplorationReport& c, const TextStyle& style) {
    if (c.designs.size() < 2) return;
    const EvaluatedDesign &before = c.designs.front(), &after = c.designs.back();
    std::vector<std::size_t> order(c.workload.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto total = [&](std::size_t i) { return c.workload.items[i].weight * before.timing.layers[i].time; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return total(a) > total(b); });
    Table table({{"layer", false, 100, 12},
                 {"runs", true, 30},
                 {"% time", true, 80},
                 {"bound", false, 95},
                 {"tile", false, 40},
                 {"-> bound", false, 94},
                 {"tile", false, 40},
                 {"speed-up", true, 96},
                 {"DRAM bytes", true, 35}});
    const std::size_t rows = std::min(style.max_rows, order.size());
    for (std::size_t k = 0; k < rows; ++k) {
        const std::size_t i = order[k];
        const LayerTime &a = before.timing.layers[i], &b = after.timing.layers[i];
        table.add({{printable(c.workload.items[i].layer.name, !style.unicode),
                    fmt::format("{:g}", c.workload.items[i].weight),
                    fmt::format("{:.1f}", 100 * total(i) / before.timing.time), std::string(name(a.bound)),
                    tile_text(a), std::string(name(b.bound)), tile_text(b), fmt::format("{:.2f}", a.time / b.time),
                    a.dram_bytes > 0 ? fmt::format("{:+.1f} %", 100 * (b.dram_bytes / a.dram_bytes - 1)) : ""},
                   "",
                   {}});
    }
    out +=
        fmt::format("\nLayers: the start -> {}\n", printable(after.name, !style.unicode)) + terminal_text(table, style);
    if (rows < order.size()) out += fmt::format("{} more layers; --top shows more\n", order.size() - rows);
}

void add_front(std::string& out, const ExplorationReport& c, const TextStyle& style) {
    if (c.front.empty()) return;
    Table table({{"cost", true, 100}, {"speed-up", true, 99}, {"scaled", false, 98, 20}});
    // Evenly over the front, its ends among them.
    const std::size_t shown = std::min<std::size_t>(c.front.size(), 12);
    for (std::size_t k = 0; k < shown; ++k) {
        const EvaluatedDesign& d = c.front[shown > 1 ? k * (c.front.size() - 1) / (shown - 1) : 0];
        table.add({{fmt::format("{:.3f}", d.cost), fmt::format("{:.3f}", d.speedup), factors_text(c, d.factors, false)},
                   "",
                   {}});
    }
    out += "\n" + heading(fmt::format("None is both cheaper and faster than these ({} of {} designs of the front)",
                                      shown, c.front.size()),
                          style);
    out += terminal_text(table, style);
}

}  // namespace

std::string explore_text(const ExplorationReport& c, const TextStyle& style, bool charts) {
    std::string out = heading(fmt::format("{} on {}, modelled", c.title, c.machine), style);
    if (const std::string search = search_text(c); !search.empty()) out += heading(search, style);
    const std::string answer = explore_answer(c);
    if (!answer.empty()) out += heading(answer, style);
    if (c.partial) out += heading("Partial result: the search was stopped before its end.", style);
    out += "\n";
    add_designs(out, c, style);
    if (const double start = c.designs.front().timing.time; std::fabs(start - c.library_time) > 1e-9 * start)
        out += heading(
            fmt::format("Start: {} with the fastest tile of each layer, chosen as for every design; {} with the "
                        "library's tiles, as `gambrel predict` reports (--tiles rule).",
                        to_text(Seconds{start}), to_text(Seconds{c.library_time})),
            style);
    if (const std::string missed = target_text(c); !missed.empty()) out += heading(missed, style);
    add_networks(out, c, style);
    add_sensitivities(out, c, style);
    add_layers(out, c, style);
    add_front(out, c, style);
    for (std::size_t i = 0; i < kExploreCharts && charts; ++i)
        if (const std::string text = explore_terminal(c, static_cast<ExploreChart>(i), style); !text.empty())
            out += "\n" + text;
    if (!answer.empty()) out += "\n" + heading(answer, style);
    return out;
}

}  // namespace gambrel
