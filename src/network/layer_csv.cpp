#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <gambrel/network.hpp>

#include "base/csv_guard.hpp"
#include "base/csv_table.hpp"
#include "base/text_window.hpp"
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
    TextWindow window;
    std::string source;
    LayerTableOptions options;
    CsvScanner scanner{{}};
    std::size_t lines_dropped = 0;  // before the window
    std::vector<std::string> header{};
    LayerColumns columns{};
    Errors notes{};
    CsvRow record{};
    std::size_t begin = 0;              // of the record in the window
    std::optional<std::size_t> line{};  // of the record, if the window has moved on since
    std::string reason{};               // why the record has no cells that could be read; empty: it has
    RowMemo memo{};

    // The window is filled up to kAhead when less than kLow is left. A record that does not fit gets kLongestRecord.
    static constexpr std::size_t kLow = std::size_t{1} << 14, kAhead = std::size_t{1} << 18,
                                 kLongestRecord = std::size_t{8} << 20;

    std::size_t line_number() { return line ? *line : lines_dropped + scanner.line_number(begin); }

    void advance(std::size_t ahead) {
        if (window.reaches_end()) return window.forget_before(scanner.position());
        line = line_number();
        const std::size_t at = scanner.position();
        lines_dropped += scanner.line_number(at) - 1;
        window.advance(at, ahead);
        scanner = CsvScanner(window.text());
    }

    // To a line that is not empty; false at the end.
    bool seek_record() {
        while (true) {
            if (window.reaches_end() || scanner.rest().size() < kLow) advance(kAhead);
            if (scanner.at_end()) return false;
            if (!scanner.at_empty_line()) return true;
            scanner.skip_line();
        }
    }

    // False, and the cursor stays, if it is not a record.
    bool scan() {
        begin = scanner.position();
        line.reset();
        bool good = scanner.read(record);
        if (window.reaches_end() || (good && !scanner.at_end())) return good;
        // It may go on behind the window.
        scanner.seek(begin);
        advance(kLongestRecord);
        begin = scanner.position();
        line.reset();
        good = scanner.read(record);
        if (!good || window.reaches_end() || !scanner.at_end()) return good;
        scanner.seek(begin);
        return false;
    }

    void skip_line() {
        while (!window.reaches_end() && scanner.rest().find('\n') == std::string_view::npos) {
            scanner.seek(window.text().size());
            advance(kAhead);
        }
        scanner.skip_line();
    }

    void read_record() {
        reason.clear();
        if (!scan()) {
            record.unescaped.assign(1, std::string(scanner.line().substr(0, 1000)));
            record.fields.assign(1, record.unescaped.front());
            reason = "a quote is not closed, text follows one, or the row is too long";
            skip_line();
            return;
        }
        if (!record.canonical)
            for (std::string_view& field : record.fields)
                if (field.starts_with('\'')) field = csv_unguarded(field);
        if (const std::size_t fields = record.fields.size(); fields != header.size()) {
            record.fields.resize(std::min(fields, header.size()));
            reason = fmt::format("{} fields, expected {} as in the header", fields, header.size());
        }
    }
};

LayerTableReader::LayerTableReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LayerTableReader::LayerTableReader(LayerTableReader&&) noexcept = default;
LayerTableReader& LayerTableReader::operator=(LayerTableReader&&) noexcept = default;
LayerTableReader::~LayerTableReader() = default;

Result<LayerTableReader> LayerTableReader::open(std::unique_ptr<State> state) {
    State& s = *state;
    s.window.advance(0, State::kAhead);
    const std::string_view text = s.window.text();
    if (looks_binary(text)) return failure(s.source, "is not text, expected a layer table in CSV");
    s.scanner = CsvScanner(text, text.size() - without_bom(text).size());
    const bool found = s.seek_record();
    if (!s.window.fault().empty() && !found) return failure(s.source, s.window.fault());
    if (!found) return failure(s.source, "is empty, expected a header with columns such as N,C,H,W,K,R,S");
    const bool read = s.scan();
    if (!s.window.fault().empty() && s.scanner.at_end()) return failure(s.source, s.window.fault());
    if (!read) return failure(s.source + ": header", "has a quote that is not closed, or too many fields");

    s.header.assign(s.record.fields.begin(), s.record.fields.end());
    auto columns = LayerColumns::of(s.header, s.source + ": header");
    if (!columns) return tl::unexpected(columns.error());
    s.columns = std::move(*columns);
    s.notes = s.columns.suspects();
    if (!s.options.precision && std::find(s.header.begin(), s.header.end(), "precision") == s.header.end())
        s.notes.push_back(
            {s.source, "has no column precision: its rows are taken as fp32; --precision says otherwise"});
    return LayerTableReader(std::move(state));
}

Result<LayerTableReader> LayerTableReader::open(std::string_view text, const std::string& source,
                                                const LayerTableOptions& options) {
    return open(std::make_unique<State>(State{TextWindow(text), source, options}));
}

Result<LayerTableReader> LayerTableReader::open_file(const std::string& path, const LayerTableOptions& options) {
    auto window = TextWindow::open(path);
    if (!window) return tl::unexpected(window.error());
    return open(std::make_unique<State>(State{std::move(*window), path, options}));
}

const std::vector<std::string>& LayerTableReader::columns() const { return state_->header; }
const Errors& LayerTableReader::notes() const { return state_->notes; }
std::span<const std::string_view> LayerTableReader::cells() const { return state_->record.fields; }
void LayerTableReader::take_cells(std::vector<std::string_view>& cells) {
    cells.clear();
    cells.swap(state_->record.fields);
}
std::size_t LayerTableReader::line() const { return state_->line_number(); }
std::size_t LayerTableReader::offset() const { return state_->begin; }
std::size_t LayerTableReader::line_at(std::size_t offset) const {
    return state_->lines_dropped + state_->scanner.line_number(offset);
}
bool LayerTableReader::stays() const { return state_->window.reaches_end() && state_->record.unescaped.empty(); }

std::string_view LayerTableReader::canonical_text() const {
    return state_->record.canonical && state_->reason.empty() ? state_->record.text : std::string_view();
}

Errors LayerTableReader::faults() const {
    if (state_->window.fault().empty()) return {};
    return {{state_->source, state_->window.fault()}};
}

bool LayerTableReader::next() {
    if (!state_->seek_record()) return false;
    state_->read_record();
    // The last row before a fault may be cut short, in the middle of a number.
    return state_->window.fault().empty() || !state_->scanner.at_end();
}

void LayerTableReader::read(LayerRow& row) const {
    if (state_->reason.empty()) {
        row.reason.clear();
        return read_row(row, {cells(), canonical_text()}, state_->columns, state_->options, state_->memo);
    }
    row.reason = state_->reason;
    row.layers.clear();
}

namespace {

Result<LayerTable> table_of(Result<LayerTableReader> reader, const std::string& source) {
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
    if (Errors wrong = reader->faults(); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return table;
}

}  // namespace

Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options) {
    return table_of(LayerTableReader::open(text, source, options), source);
}

Result<LayerTable> load_layer_table(const std::string& path, const LayerTableOptions& options) {
    return table_of(LayerTableReader::open_file(path, options), path);
}

}  // namespace gambrel
