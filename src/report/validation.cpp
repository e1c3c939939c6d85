#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gambrel/report.hpp>
#include <nlohmann/json.hpp>

#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

constexpr std::array<ValidatedQuantity, kValidatedQuantities> kAll = {ValidatedQuantity::l1, ValidatedQuantity::l2,
                                                                      ValidatedQuantity::dram, ValidatedQuantity::time};

using Key = std::string ValidationRow::*;
struct Split {
    std::string_view title;
    Key key;
};
constexpr std::array<Split, 5> kSplits = {{{"gpu", &ValidationRow::gpu},
                                           {"pass", &ValidationRow::pass},
                                           {"precision", &ValidationRow::precision},
                                           {"algorithm", &ValidationRow::algorithm},
                                           {"regime", &ValidationRow::regime}}};

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }
std::string signed_percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }

bool is_simulated(const Validation& v) {
    return std::any_of(v.rows.begin(), v.rows.end(), [](const ValidationRow& row) {
        return row.ratio(ValidatedQuantity::l1, EstimateSource::simulated) ||
               row.ratio(ValidatedQuantity::dram, EstimateSource::simulated);
    });
}

bool is_timed(const Validation& v) {
    return std::any_of(v.rows.begin(), v.rows.end(), [](const ValidationRow& row) {
        return row.ratio(ValidatedQuantity::time, EstimateSource::roofline).has_value();
    });
}

void add_lines(Table& table, const Validation& v, const std::string& label,
               const std::function<bool(const ValidationRow&)>& chosen) {
    for (const ValidatedQuantity q : kAll) {
        const ErrorSummary ours = summary(v.rows, q, EstimateSource::gambrel, chosen);
        if (ours.rows == 0) continue;
        std::vector<TableCell> cells{label,
                                     std::string(name(q)),
                                     count_text(ours.rows),
                                     percent(ours.mean),
                                     percent(ours.geometric),
                                     signed_percent(ours.bias),
                                     percent(ours.p90)};
        if (is_timed(v)) {
            const ErrorSummary s = summary(v.rows, q, EstimateSource::roofline, chosen);
            cells.push_back(s.rows > 0 ? percent(s.mean) : "");
        }
        for (const EstimateSource other : {EstimateSource::simulated, EstimateSource::paper}) {
            if (other == EstimateSource::simulated && !is_simulated(v)) continue;
            const ErrorSummary s = summary(v.rows, q, other, chosen);
            cells.push_back(s.rows > 0 ? percent(s.mean) : "");
            cells.push_back(s.rows > 0 ? signed_percent(s.bias) : "");
        }
        table.add({std::move(cells), "", {}});
    }
}

std::string worst_rows(const Validation& v, const TextStyle& style, std::size_t most) {
    struct Worst {
        const ValidationRow* row;
        ValidatedQuantity q;
        double ratio;
    };
    std::vector<Worst> all;
    for (const ValidationRow& row : v.rows)
        for (const ValidatedQuantity q : kAll)
            if (const auto r = row.ratio(q, EstimateSource::gambrel)) all.push_back({&row, q, *r});
    most = std::min(most, all.size());
    std::partial_sort(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
        [](const Worst& a, const Worst& b) { return std::abs(std::log(a.ratio)) > std::abs(std::log(b.ratio)); });
    if (most == 0) return {};
    Table table({{"worst rows", false, 100, 16},
                 {"line", true, 50},
                 {"what", false, 90},
                 {"predicted / measured", true, 95},
                 {"gpu", false, 60, 8},
                 {"algorithm", false, 40, 8},
                 {"regime", false, 30}});
    for (std::size_t i = 0; i < most; ++i) {
        const Worst& w = all[i];
        table.add({{printable(w.row->name), std::to_string(w.row->line), std::string(name(w.q)),
                    fmt::format("{:.3g}", w.ratio), printable(w.row->gpu), printable(w.row->algorithm), w.row->regime},
                   "",
                   {}});
    }
    return "\n" + terminal_text(table, style);
}

// Empty where nothing was said.
std::string amount(const ValidationRow& row, EstimateSource estimate, std::size_t quantity) {
    const double value = row.predicted[static_cast<std::size_t>(estimate)][quantity];
    return value > 0 ? exact(value) : "";
}

