// The same kernels measured, modelled and simulated: a table of errors, and a view of the page.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

constexpr std::array<ValidatedQuantity, 4> kQuantities = {ValidatedQuantity::l1, ValidatedQuantity::l2,
                                                          ValidatedQuantity::dram, ValidatedQuantity::time};
constexpr std::array<EstimateSource, 2> kSources = {EstimateSource::gambrel, EstimateSource::simulated};

std::string_view said_by(EstimateSource source) { return source == EstimateSource::simulated ? "sim" : "model"; }

TableCell error_cell(std::optional<double> error) {
    if (!error) return {"", {}};
    return {fmt::format("{:+.1f} %", 100 * *error), *error};
}

struct MeanError {
    double sum = 0;
    int kernels = 0;
};
MeanError mean_error(const JoinedStudy& s, ValidatedQuantity q, EstimateSource source) {
    MeanError mean;
    for (const JoinedKernel& k : s.kernels)
        if (const auto error = k.error(s.run, q, source)) mean.sum += std::fabs(*error), ++mean.kernels;
    return mean;
}

double time_of(const JoinedStudy& s, bool measured) {
    double sum = 0;
    for (const JoinedKernel& k : s.kernels) {
        const auto at = measured ? k.measured : std::optional(k.modelled);
        if (at && s.run.kernels[*at].time) sum += s.run.kernels[*at].time->value.value();
    }
    return sum;
}

std::string errors_text(const JoinedStudy& s, EstimateSource source) {
    std::string text;
    for (const ValidatedQuantity q : kQuantities)
        if (const MeanError mean = mean_error(s, q, source); mean.kernels > 0)
            text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name(q), 100 * mean.sum / mean.kernels);
    return text;
}

std::string answer_of(const JoinedStudy& s) {
    const std::string what = fmt::format("{} convolution kernels", s.kernels.size());
    if (!s.is_measured)
        return fmt::format(
            "{}: {} modelled. Nothing measured was given: gambrel reproduce joined ROWS.csv takes rows with the "
            "columns "
            "l1_bytes, l2_bytes, dram_bytes and time_us.",
            what, to_text(Seconds{time_of(s, false)}, 3));
    return fmt::format("{}: {} measured, {} modelled. Mean error of the model: {}; of the simulation: {}.", what,
                       to_text(Seconds{time_of(s, true)}, 3), to_text(Seconds{time_of(s, false)}, 3),
                       errors_text(s, EstimateSource::gambrel), errors_text(s, EstimateSource::simulated));
}

Table errors_table(const JoinedStudy& s) {
    Table table;
    table.title = "Model and simulation against the counters";
    table.columns = {{"Kernel", false, 9, 26}, {"Time", true, 8}};
    for (const EstimateSource source : kSources)
        for (const ValidatedQuantity q : kQuantities)
            if (source == EstimateSource::gambrel || q != ValidatedQuantity::time)
                table.columns.push_back(
                    {fmt::format("{} {}", said_by(source), name(q)), true, source == EstimateSource::gambrel ? 6 : 5});
    for (const JoinedKernel& k : s.kernels) {
        const Kernel& shown = s.run.kernels[k.measured.value_or(k.modelled)];
        const double time = shown.time ? shown.time->value.value() : 0;
        TableRow row{{{k.name, {}}, {to_text(Seconds{time}, 3), time}}, "", {}};
        for (const EstimateSource source : kSources)
            for (const ValidatedQuantity q : kQuantities)
                if (source == EstimateSource::gambrel || q != ValidatedQuantity::time)
                    row.cells.push_back(error_cell(k.error(s.run, q, source)));
        table.add(std::move(row));
    }
    if (s.left_out > 0)
        table.notes.push_back(fmt::format("{} shorter kernels are left out; --top N takes more.", s.left_out));
    table.notes.emplace_back("The simulation counts bytes and no cycles: its points have the time beside it.");
    return table;
}

template <class Q>
std::string cell(const Known<Q>& amount) {
    return amount ? fmt::format("{}", amount->value.value()) : "";
}

}  // namespace

std::string joined_text(const JoinedStudy& s, const TextStyle& style) {
    const Table table = errors_table(s);
    std::string text;
    for (const std::string& line : wrapped(answer_of(s), style.width, 0)) text += line + "\n";
    text += "\n" + terminal_text(table, style);
    for (const std::string& note : table.notes)
        for (const std::string& line : wrapped(note, style.width, 0)) text += line + "\n";
    return text;
}

std::string joined_csv(const JoinedStudy& s) {
    std::string out = "kernel,origin,time_s,flop,l1_bytes,l2_bytes,dram_bytes\n";
    for (const Kernel& k : s.run.kernels) {
        const auto work = flop(k);
        out += csv_line({k.name.str(), k.phase.str(), cell(k.time), cell(work), cell(k.bytes[Level::l1]),
                         cell(k.bytes[Level::l2]), cell(k.bytes[Level::dram])});
    }
    return out;
}

PageView joined_view(const JoinedStudy& s, const Analysis& analysis) {
    PageView view;
    view.title = "Measured, modelled, simulated";
    view.analysis = &analysis;
    view.answer = answer_of(s);
    view.side_by_side = true;
    if (s.is_measured) view.tables.push_back(errors_table(s));
    view.layers = page_layers(s.modelled);
    view.model = page_model(s.modelled);
    std::size_t i = 0;
    for (const JoinedKernel& k : s.kernels) {
        if (i < view.layers.size()) view.layers[i].row = k.modelled;
        if (view.model && i < view.model->layers.size()) view.model->layers[i].row = k.modelled;
        ++i;
    }
    return view;
}

}  // namespace gambrel
