#include "app/streamed_table.hpp"

#include <filesystem>

#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"

namespace gambrel::app {
namespace {

bool is_csv(const std::string& path) { return std::filesystem::path(path).extension() == ".csv"; }

std::string csv_target(const OutputFlags& output) { return output.csv.empty() ? output.files.front() : output.csv; }

}  // namespace

bool can_stream(const NetworkFlags& network, const OutputFlags& output) {
    if (network.layers.empty() || !network.network.empty() || output.shows_text() || !output.json.empty()) return false;
    return output.csv.empty() ? output.files.size() == 1 && is_csv(output.files.front()) : output.files.empty();
}

int stream_table(const NetworkFlags& network, const EstimatorOptions& options, const OutputFlags& output,
                 const std::string& machine) {
    const auto request = request_of(network);
    if (!request) return bad_input(request.error());
    LayerTableOptions table_options;
    table_options.precision = request->precision;
    table_options.names = false;  // no message and no column of CSV has them
    auto table = LayerTableReader::open_file(request->table, table_options);
    if (!table) return bad_input(table.error());
    if (!output.quiet) print_notes(machine_notes(machine));

    const InterruptGuard interrupt;
    const EstimateRowsCsv csv(table->columns(), options.method);
    StreamedOutput out(csv_target(output), output);
    out.text = csv.heading();
    bool written = true;
    const std::string title = std::filesystem::path(request->table).filename().string();
    const auto done = estimate_rows(*table, title, options, [&](const StreamedRow& row) {
        csv.add(out.text, row);
        // Until then the answer may be that there is none.
        if (row.figures) out.begin();
        written = out.flush_some();
        return written && !InterruptGuard::asked();
    });
    if (!done && !table->faults().empty()) {
        Errors wrong = done.error();
        wrong.push_back(out.left_behind());
        return bad_input(wrong);
    }
    if (!done) return bad_input(done.error());
    if (!written) return kBadInput;
    if (done->stopped) {
        const Error left = out.left_behind();
        return bad_input({{"interrupted: " + left.where, left.what}});
    }
    if (!output.quiet) print_notes(done->notes);
    return out.finish() ? kDone : kBadInput;
}

}  // namespace gambrel::app
