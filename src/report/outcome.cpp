#include <gambrel/outcome.hpp>

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/csv_fields.hpp"
#include "report/numbers.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

std::string tile_text(const Tile& t) { return t.m > 0 ? fmt::format("{}x{}x{}", t.m, t.n, t.k) : ""; }

// "resnet50" layers repeat; their amounts are of all runs in totals.
struct Sum {
    double time = 0, flop = 0, l1 = 0, l2 = 0, dram = 0;
    void add(const LayerOutcome& o) {
        time += o.time.value_or(0) * o.repeat;
        flop += o.flop * o.repeat;
        l1 += o.l1_bytes * o.repeat;
        l2 += o.l2_bytes * o.repeat;
        dram += o.dram_bytes * o.repeat;
    }
};

Sum sum_of(const OutcomeReport& report) {
    Sum sum;
    for (const OutcomeRow& row : report.rows)
        for (const LayerOutcome& o : row.layers) sum.add(o);
    return sum;
}

std::string rate_text(double flop, double time) {
    return time > 0 && flop > 0 ? to_text(FlopRate{flop / time}, 3) : "";
}
std::string bytes_text(double bytes) { return to_text(Bytes{bytes}, 3); }

std::vector<std::string> cells_of(const LayerOutcome& o, const Sum& all) {
    const double time = o.time.value_or(0);
    std::string name = printable(o.name);
    if (o.repeat > 1) name += fmt::format(" (x{})", o.repeat);
    std::string range;
    if (o.time_low && o.time_high)
        range = fmt::format("{} to {}", to_text(Seconds{*o.time_low}, 2), to_text(Seconds{*o.time_high}, 2));
    return {name,
            std::string(gambrel::name(o.pass)),
            tile_text(o.tile),
            o.waves > 0 ? fmt::format("{:.1f}", o.waves) : "",
            o.time ? to_text(Seconds{time}, 3) : "",
            range,
            o.time && all.time > 0 ? percent_text(time * o.repeat / all.time) : "",
            rate_text(o.flop, time),
            bytes_text(o.l1_bytes),
            bytes_text(o.l2_bytes),
            bytes_text(o.dram_bytes),
            o.dram_bytes > 0 && o.flop > 0 ? intensity_text(o.flop / o.dram_bytes) : "",
            o.bound};
}

// The rows that take the time, in the order of the input.
std::vector<const LayerOutcome*> shown(const OutcomeReport& report, std::size_t most) {
    std::vector<const LayerOutcome*> all;
    for (const OutcomeRow& row : report.rows)
        for (const LayerOutcome& o : row.layers) all.push_back(&o);
    if (all.size() <= most) return all;
    std::vector<const LayerOutcome*> longest = all;
    const auto weight = [](const LayerOutcome* o) { return o->time.value_or(o->dram_bytes * 1e-12) * o->repeat; };
    std::nth_element(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(most), longest.end(),
                     [&](const auto* a, const auto* b) { return weight(a) > weight(b); });
    longest.resize(most);
    std::erase_if(all, [&](const auto* o) { return std::find(longest.begin(), longest.end(), o) == longest.end(); });
    return all;
}

std::string faults_text(const OutcomeReport& report, const TextStyle& style) {
    std::string text;
    std::size_t unread = 0;
    for (const OutcomeRow& row : report.rows)
        if (row.layers.empty()) ++unread;
    const auto line = [&](const std::string& sentence) {
        for (const std::string& part : wrapped(printable(sentence, !style.unicode), style.width, 2))
            text += part + "\n";
    };
    if (unread > 0) line(fmt::format("{} could not be read; the CSV has the reasons", plural(unread, "row")));
    for (const Unmodelled& u : report.unmodelled)
        line(fmt::format("not modelled: {} {} ({}), first {}", plural(static_cast<std::uint64_t>(u.count), "operator"),
                         u.op, u.reason, u.first));
    if (report.unmodelled_share > 0)
        line(fmt::format("operators without a model move {} of the network's bytes",
                         percent_text(report.unmodelled_share)));
    return text;
}

}  // namespace

std::string outcome_text(const OutcomeReport& report, const TextStyle& style) {
    const Sum all = sum_of(report);
    Table table({{"layer", false, 100, 12},
                 {"pass", false, 30},
                 {"tile", false, 60},
                 {"waves", true, 20},
                 {"time", true, 95},
                 {"80 % range", true, 15},
                 {"share", true, 50},
                 {"FLOP/s", true, 70},
                 {"L1", true, 40},
                 {"L2", true, 45},
                 {"DRAM", true, 80},
                 {"FLOP/B", true, 25},
                 {"bound", false, 90}});
    for (const LayerOutcome* o : shown(report, style.max_rows)) table.add({cells_of(*o, all), "", {}});
    std::size_t layers = 0;
    for (const OutcomeRow& row : report.rows) layers += row.layers.size();
    table.add_total({fmt::format("total of {}", plural(layers, "layer")), "", "", "",
                     all.time > 0 ? to_text(Seconds{all.time}, 3) : "", "", "", rate_text(all.flop, all.time),
                     bytes_text(all.l1), bytes_text(all.l2), bytes_text(all.dram),
                     all.dram > 0 ? intensity_text(all.flop / all.dram) : "", ""});
    std::string head = fmt::format("{} on {}: {}{}", report.title, report.machine, name(report.origin),
                                   report.model.empty() ? "" : fmt::format(" ({} model)", report.model));
    std::string text = truncated(printable(head, !style.unicode), style.width, !style.unicode) + "\n";
    text += table.text(style);
    if (layers > style.max_rows)
        text += fmt::format("{} of {} shown, those that take the time; --top N shows more, the CSV has all\n",
                            style.max_rows, layers);
    return text + faults_text(report, style);
}

