#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "base/output_file.hpp"
#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

constexpr std::array kTableColumns = {EstimateSource::simulated, EstimateSource::gambrel, EstimateSource::roofline,
                                      EstimateSource::paper};
static_assert(kTableColumns.size() == kEstimateSources);

struct Shown {
    std::vector<ValidatedQuantity> quantities;
    std::vector<EstimateSource> estimates;
};

Shown shown_of(const Validation& v) {
    Shown shown;
    for (const ValidatedQuantity q :
         {ValidatedQuantity::l1, ValidatedQuantity::l2, ValidatedQuantity::dram, ValidatedQuantity::time})
        if (summary(v.rows, q, EstimateSource::gambrel).rows > 0) shown.quantities.push_back(q);
    for (const EstimateSource e : kTableColumns)
        if (std::any_of(shown.quantities.begin(), shown.quantities.end(),
                        [&](ValidatedQuantity q) { return summary(v.rows, q, e).rows > 0; }))
            shown.estimates.push_back(e);
    return shown;
}

std::string_view title_of(EstimateSource e) {
    switch (e) {
        case EstimateSource::simulated:
            return "simulated";
        case EstimateSource::gambrel:
            return "model, ours";
        case EstimateSource::roofline:
            return "Roofline, fitted";
        case EstimateSource::paper:
            break;
    }
    return "model, paper";
}

std::string mean_text(const ErrorSummary& s) { return s.rows > 0 ? fmt::format("{:.1f}", 100 * s.mean) : "-"; }

using Kind = std::tuple<std::string, std::string, std::string>;
Kind kind_of(const ValidationRow& r) { return {r.precision, r.pass, r.algorithm}; }

std::string sums(const Validation& v, const Shown& shown) {
    std::string out = "| rows | n | level |", rule = "|---|---:|---|";
    for (const EstimateSource e : shown.estimates) out += fmt::format(" {} |", title_of(e)), rule += "---:|";
    out += "\n" + rule + "\n";
    const auto add = [&](const std::string& label, const std::function<bool(const ValidationRow&)>& chosen) {
        for (const ValidatedQuantity q : shown.quantities) {
            const std::size_t rows = summary(v.rows, q, EstimateSource::gambrel, chosen).rows;
            if (rows == 0) continue;
            out += fmt::format("| {} | {} | {} |", label, rows, name(q));
            for (const EstimateSource e : shown.estimates)
                out += fmt::format(" {} |", mean_text(summary(v.rows, q, e, chosen)));
            out += "\n";
        }
    };
    add("all", {});
    std::map<Kind, std::size_t> kinds;
    for (const ValidationRow& row : v.rows) ++kinds[kind_of(row)];
    for (const auto& [kind, n] : kinds)
        add(markdown_escaped(fmt::format("{} {}, {}", std::get<0>(kind), std::get<1>(kind),
                                         std::get<2>(kind).empty() ? "no algorithm named" : std::get<2>(kind))),
            [k = kind](const ValidationRow& row) { return kind_of(row) == k; });
    return out;
}

std::string measured_text(const ValidationRow& row, ValidatedQuantity q) {
    const double value = row.measured[static_cast<std::size_t>(q)];
    if (value <= 0) return "-";
    return q == ValidatedQuantity::time ? to_text(Seconds{value}, 4) : fmt::format("{:.2f}", value / 1e6);
}

std::string every_row(const Validation& v, const Shown& shown) {
    std::string out = "| line | layer | precision, pass |", rule = "|---:|---|---|";
    for (const ValidatedQuantity q : shown.quantities) {
        out += fmt::format(" {}{} |", name(q), q == ValidatedQuantity::time ? "" : ", MB"), rule += "---:|";
        for (const EstimateSource e : shown.estimates) {
            if (q == ValidatedQuantity::time && e == EstimateSource::simulated) continue;
            out += fmt::format(" {} |", title_of(e)), rule += "---:|";
        }
    }
    out += "\n" + rule + "\n";
    for (const ValidationRow& row : v.rows) {
        out += fmt::format("| {} | {} | {} {} |", row.line, markdown_escaped(row.name), row.precision, row.pass);
        for (const ValidatedQuantity q : shown.quantities) {
            out += fmt::format(" {} |", measured_text(row, q));
            for (const EstimateSource e : shown.estimates) {
                if (q == ValidatedQuantity::time && e == EstimateSource::simulated) continue;
                const auto ratio = row.ratio(q, e);
                out += ratio ? fmt::format(" {:+.1f} |", 100 * (*ratio - 1)) : " - |";
            }
        }
        out += "\n";
    }
    return out;
}

}  // namespace

std::string validation_markdown(const Validation& v, const std::string& title, const std::string& made_by) {
    const Shown shown = shown_of(v);
    std::string out = fmt::format("# Accuracy: {}\n\nMade by `{}`; edit nothing here.\n", markdown_escaped(title),
                                  printable(made_by));
    out += fmt::format(
        "\n{} judged, {} left out by the flags, {} not readable as a layer.{} Model and simulator were built while "
        "looking at "
        "public rows like these; no row is held out.\n",
        plural(v.rows.size(), "row"), v.skipped, v.unread.size(),
        v.partial ? " Partial result: the simulator was stopped before its end." : "");
    out += "\n## Mean absolute error in per cent\n\n" + sums(v, shown);
    out += "\n## Every row\n\nMeasured, then what each says over measured, less one, in per cent.\n\n" +
           every_row(v, shown);
    return fmt::format("{}\n{}\n", out, base_detail::kCommentMark);
}

}  // namespace gambrel
