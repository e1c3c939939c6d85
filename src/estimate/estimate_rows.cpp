#include <span>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "estimate/row_notes.hpp"

namespace gambrel {
namespace {

// Rows go through reading, planning, estimating and writing together, not one by one: the code of all four is more than
// the 32 kB that a core's first cache for instructions holds, so that each row would load it again.
constexpr std::size_t kTogether = 32;

struct WaitingRow {
    LayerRow row;
    std::vector<std::string_view> cells;
    std::string_view text;
    std::size_t offset = 0;
    std::vector<PlannedLayer> planned;
    bool estimated = false;
    Figures figures, of_next_layer;
    std::string reason;  // why it is not estimated
};

// The first layer that cannot be planned speaks for all.
void plan(Estimator& estimator, WaitingRow& w) {
    w.reason = w.row.reason;
    w.planned.resize(w.row.layers.size());
    for (std::size_t i = 0; i < w.planned.size() && w.reason.empty(); ++i)
        if (const Errors wrong = estimator.plan(w.row.layers[i], w.planned[i]); !wrong.empty())
            w.reason = wrong.front().what;
}

// The layers of one row together; the first that cannot be estimated speaks for all.
void estimate(const Estimator& estimator, WaitingRow& w) {
    w.estimated = false;
    for (std::size_t i = 0; i < w.planned.size() && w.reason.empty(); ++i) {
        Figures& shown = w.estimated ? w.of_next_layer : w.figures;
        if (const Errors wrong = estimator.figures(w.planned[i], shown); !wrong.empty())
            w.reason = wrong.front().what;
        else if (w.estimated)
            w.figures += w.of_next_layer;
        else
            w.estimated = true;
    }
    if (!w.reason.empty()) w.estimated = false;
}

// Up to `waiting.size()` rows, the last of which alone does not stay; how many.
std::size_t read_rows(LayerTableReader& table, std::span<WaitingRow> waiting) {
    std::size_t count = 0;
    while (count < waiting.size() && table.next()) {
        WaitingRow& w = waiting[count++];
        table.read(w.row);
        table.take_cells(w.cells);
        w.text = table.canonical_text();
        w.offset = table.offset();
        if (!table.stays()) break;
    }
    return count;
}

}  // namespace

Result<StreamedTable> estimate_rows(LayerTableReader& table, const std::string& title, const EstimatorOptions& options,
                                    const std::function<bool(const StreamedRow&)>& take) {
    Estimator estimator(options);
    estimate_detail::RowNotes notes("row");
    std::vector<WaitingRow> waiting(kTogether);
    StreamedTable out;
    const auto note = [&](const WaitingRow& w, bool last) {
        // The machine is that of the first layer, as in the figures.
        if (w.estimated)
            for (const Layer& layer : w.row.layers) notes.add_layer(layer, *w.figures.on);
        else
            notes.add_reason(w.reason,
                             [&] { return fmt::format("line {}", last ? table.line() : table.line_at(w.offset)); });
    };
    while (!out.stopped) {
        const std::size_t count = read_rows(table, waiting);
        if (count == 0) break;
        const std::span<WaitingRow> rows(waiting.data(), count);
        for (WaitingRow& w : rows) plan(estimator, w);
        for (WaitingRow& w : rows) estimate(estimator, w);
        for (std::size_t i = 0; i < count && !out.stopped; ++i) {
            const WaitingRow& w = rows[i];
            note(w, i + 1 == count);
            out.stopped = !take({w.cells, w.text, w.estimated ? &w.figures : nullptr, w.reason});
        }
    }
    if (Errors wrong = table.faults(); !wrong.empty() && !out.stopped) return tl::unexpected(std::move(wrong));
    if (!notes.any() && !out.stopped) return tl::unexpected(notes.failure(title, true));
    out.notes = table.notes();
    notes.append_to(out.notes, title);
    return out;
}

}  // namespace gambrel
