#include <algorithm>

#include <fmt/format.h>
#include <gambrel/report.hpp>
#include <nlohmann/json.hpp>

#include "chart/text.hpp"
#include "report/estimate_words.hpp"
#include "report/model_summary.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

template <class Q>
double value_or_zero(const Known<Q>& known) {
    return known ? known->value.value() : 0;
}
double flop_of(const Estimate& e) { return flop(*e.layer).value(); }
double time_of(const Estimate& e) { return value_or_zero(e.kernel.time); }
double bytes_of(const Estimate& e, Level level) { return value_or_zero(e.kernel.bytes[level]); }
Tile tile_of(const Estimate& e) { return e.mapping.cta; }  // 0 where the kernel has none

std::string tile_text(const Tile& t) { return t.m > 0 ? fmt::format("{}x{}x{}", t.m, t.n, t.k) : ""; }

// Layers that repeat count with all their runs.
struct Sum {
    double time = 0, flop = 0, l1 = 0, l2 = 0, dram = 0;
    std::size_t layers = 0;
};
Sum sum_of(const Estimates& estimates) {
    Sum sum;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            const double n = e.layer->repeat;
            sum.time += time_of(e) * n;
            sum.flop += flop_of(e) * n;
            sum.l1 += bytes_of(e, Level::l1) * n;
            sum.l2 += bytes_of(e, Level::l2) * n;
            sum.dram += bytes_of(e, Level::dram) * n;
            ++sum.layers;
        }
    return sum;
}

std::string rate_text(double flop, double time) {
    return time > 0 && flop > 0 ? to_text(FlopRate{flop / time}, 3) : "";
}
std::string bytes_text(double bytes) { return to_text(Bytes{bytes}, 3); }

std::vector<TableCell> cells_of(const Estimate& e, const Sum& all) {
    const double time = time_of(e), work = flop_of(e), dram = bytes_of(e, Level::dram), repeat = e.layer->repeat;
    std::string range;
    if (e.interval) range = fmt::format("{} to {}", to_text(e.interval->low, 2), to_text(e.interval->high, 2));
    return {printable(e.layer->name),
            fmt::format("{:g}", repeat),
            operator_text(*e.layer),
            shape_text(*e.layer),
            std::string(name(e.layer->pass)),
            tile_text(tile_of(e)),
            e.waves() > 0 ? fmt::format("{:.1f}", e.waves()) : "",
            time > 0 ? to_text(Seconds{time}, 3) : "",
            range,
            all.time > 0 ? percent_text(time * repeat / all.time) : "",
            rate_text(work, time),
            bytes_text(bytes_of(e, Level::l1)),
            bytes_text(bytes_of(e, Level::l2)),
            bytes_text(dram),
            dram > 0 && work > 0 ? intensity_text(work / dram) : "",
            e.bound};
}

// The rows that take the time, in the order of the input.
std::vector<const Estimate*> shown(const Estimates& estimates, std::size_t most) {
    std::vector<const Estimate*> all;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) all.push_back(&e);
    if (all.size() <= most) return all;
    std::vector<const Estimate*> longest = all;
    const auto weight = [](const Estimate* e) { return time_of(*e) * e->layer->repeat; };
    std::nth_element(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(most), longest.end(),
                     [&](const auto* a, const auto* b) { return weight(a) > weight(b); });
    longest.resize(most);
    std::sort(longest.begin(), longest.end());
    std::erase_if(all, [&](const auto* e) { return !std::binary_search(longest.begin(), longest.end(), e); });
    return all;
}

std::string heading(const Estimates& estimates) {
    const Method method = estimates.options.method;
    return fmt::format("{} on {}: {}{}{}{}", estimates.layers->title, estimates.machine(), name(origin(method)),
                       method == Method::simulation ? "" : fmt::format(" ({} model)", name(method)),
                       estimates.partial ? ", partial" : "", estimates.fits ? "" : ", does not fit into its memory");
}

}  // namespace

