#include <algorithm>

#include <fmt/format.h>

#include <gambrel/network.hpp>

#include "base/csv_guard.hpp"
#include "base/csv_table.hpp"
#include "base/file_bytes.hpp"
#include "network/layer_columns.hpp"
#include "network/layer_row.hpp"

namespace gambrel {

using namespace network_detail;
using namespace base_detail;

namespace {

// Rows are kept, with all their cells: some 40 bytes for a cell and 1 kB for a layer.
constexpr std::size_t kMostRows = 500'000, kMostCells = 10'000'000;

}  // namespace

Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options) {
    text = without_bom(text);
    if (looks_binary(text)) return failure(source, "is not text, expected a layer table in CSV");
    CsvScanner scanner(text);
    while (!scanner.at_end() && scanner.line().empty()) scanner.skip_line();
    CsvRow record;
    if (scanner.at_end()) return failure(source, "is empty, expected a header with columns such as N,C,H,W,K,R,S");
    if (!scanner.read(record))
        return failure(source + ": header", "has a quote that is not closed, or too many fields");

    LayerTable table;
    for (const std::string_view column : record.fields) table.columns.emplace_back(column);
    const auto columns = LayerColumns::of(table.columns, source + ": header");
    if (!columns) return tl::unexpected(columns.error());
    table.notes = columns->suspects();
    if (!options.precision && std::find(table.columns.begin(), table.columns.end(), "precision") == table.columns.end())
        table.notes.push_back(
            {source, "has no column precision: its rows are taken as fp32; --precision says otherwise"});

    std::size_t cells = 0;
    while (!scanner.at_end()) {
        if (scanner.line().empty()) {
            scanner.skip_line();
            continue;
        }
        cells += table.columns.size();
        if (table.rows.size() == kMostRows || cells > kMostCells)
            return failure(source,
                           fmt::format("holds more than {} rows of {} cells; the limit is {} rows and {} cells. "
                                       "Divide the table",
                                       table.rows.size(), table.columns.size(), kMostRows, kMostCells));
        LayerRow& row = table.rows.emplace_back();
        row.line = scanner.line_number(scanner.position());
        if (!scanner.read(record)) {
            row.cells.emplace_back(scanner.line().substr(0, 1000));
            row.reason = "a quote is not closed, text follows one, or there are too many fields";
            scanner.skip_line();
            continue;
        }
        const std::size_t fields = record.fields.size();
        record.fields.resize(std::min(fields, table.columns.size()));
        row.cells.reserve(record.fields.size());
        for (const std::string_view field : record.fields) row.cells.emplace_back(base_detail::csv_unguarded(field));
        if (fields != table.columns.size())
            row.reason = fmt::format("{} fields, expected {} as in the header", fields, table.columns.size());
        else
            read_row(row, *columns, options);
    }
    return table;
}

Result<LayerTable> load_layer_table(const std::string& path, const LayerTableOptions& options) {
    const auto bytes = FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return read_layer_table(bytes->view(), path, options);
}

}  // namespace gambrel
