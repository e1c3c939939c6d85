#include <optional>
#include <span>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "estimate/row_notes.hpp"

namespace gambrel {
namespace {

// Rows go through reading, planning, estimating and writing together, not one by one: the code of all four is more than
// the 32 kB that a core's first cache for instructions holds, so that each row would load it again.
constexpr std::size_t kTogether = 16;

struct WaitingRow {
    LayerRow row;
    std::vector<std::string_view> cells;
    std::string_view text;
    std::size_t offset = 0;
    std::vector<PlannedLayer> planned;
    std::optional<Figures> figures;
    std::string reason;  // why there are none
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
    w.figures.reset();
    for (std::size_t i = 0; i < w.planned.size() && w.reason.empty(); ++i) {
        auto next = estimator.figures(w.planned[i]);
        if (!next)
            w.reason = next.error().front().what;
        else if (w.figures)
            *w.figures += *next;
        else
            w.figures = std::move(*next);
    }
    if (!w.reason.empty()) w.figures.reset();
}

// Up to `waiting.size()` rows, the last of which alone does not stay; how many.
std::size_t read_rows(LayerTableReader& table, std::span<WaitingRow> waiting) {
    std::size_t count = 0;
    while (count < waiting.size() && table.next()) {
        WaitingRow& w = waiting[count++];
        table.read(w.row);
        w.cells.assign(table.cells().begin(), table.cells().end());
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
        if (w.figures)
            for (const Layer& layer : w.row.layers) notes.add_layer(layer, *w.figures->on);
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
            out.stopped = !take({w.cells, w.text, w.figures ? &*w.figures : nullptr, w.reason});
        }
    }
    if (Errors wrong = table.faults(); !wrong.empty() && !out.stopped) return tl::unexpected(std::move(wrong));
    if (!notes.any() && !out.stopped) return tl::unexpected(notes.failure(title, true));
    out.notes = table.notes();
    notes.append_to(out.notes, title);
    return out;
}

}  // namespace gambrel