std::string estimates_text(const Estimates& estimates, const TextStyle& style) {
    const Sum all = sum_of(estimates);
    const bool bounded = estimates.options.method == Method::simulation;
    Table table({{"layer", false, 100, 12},
                 {"runs", true, 93},
                 {"operator", false, 35},
                 {"shape", false, 18},
                 {"pass", false, 30},
                 {"tile", false, 60},
                 {"waves", true, 20},
                 {bounded ? "time at least" : "time", true, 95},
                 {"80 % range", true, 15},
                 {"share", true, 50},
                 {"FLOP/s", true, 70},
                 {"L1", true, 40},
                 {"L2", true, 45},
                 {"DRAM", true, 80},
                 {"FLOP/B", true, 25},
                 {"bound", false, 90}});
    for (const Estimate* e : shown(estimates, style.max_rows)) table.add({cells_of(*e, all), "", {}});
    table.total = {fmt::format("total of {}", plural(all.layers, "layer")),
                   "",
                   "",
                   "",
                   "",
                   "",
                   "",
                   all.time > 0 ? to_text(Seconds{all.time}, 3) : "",
                   "",
                   "",
                   rate_text(all.flop, all.time),
                   bytes_text(all.l1),
                   bytes_text(all.l2),
                   bytes_text(all.dram),
                   all.dram > 0 ? intensity_text(all.flop / all.dram) : "",
                   ""};
    std::string text;
    const auto add = [&](const std::string& words) {
        for (const std::string& line : wrapped(words, style.width, 2))
            text += truncated(line, style.width, !style.unicode) + "\n";
    };
    // The end says that it is modelled, partial, or does not fit, and must not be cut off.
    add(printable(heading(estimates), !style.unicode));
    if (all.time > 0) add(conditions_text(estimates));
    text += terminal_text(table, style);
    if (all.layers > style.max_rows)
        add(fmt::format("{} of {} shown, the longest; --top N shows more, the CSV has all", style.max_rows,
                        all.layers));
    if (estimates.summary) text += summary_text(*estimates.summary);
    return text + remarks_text(estimates, style);
}

std::string estimates_json(const Estimates& estimates, const Analysis& roofline) {
    using nlohmann::ordered_json;
    ordered_json out;
    out["schema"] = "gambrel-layers-1";
    out["title"] = printable(estimates.layers->title);
    out["machine"] = estimates.machine();
    out["origin"] = name(origin(estimates.options.method));
    if (estimates.options.method != Method::simulation) out["model"] = name(estimates.options.method);
    if (estimates.partial) out["partial"] = true;
    if (!estimates.fits) out["fits"] = false;
    for (const Error& note : estimates.notes) out["notes"].push_back(printable(to_text(note)));
    if (estimates.summary) out["summary"] = summary_json(*estimates.summary);
    out["layers"] = ordered_json::array();
    for (const EstimatedRow& row : estimates.rows) {
        if (row.estimates.empty())
            out["unread"].push_back({{"line", row.source ? row.source->line : 0}, {"reason", row.reason}});
        for (const Estimate& e : row.estimates) {
            ordered_json j;
            j["name"] = printable(e.layer->name);
            j["pass"] = name(e.layer->pass);
            j["precision"] = name(e.layer->precision);
            j["repeat"] = e.layer->repeat;
            j["operator"] = operator_text(*e.layer);
            j["shape"] = shape_text(*e.layer);
            if (e.found) j["algorithm"] = algorithm_text(*e.found);
            if (const Tile tile = tile_of(e); tile.m > 0) j["tile"] = {tile.m, tile.n, tile.k};
            if (e.waves() > 0) j["waves"] = e.waves();
            j["flop"] = flop_of(e);
            j["l1_bytes"] = bytes_of(e, Level::l1);
            j["l2_bytes"] = bytes_of(e, Level::l2);
            j["dram_bytes"] = bytes_of(e, Level::dram);
            if (e.kernel.time) {
                j["time_s"] = time_of(e);
                j["time_origin"] = name(e.kernel.time->origin);
            }
            if (e.interval) j["time_s_80_percent"] = {e.interval->low.value(), e.interval->high.value()};
            if (!e.bound.empty()) j["bound"] = e.bound;
            if (const std::string reason = figures(e).reason; !reason.empty()) j["reason"] = reason;
            out["layers"].push_back(std::move(j));
        }
    }
    const Sum all = sum_of(estimates);
    out["total"] = {
        {"time_s", all.time}, {"flop", all.flop}, {"l1_bytes", all.l1}, {"l2_bytes", all.l2}, {"dram_bytes", all.dram}};
    if (const auto range = total_range(estimates))
        out["total"]["time_s_80_percent"] = {range->low.value(), range->high.value()};
    if (estimates.host > Seconds{}) out["total"]["host_time_s"] = estimates.host.value();
    if (const auto batch = batch_of(estimates); batch > 0) {
        out["batch"] = batch;
        if (all.time > 0 && estimates.options.method != Method::simulation)
            out["total"]["samples_per_s"] = static_cast<double>(batch) / estimates.time().value();
    }
    if (estimates.layers->network)
        for (const Unmodelled& u : estimates.layers->network->unmodelled)
            out["unmodelled"].push_back(
                {{"op", printable(u.op)}, {"count", u.count}, {"reason", u.reason}, {"bytes", u.bytes.value()}});
    out["roofline"] = ordered_json::parse(json(roofline));
    return out.dump(1) + "\n";
}

}  // namespace gambrel
