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

}  // namespace

Result<StreamedTable> estimate_rows(LayerTableReader& table, const std::string& title, const EstimatorOptions& options,
                                    const std::function<bool(const StreamedRow&)>& take) {
    Estimator estimator(options);
    estimate_detail::RowNotes notes("row");
    LayerRow row;
    StreamedTable out;
    const auto without = [&](std::string_view reason) {
        notes.add_reason(reason, [&] { return fmt::format("line {}", table.line()); });
        return take({table.cells(), table.canonical_text(), nullptr, reason});
    };
    while (!out.stopped && table.next()) {
        table.read(row);
        if (row.layers.empty()) {
            out.stopped = !without(row.reason);
            continue;
        }
        const auto figures = figures_of(estimator, row.layers);
        if (!figures) {
            out.stopped = !without(figures.error().front().what);
            continue;
        }
        for (const Layer& layer : row.layers) notes.add_layer(layer, *figures->on);
        out.stopped = !take({table.cells(), table.canonical_text(), &*figures, {}});
    }
    if (Errors wrong = table.faults(); !wrong.empty() && !out.stopped) return tl::unexpected(std::move(wrong));
    if (!notes.any() && !out.stopped) return tl::unexpected(notes.failure(title, true));
    out.notes = table.notes();
    notes.append_to(out.notes, title);
    return out;
}

}  // namespace gambrel