// The reasons that most rows were refused for, each with the first of its lines.
std::string unread_text(const Errors& unread) {
    constexpr std::size_t kShown = 5;
    if (unread.empty()) return {};
    struct Reason {
        const Error* first;
        std::size_t rows;
    };
    std::vector<Reason> reasons;
    std::map<std::string_view, std::size_t> at;
    for (const Error& e : unread) {
        const auto [known, is_new] = at.emplace(e.what, reasons.size());
        if (is_new) reasons.push_back({&e, 0});
        ++reasons[known->second].rows;
    }
    std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.rows > b.rows; });
    std::string text = fmt::format("{} could not be judged:\n", plural(unread.size(), "row"));
    for (std::size_t i = 0; i < std::min(kShown, reasons.size()); ++i)
        text += fmt::format("  {} x {}\n", count_text(reasons[i].rows), printable(to_text(*reasons[i].first)));
    if (reasons.size() > kShown) text += fmt::format("  and {}\n", plural(reasons.size() - kShown, "other reason"));
    return text;
}

// A few such rows are boards with another clock or a counter that slipped; many are a table that was misread.
std::string impossible_rows(const Validation& v, const TextStyle& style) {
    constexpr double kMany = 0.05;
    std::string text;
    const auto say = [&](std::size_t rows, const std::string& why) {
        if (static_cast<double>(rows) <= kMany * static_cast<double>(v.rows.size())) return;
        const auto sentence =
            fmt::format("{} of {} took less time than {}.", count_text(rows), plural(v.rows.size(), "row"), why);
        text +=
            "\n" + fmt::format("{}\n", fmt::join(wrapped(printable(sentence, !style.unicode), style.width, 2), "\n"));
    };
    std::set<std::string> precisions;
    for (const ValidationRow& row : v.rows) precisions.insert(row.precision);
    say(faster_than_peak(v),
        fmt::format("their GPU needs for their FLOP in {}: they were measured in another precision "
                    "(--precision, or a column of that name), on another GPU, or by an algorithm "
                    "with fewer multiplications",
                    fmt::join(precisions, ", ")));
    say(faster_than_memory(v),
        "the DRAM of their GPU needs to move their tensors, beyond what L2 can hold: sizes, precision or GPU are not "
        "those of the table, or tensors that are counted several times are one");
    return text;
}