std::string outcome_csv(const OutcomeReport& report) {
    std::vector<std::string> header;
    if (report.columns)
        header = *report.columns;
    else
        header = {"name", "pass", "precision", "repeat"};
    for (const char* column : {"pred_tile_m", "pred_tile_n", "pred_tile_k", "pred_flop", "pred_l1_bytes",
                               "pred_l2_bytes", "pred_dram_bytes", "pred_time_us", "pred_bound", "pred_reason"})
        header.emplace_back(column);
    for (std::string& column : header) column = csv_field(column);
    std::string text = csv_line(header);
    for (const OutcomeRow& row : report.rows) {
        std::vector<std::string> cells;
        if (row.source) {
            cells = row.source->cells;
            cells.resize(report.columns->size());
        } else if (!row.layers.empty()) {
            const LayerOutcome& o = row.layers.front();
            cells = {o.name, std::string(name(o.pass)), std::string(name(o.precision)), exact(o.repeat)};
        }
        if (row.layers.empty()) {
            for (int i = 0; i < 9; ++i) cells.emplace_back();
            cells.push_back(row.reason);
        } else {
            // A row of a whole backward pass is the sum of its parts.
            LayerOutcome o = row.layers.front();
            for (std::size_t i = 1; i < row.layers.size(); ++i) {
                const LayerOutcome& other = row.layers[i];
                o.flop += other.flop;
                o.l1_bytes += other.l1_bytes;
                o.l2_bytes += other.l2_bytes;
                o.dram_bytes += other.dram_bytes;
                if (o.time && other.time) o.time = *o.time + *other.time;
                if (!other.reason.empty() && other.reason != o.reason)
                    o.reason += (o.reason.empty() ? "" : "; ") + other.reason;
            }
            const auto number = [](std::int32_t n) { return n > 0 ? std::to_string(n) : std::string(); };
            for (std::string cell : {number(o.tile.m), number(o.tile.n), number(o.tile.k), exact(o.flop),
                                     exact(o.l1_bytes), exact(o.l2_bytes), exact(o.dram_bytes),
                                     o.time ? exact(*o.time * 1e6) : std::string(), o.bound, o.reason})
                cells.push_back(std::move(cell));
        }
        for (std::string& cell : cells) cell = csv_field(cell);
        text += csv_line(cells);
    }
    return text;
}

std::string outcome_json(const OutcomeReport& report, const Analysis* roofline) {
    using nlohmann::ordered_json;
    ordered_json out;
    out["schema"] = "gambrel-layers-1";
    out["title"] = printable(report.title);
    out["machine"] = report.machine;
    out["origin"] = name(report.origin);
    if (!report.model.empty()) out["model"] = report.model;
    out["layers"] = ordered_json::array();
    for (const OutcomeRow& row : report.rows) {
        if (row.layers.empty())
            out["unread"].push_back({{"line", row.source ? row.source->line : 0}, {"reason", row.reason}});
        for (const LayerOutcome& o : row.layers) {
            ordered_json j;
            j["name"] = printable(o.name);
            j["pass"] = name(o.pass);
            j["precision"] = name(o.precision);
            j["repeat"] = o.repeat;
            if (o.tile.m > 0) j["tile"] = {o.tile.m, o.tile.n, o.tile.k};
            if (o.waves > 0) j["waves"] = o.waves;
            j["flop"] = o.flop;
            j["l1_bytes"] = o.l1_bytes;
            j["l2_bytes"] = o.l2_bytes;
            j["dram_bytes"] = o.dram_bytes;
            if (o.time) j["time_s"] = *o.time;
            if (o.time_low && o.time_high) j["time_s_80_percent"] = {*o.time_low, *o.time_high};
            if (!o.bound.empty()) j["bound"] = o.bound;
            if (!o.reason.empty()) j["reason"] = o.reason;
            out["layers"].push_back(std::move(j));
        }
    }
    const Sum all = sum_of(report);
    out["total"] = {
        {"time_s", all.time}, {"flop", all.flop}, {"l1_bytes", all.l1}, {"l2_bytes", all.l2}, {"dram_bytes", all.dram}};
    for (const Unmodelled& u : report.unmodelled)
        out["unmodelled"].push_back(
            {{"op", printable(u.op)}, {"count", u.count}, {"reason", u.reason}, {"bytes", u.bytes.value()}});
    if (roofline) out["roofline"] = ordered_json::parse(json(*roofline));
    return out.dump(1) + "\n";
}

std::string explained_text(const std::string& title, const std::vector<ExplainedTerm>& terms, const TextStyle& style) {
    std::string text = truncated(printable(title, !style.unicode), style.width, !style.unicode) + "\n";
    for (const ExplainedTerm& t : terms) {
        const std::string line =
            fmt::format("{} = {}{}{} = {}", t.name, t.equation, t.values.empty() ? "" : " = ", t.values, t.result);
        for (const std::string& part : wrapped(printable(line, !style.unicode), style.width, 4)) text += part + "\n";
    }
    return text;
}

}  // namespace gambrel
