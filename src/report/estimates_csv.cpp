// Layers with what is predicted of them, a row each: the input's columns as they were, then ours.
#include <array>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

constexpr std::array<const char*, 11> kPredictedColumns = {
    "pred_tile_m",     "pred_tile_n",  "pred_tile_k", "pred_flop",   "pred_l1_bytes", "pred_l2_bytes",
    "pred_dram_bytes", "pred_time_us", "pred_bound",  "pred_reason", "pred_origin"};

void add_predicted_cells(std::string& text, const Figures& f) {
    std::array<char, 9 * (kLongestExact + 1)> numbers;
    char* to = numbers.data();
    for (const std::int32_t side : {f.tile.m, f.tile.n, f.tile.k}) {
        *to++ = ',';
        if (side > 0) to = put_exact(to, side);
    }
    for (const double amount : {f.flop.value(), f.l1.value(), f.l2.value(), f.dram.value()}) {
        *to++ = ',';
        to = put_exact(to, amount);
    }
    *to++ = ',';
    if (f.time > Seconds{}) to = put_exact(to, f.time.value() * 1e6);
    *to++ = ',';
    text.append(numbers.data(), to);
    text += f.bound;  // the name of a term, which needs no quotes
    text += ',';
    add_csv_cell(text, f.reason);
}

// A row of a whole backward pass is the sum of its parts.
Figures figures_of(const std::vector<Estimate>& estimates) {
    Figures sum = figures(estimates.front());
    for (std::size_t i = 1; i < estimates.size(); ++i) sum += figures(estimates[i]);
    return sum;
}

}  // namespace

EstimateRowsCsv::EstimateRowsCsv(std::vector<std::string> columns, Method method, bool partial)
    : given_(columns.size()), end_(1, ',') {
    add_csv_cell(end_, fmt::format("{}{}", name(origin(method)), partial ? ", partial" : ""));
    end_ += '\n';
    columns.insert(columns.end(), kPredictedColumns.begin(), kPredictedColumns.end());
    heading_ = csv_line(columns);
}

void EstimateRowsCsv::add(std::string& text, const StreamedRow& row) const {
    if (row.text.empty() || !add_canonical_csv(text, row.text)) add_csv_cells(text, row.cells, given_);
    if (row.figures) {
        add_predicted_cells(text, *row.figures);
        text += end_;
    } else {
        text.append(kPredictedColumns.size() - 1, ',');
        add_csv_cell(text, row.reason);
        text += ",\n";
    }
}

std::string estimates_csv(const Estimates& estimates) {
    const LayerSet& set = *estimates.layers;
    const EstimateRowsCsv csv(
        set.table ? set.table->columns : std::vector<std::string>{"name", "pass", "precision", "repeat"},
        estimates.options.method, estimates.partial);
    std::string text = csv.heading();
    std::vector<std::string_view> cells;
    for (const EstimatedRow& row : estimates.rows) {
        std::string repeat;
        if (row.source) {
            cells.assign(row.source->cells.begin(), row.source->cells.end());
        } else if (!row.estimates.empty()) {
            const Layer& l = *row.estimates.front().layer;
            repeat = exact(l.repeat);
            cells = {l.name, name(l.pass), name(l.precision), repeat};
        } else {
            cells.clear();
        }
        if (row.estimates.empty()) {
            csv.add(text, {cells, {}, nullptr, row.reason});
        } else {
            const Figures sum = figures_of(row.estimates);
            csv.add(text, {cells, {}, &sum, {}});
        }
    }
    return text;
}

}  // namespace gambrel
