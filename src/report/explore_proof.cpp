#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

struct Sums {
    std::size_t rows = 0;
    double measured = 0, predicted = 0, error = 0, error_alone = 0, error_rule = 0, error_itself = 0, within = 0;
    void add(const RatioRow& r) {
        const auto error_of = [&](double p) { return std::fabs(p / r.measured - 1); };
        ++rows;
        measured += std::log(r.measured);
        predicted += std::log(r.predicted);
        error += error_of(r.predicted);
        error_alone += error_of(r.factors_alone);
        error_rule += error_of(r.by_rule);
        error_itself += error_of(r.as_itself);
        within += error_of(r.predicted) <= 0.12 ? 1 : 0;
    }
    [[nodiscard]] std::vector<TableCell> cells(const std::string& gpu, const std::string& op) const {
        const auto n = static_cast<double>(rows);
        return {gpu,
                op,
                count_text(rows),
                fmt::format("{:.2f}", std::exp(measured / n)),
                fmt::format("{:.2f}", std::exp(predicted / n)),
                percent_text(error / n),
                percent_text(within / n),
                percent_text(error_alone / n),
                percent_text(error_rule / n),
                percent_text(error_itself / n)};
    }
};

}  // namespace

std::string proof_text(const RatioProof& proof, const TextStyle& style) {
    Table table({{"to", false, 100, 21},
                 {"layers", false, 90},
                 {"rows", true, 80},
                 {"measured", true, 95},
                 {"predicted", true, 95},
                 {"mean error", true, 99},
                 {"within 12 %", true, 70},
                 {"factors alone", true, 60},
                 {"its kernels", true, 50},
                 {"own machine", true, 40}});
    std::map<std::pair<std::string, std::string>, Sums> groups;
    Sums all;
    for (const RatioRow& row : proof.rows) {
        groups[{row.gpu, row.op}].add(row);
        all.add(row);
    }
    for (const auto& [key, sums] : groups) table.add({sums.cells(key.first, key.second), "", {}});
    if (all.rows > 0) table.total = all.cells("all", "");
    std::string out = fmt::format(
        "{} with factors to the resources of another GPU: how many times as fast, measured and predicted\n\n",
        proof.from);
    out += terminal_text(table, style);
    out += fmt::format(
        "\nGeometric means of the ratio of times; mean |predicted / measured - 1| of it, with the kernels that each "
        "GPU ran,\n"
        "and what a call costs the host of the other. Errors otherwise: \"factors alone\", with the host of the "
        "first;\n"
        "\"its kernels\", those that {} ran; \"own machine\", the model with the other GPU's own machine file.\n"
        "{} shared rows are left out as too short.\n",
        proof.from, proof.short_rows);
    return out;
}

std::string proof_csv(const RatioProof& proof) {
    std::string out =
        "gpu,layer,measured_ratio,predicted_ratio,predicted_ratio_factors_alone,predicted_ratio_first_kernels,"
        "predicted_ratio_own_machine\n";
    for (const RatioRow& r : proof.rows)
        out += csv_line({r.gpu, r.layer, exact(r.measured), exact(r.predicted), exact(r.factors_alone),
                         exact(r.by_rule), exact(r.as_itself)});
    return out;
}

std::string gpu_pairs_text(const std::vector<GpuPair>& pairs, const TextStyle& style) {
    Table table({{"from", false, 100, 10},
                 {"to", false, 99, 10},
                 {"layers", false, 90},
                 {"rows", true, 80},
                 {"mean error", true, 98},
                 {"plain Roofline", true, 95}});
    double ours = 0, roofline = 0;
    for (const GpuPair& p : pairs) {
        table.add({{p.from, p.to, p.kind, count_text(p.rows), percent_text(p.error), percent_text(p.roofline_error)},
                   "",
                   {}});
        ours += p.error;
        roofline += p.roofline_error;
    }
    const double n = std::max<double>(1, static_cast<double>(pairs.size()));
    if (!pairs.empty())
        table.total = {"mean of all pairs", "", "", "", percent_text(ours / n), percent_text(roofline / n)};
    return "\nEvery pair of GPUs that share shapes: mean error of the ratio of their times, each with its own machine "
           "file\n\n" +
           terminal_text(table, style);
}

}  // namespace gambrel
