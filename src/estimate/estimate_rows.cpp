#include <optional>
#include <span>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "estimate/row_notes.hpp"

namespace gambrel {
namespace {

// The layers of one row together; the first that cannot be estimated speaks for all.
Result<Figures> figures_of(Estimator& estimator, const std::vector<Layer>& layers) {
    auto sum = estimator.figures(layers.front());
    for (std::size_t i = 1; i < layers.size() && sum; ++i) {
        auto next = estimator.figures(layers[i]);
        if (!next) return next;
        *sum += *next;
    }
    return sum;
}

// Rows go through reading, estimating and writing together, not one by one: the code of all three is more than the 32
// kB that a core's first cache for instructions holds, so that each row would load it again.
constexpr std::size_t kTogether = 16;

struct WaitingRow {
    LayerRow row;
    std::vector<std::string_view> cells;
    std::string_view text;
    std::size_t offset = 0;
    std::optional<Figures> figures;
    std::string reason;  // why there are none
};

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
    const auto estimate = [&](WaitingRow& w, bool last) {
        w.figures.reset();
        w.reason = w.row.reason;
        if (!w.row.layers.empty()) {
            auto figures = figures_of(estimator, w.row.layers);
            if (figures) {
                for (const Layer& layer : w.row.layers) notes.add_layer(layer, *figures->on);
                w.figures = std::move(*figures);
                return;
            }
            w.reason = figures.error().front().what;
        }
        notes.add_reason(w.reason,
                         [&] { return fmt::format("line {}", last ? table.line() : table.line_at(w.offset)); });
    };
    while (!out.stopped) {
        const std::size_t count = read_rows(table, waiting);
        if (count == 0) break;
        for (std::size_t i = 0; i < count; ++i) estimate(waiting[i], i + 1 == count);
        for (std::size_t i = 0; i < count && !out.stopped; ++i) {
            const WaitingRow& w = waiting[i];
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
