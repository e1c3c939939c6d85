#include <algorithm>

#include <fmt/format.h>

#include <gambrel/network.hpp>

#include "base/csv_table.hpp"
#include "base/file_bytes.hpp"
#include "network/layer_columns.hpp"
#include "network/layer_row.hpp"

namespace gambrel {

using namespace network_detail;
using namespace base_detail;

Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options) {
    text = without_bom(text);
    if (looks_binary(text)) return failure(source, "is not text, expected a layer table in CSV");
    CsvScanner scanner(text);
    while (!scanner.at_end() && scanner.line().empty()) scanner.skip_line();
    CsvRow record;
    if (scanner.at_end()) return failure(source, "is empty, expected a header with columns such as N,C,H,W,K,R,S");
    if (!scanner.read(record)) return failure(source + ": header", "has a quote that is not closed");

    LayerTable table;
    for (const std::string_view column : record.fields) table.columns.emplace_back(column);
    const auto columns = LayerColumns::of(table.columns, source + ": header");
    if (!columns) return tl::unexpected(columns.error());
    table.notes = columns->suspects();
    if (!options.precision && std::find(table.columns.begin(), table.columns.end(), "precision") == table.columns.end())
        table.notes.push_back(
            {source, "has no column precision: its rows are taken as fp32; --precision says otherwise"});

    while (!scanner.at_end()) {
        if (scanner.line().empty()) {
            scanner.skip_line();
            continue;
        }
        LayerRow& row = table.rows.emplace_back();
        row.line = scanner.line_number(scanner.position());
        if (!scanner.read(record)) {
            row.cells.emplace_back(scanner.line());
            row.reason = "a quote is not closed, or text follows one";
            scanner.skip_line();
            continue;
        }
        row.cells.assign(record.fields.begin(), record.fields.end());
        if (row.cells.size() != table.columns.size())
            row.reason = fmt::format("{} fields, expected {} as in the header", row.cells.size(), table.columns.size());
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