std::string drifts_text(const Validation& v, const TextStyle& style) {
    std::string text;
    for (const FoundDrift& d : v.drifts) {
        const std::string sentence = fmt::format(
            "Host drift of {}, {}: {} from the first row to {} for the last, beside what the model charges "
            "for a call, is added to its predictions (--host-drift, fitted on {}).",
            d.gpu, d.op, to_text(d.drift.first, 3), to_text(d.drift.last, 3), plural(d.rows, "row"));
        for (const std::string& line : wrapped(printable(sentence, !style.unicode), style.width, 2))
            text += line + "\n";
    }
    return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string validation_text(const Validation& v, const std::string& title, const TextStyle& style, std::size_t worst) {
    std::vector<TableColumn> columns{{"rows", false, 100, 12},   {"what", false, 99}, {"n", true, 70},
                                     {"mean |error|", true, 95}, {"geo", true, 40},   {"bias", true, 80},
                                     {"90th", true, 50}};
    if (is_timed(v)) columns.push_back({"fitted Roofline", true, 85});
    if (is_simulated(v)) columns.insert(columns.end(), {{"simulated: mean", true, 90}, {"bias", true, 35}});
    columns.insert(columns.end(), {{"paper: mean", true, 60}, {"bias", true, 30}});
    Table table(columns);
    add_lines(table, v, "all", {});
    for (const Split& split : kSplits) {
        std::set<std::string> values;
        for (const ValidationRow& row : v.rows) values.insert(row.*(split.key));
        if (values.size() < 2 || values.size() > 24) continue;
        for (const std::string& value : values)
            add_lines(table, v, fmt::format("{} {}", split.title, printable(value.empty() ? "(none)" : value)),
                      [&](const ValidationRow& row) { return row.*(split.key) == value; });
    }
    std::string text =
        truncated(printable(fmt::format("{}: predicted against measured, {}{}", title, plural(v.rows.size(), "row"),
                                        v.skipped > 0 ? fmt::format(", {} left out", count_text(v.skipped)) : "")),
                  style.width, !style.unicode) +
        "\n" + terminal_text(table, style);
    text += drifts_text(v, style);
    text += impossible_rows(v, style);
    text += worst_rows(v, style, worst);
    if (v.partial)
        text += "Partial result: the simulator was stopped before its end; its errors are of the rows that it did.\n";
    return text + unread_text(v.unread);
}

std::string validation_csv(const Validation& v) {
    std::string text = csv_line({"line", "name", "gpu", "pass", "precision", "algorithm", "regime", "bound", "quantity",
                                 "measured", "predicted", "predicted_paper", "simulated", "fitted_roofline"});
    for (const ValidationRow& row : v.rows)
        for (const ValidatedQuantity q : kAll) {
            const auto i = static_cast<std::size_t>(q);
            if (row.measured[i] <= 0) continue;
            text += csv_line(
                {std::to_string(row.line), row.name, row.gpu, row.pass, row.precision, row.algorithm, row.regime,
                 row.bound, q == ValidatedQuantity::time ? "time_s" : std::string(name(q)) + "_bytes",
                 exact(row.measured[i]), amount(row, EstimateSource::gambrel, i), amount(row, EstimateSource::paper, i),
                 amount(row, EstimateSource::simulated, i), amount(row, EstimateSource::roofline, i)});
        }
    return text;
}

std::string validation_json(const Validation& v, const std::vector<HeldOutErrors>& held_out) {
    using nlohmann::ordered_json;
    ordered_json out;
    out["schema"] = "gambrel-validation-1";
    out["rows"] = v.rows.size();
    out["left_out"] = v.skipped;
    out["faster_than_peak"] = faster_than_peak(v);
    out["faster_than_memory"] = faster_than_memory(v);
    if (v.partial) out["partial"] = true;
    for (const FoundDrift& d : v.drifts)
        out["host_drift"].push_back({{"gpu", printable(d.gpu)},
                                     {"op", d.op},
                                     {"rows", d.rows},
                                     {"first_s", d.drift.first.value()},
                                     {"last_s", d.drift.last.value()}});
    out["unread"] = v.unread.size();
    const auto add = [&](const std::string& by, const std::string& value,
                         const std::function<bool(const ValidationRow&)>& chosen) {
        for (const ValidatedQuantity q : kAll)
            for (const EstimateSource model : {EstimateSource::gambrel, EstimateSource::paper,
                                               EstimateSource::simulated, EstimateSource::roofline}) {
                const ErrorSummary s = summary(v.rows, q, model, chosen);
                if (s.rows == 0) continue;
                out["errors"].push_back({{"by", by},
                                         {"value", printable(value)},
                                         {"quantity", name(q)},
                                         {"model", name(model)},
                                         {"rows", s.rows},
                                         {"mean_absolute", s.mean},
                                         {"geometric", s.geometric},
                                         {"bias", s.bias},
                                         {"p90", s.p90}});
            }
    };
    add("all", "", {});
    for (const Split& split : kSplits) {
        std::set<std::string> values;
        for (const ValidationRow& row : v.rows) values.insert(row.*(split.key));
        for (const std::string& value : values)
            add(std::string(split.title), value, [&](const ValidationRow& row) { return row.*(split.key) == value; });
    }
    for (const HeldOutErrors& line : held_out)
        out["held_out"].push_back({{"split", line.split},
                                   {"op", line.op},
                                   {"precision", line.precision},
                                   {"gpu", printable(line.gpu)},
                                   {"side", line.side},
                                   {"rows", line.rows},
                                   {"gambrel", line.gambrel},
                                   {"roofline", line.roofline},
                                   {"inside_interval", line.inside}});
    return out.dump(1) + "\n";
}

std::string held_out_text(const std::vector<HeldOutErrors>& lines, const TextStyle& style) {
    Table table({{"split by", false, 100},
                 {"gpu", false, 99, 8},
                 {"operator", false, 60},
                 {"precision", false, 50},
                 {"rows", false, 98},
                 {"n", true, 70},
                 {"mean |error|", true, 95},
                 {"fitted Roofline", true, 90},
                 {"in 80 % interval", true, 85}});
    for (const HeldOutErrors& line : lines)
        table.add({{line.split, printable(line.gpu), line.op, line.precision, line.side, count_text(line.rows),
                    percent(line.gambrel), percent(line.roofline), percent(line.inside)},
                   "",
                   {}});
    return "\n" + terminal_text(table, style);
}

}  // namespace gambrel
