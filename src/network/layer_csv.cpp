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

// Rows that are kept, with all their cells: some 40 bytes for a cell and 1 kB for a layer.
constexpr std::size_t kMostRows = 500'000, kMostCells = 10'000'000;

}  // namespace

struct LayerTableReader::State {
    CsvScanner scanner;
    LayerTableOptions options;
    std::vector<std::string> header;
    LayerColumns columns;
    Errors notes;
    CsvRow record;
    std::size_t begin = 0;
    std::string reason;  // why the record has no cells that could be read; empty: it has
    RowMemo memo;

    void read_record() {
        begin = scanner.position();
        reason.clear();
        if (!scanner.read(record)) {
            record.fields.assign(1, scanner.line().substr(0, 1000));
            reason = "a quote is not closed, text follows one, or there are too many fields";
            scanner.skip_line();
            return;
        }
        const std::size_t fields = record.fields.size();
        record.fields.resize(std::min(fields, header.size()));
        for (std::string_view& field : record.fields)
            if (field.starts_with('\'')) field = csv_unguarded(field);
        if (fields != header.size())
            reason = fmt::format("{} fields, expected {} as in the header", fields, header.size());
    }
};

LayerTableReader::LayerTableReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LayerTableReader::LayerTableReader(LayerTableReader&&) noexcept = default;
LayerTableReader& LayerTableReader::operator=(LayerTableReader&&) noexcept = default;
LayerTableReader::~LayerTableReader() = default;

Result<LayerTableReader> LayerTableReader::open(std::string_view text, const std::string& source,
                                                const LayerTableOptions& options) {
    text = without_bom(text);
    if (looks_binary(text)) return failure(source, "is not text, expected a layer table in CSV");
    CsvScanner scanner(text);
    while (!scanner.at_end() && scanner.at_empty_line()) scanner.skip_line();
    CsvRow record;
    if (scanner.at_end()) return failure(source, "is empty, expected a header with columns such as N,C,H,W,K,R,S");
    if (!scanner.read(record))
        return failure(source + ": header", "has a quote that is not closed, or too many fields");

    std::vector<std::string> header(record.fields.begin(), record.fields.end());
    auto columns = LayerColumns::of(header, source + ": header");
    if (!columns) return tl::unexpected(columns.error());
    Errors notes = columns->suspects();
    if (!options.precision && std::find(header.begin(), header.end(), "precision") == header.end())
        notes.push_back({source, "has no column precision: its rows are taken as fp32; --precision says otherwise"});
    return LayerTableReader(std::make_unique<State>(
        State{scanner, options, std::move(header), std::move(*columns), std::move(notes), {}, 0, {}, {}}));
}

const std::vector<std::string>& LayerTableReader::columns() const { return state_->header; }
const Errors& LayerTableReader::notes() const { return state_->notes; }
std::span<const std::string_view> LayerTableReader::cells() const { return state_->record.fields; }
std::size_t LayerTableReader::line() const { return state_->scanner.line_number(state_->begin); }
std::size_t LayerTableReader::position() const { return state_->scanner.position(); }

bool LayerTableReader::next() {
    CsvScanner& scanner = state_->scanner;
    while (!scanner.at_end() && scanner.at_empty_line()) scanner.skip_line();
    if (scanner.at_end()) return false;
    state_->read_record();
    return true;
}

void LayerTableReader::read(LayerRow& row) const {
    row.reason = state_->reason;
    if (row.reason.empty())
        read_row(row, cells(), state_->columns, state_->options, state_->memo);
    else
        row.layers.clear();
}

Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options) {
    auto reader = LayerTableReader::open(text, source, options);
    if (!reader) return tl::unexpected(reader.error());
    LayerTable table;
    table.columns = reader->columns();
    table.notes = reader->notes();
    std::size_t cells = 0;
    while (reader->next()) {
        cells += table.columns.size();
        if (table.rows.size() == kMostRows || cells > kMostCells)
            return failure(source,
                           fmt::format("holds more than {} rows of {} cells; the limit is {} rows and {} cells. "
                                       "Divide the table, or ask for CSV alone (--csv F --quiet), which keeps no rows",
                                       table.rows.size(), table.columns.size(), kMostRows, kMostCells));
        LayerRow& row = table.rows.emplace_back();
        row.line = reader->line();
        row.cells.assign(reader->cells().begin(), reader->cells().end());
        reader->read(row);
    }
    return table;
}

Result<LayerTable> load_layer_table(const std::string& path, const LayerTableOptions& options) {
    const auto bytes = FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return read_layer_table(bytes->view(), path, options);
}

}  // namespace gambrel
