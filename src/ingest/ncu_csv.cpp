// The CSV pages of Nsight Compute: rows of metrics (--metrics, --page details), per-kernel summaries, and --page raw.
#include <fmt/format.h>

#include "ingest/launch_index.hpp"
#include "ingest/ncu_columns.hpp"
#include "ingest/value_reader.hpp"

namespace gambrel::ingest_detail {

namespace {

constexpr std::size_t kFiltered = static_cast<std::size_t>(-1);

bool is_ncu_header(const CsvHeader& header) { return ncu_columns(header).has_value(); }

std::optional<CsvHeader> find_ncu_header(std::string_view text, std::size_t from) {
    return find_header(text, from, "Kernel Name", is_ncu_header);
}

class NcuCsv {
public:
    NcuCsv(std::string_view text, const ReadRequest& request, DecimalMark mark)
        : request_(request),
          scanner_(text),
          text_(text),
          notes_(request.source),
          builder_(profile_, request),
          values_(request.metrics, notes_, mark) {
        profile_.source = request.source;
        profile_.tool = "ncu";
    }

    Profile read(CsvHeader header) {
        quote_errors(text_.substr(0, header.begin));
        std::optional<CsvHeader> table = std::move(header);
        while (table) {
            // IDs start again in each table: two runs may have been written into one log.
            launches_.clear();
            columns_ = *ncu_columns(*table);
            scanner_.seek(table->end);
            table = columns_.layout == NcuLayout::wide ? read_wide(*table) : read_rows(*table);
        }
        builder_.finish();
        if (text_.ends_with(',')) notes_.lose(scanner_.line_number(text_.size()), "the file ends inside this row");
        notes_.finish(profile_);
        return std::move(profile_);
    }
    [[nodiscard]] const DecimalVote& vote() const { return values_.vote(); }

private:
    std::optional<CsvHeader> read_rows(const CsvHeader& header);
    std::optional<CsvHeader> read_wide(const CsvHeader& header);
    bool next_row(const CsvHeader& header, CsvRow& row);
    bool is_header(const CsvRow& row) const;
    void read_metric(const CsvRow& row, std::size_t launch);
    std::size_t launch_of(const CsvRow& row);
    Launch launch_from(const CsvRow& row, Symbol name);
    std::vector<std::pair<std::size_t, MetricCell>> wanted_columns(const CsvHeader& header, const CsvRow& units);
    void quote_errors(std::string_view lines);

    const ReadRequest& request_;
    CsvScanner scanner_;
    std::string_view text_;
    Profile profile_;
    RowNotes notes_;
    LaunchBuilder builder_;
    ValueReader values_;
    NcuColumns columns_;
    LaunchIndex launches_;  // kFiltered: the user does not want it
};

void NcuCsv::quote_errors(std::string_view lines) {
    for (std::size_t at = lines.find("==ERROR=="); at != std::string_view::npos; at = lines.find("==ERROR==", at + 1)) {
        const std::string said = first_words(lines.substr(at));
        notes_.add_once("said " + said, fmt::format("the profiler said \"{}\"", said));
    }
}

// Brings the next record of the table into `row`; notes what is none, and passes over what the program printed.
bool NcuCsv::next_row(const CsvHeader& header, CsvRow& row) {
    while (!scanner_.at_end()) {
        const std::string_view rest = scanner_.rest();
        const bool output = header.quoted ? rest[0] != '"' : rest.starts_with("==");
        if (output) {
            // A row may follow output that did not end its line. It counts only if it is whole.
            const std::string_view line = scanner_.line();
            const std::size_t quote = line.find("\",\"") == std::string_view::npos ? line.size() : line.find('"');
            if (line.starts_with("==ERROR==")) quote_errors(line);
            CsvScanner inner(text_, scanner_.position() + quote);
            if (quote < line.size() && inner.read(row, columns_.launch_columns) &&
                row.fields.size() == columns_.count) {
                scanner_.seek(inner.position());
                return true;
            }
            scanner_.skip_line();
            continue;
        }
        const std::size_t begin = scanner_.position();
        if (!scanner_.read(row, columns_.launch_columns)) {
            notes_.lose(scanner_.line_number(begin),
                        fmt::format("row is cut off or broken: {}", scanner_.line().substr(0, 60)));
            scanner_.skip_line();
            continue;
        }
        if (row.fields.size() == 1 && row.fields[0].empty()) continue;
        if (is_header(row) || (row.fields.size() >= columns_.fewest_fields && row.fields.size() <= columns_.count))
            return true;
        const std::string what =
            fmt::format("row has {} fields, its header {}; passed over", row.fields.size(), columns_.count);
        if (scanner_.at_end() && text_.back() != '\n')
            notes_.lose(scanner_.line_number(begin), what + ". The file is cut off here");
        else
            notes_.add(scanner_.line_number(begin), what);
    }
    return false;
}

bool NcuCsv::is_header(const CsvRow& row) const {
    return row.fields[0] == "ID" || row.fields[0] == "Process ID" ||
           (row.fields.size() > columns_.name && row.fields[columns_.name] == "Kernel Name");
}

std::optional<CsvHeader> NcuCsv::read_rows(const CsvHeader& header) {
    CsvRow row;
    std::string_view prefix;  // of the row before, up to its metric: nearly always that of the next row too
    std::size_t launch = kFiltered;
    while (!scanner_.at_end()) {
        if (!prefix.empty() && scanner_.rest().starts_with(prefix)) {
            if (scanner_.read_after(row, columns_.launch_columns, prefix.size()) &&
                row.fields.size() >= columns_.fewest_fields && row.fields.size() <= columns_.count) {
                read_metric(row, launch);
                continue;
            }
            scanner_.seek(row.begin);
        }
        if (!next_row(header, row)) break;
        if (is_header(row)) {
            if (auto next = header_in_line(text_, row.begin, is_ncu_header)) return next;
            notes_.add(scanner_.line_number(row.begin), "a header of no known table; passed over");
            continue;
        }
        launch = launch_of(row);
        prefix = columns_.launch_columns > 0 ? text_.substr(row.begin, row.mark - row.begin) : std::string_view{};
        read_metric(row, launch);
    }
    return std::nullopt;
}

void NcuCsv::read_metric(const CsvRow& row, std::size_t launch) {
    if (launch == kFiltered) return;
    const std::string_view name = row.fields[columns_.metric];
    if (name.empty()) return;  // a rule's advice, not a metric
    const MetricCell& cell = values_.cell(name, columns_.unit == NcuColumns::npos ? "" : row.fields[columns_.unit]);
    const std::string_view text = row.fields[columns_.value];
    if (cell.names_device) builder_.at(launch).device = Symbol(text);
    if (cell.metric == kNoMetric) return values_.count(text);
    if (const auto value = values_.value(cell, text)) builder_.add_value(launch, cell.metric, *value);
}

std::size_t NcuCsv::launch_of(const CsvRow& row) {
    values_.begin_launch();
    const LaunchBuilder::Name& name = builder_.name(row.fields[columns_.name]);
    const auto part = [&](std::size_t column) {
        return column == NcuColumns::npos ? 0 : LaunchKey::from_text(row.fields[column]);
    };
    LaunchKey key{part(columns_.id), part(columns_.process), part(columns_.context), 0, name.symbol};
    if (columns_.layout == NcuLayout::summary) key.shape = part(columns_.grid) * 31 + part(columns_.block);
    if (const std::size_t* known = launches_.find(key)) return *known;
    if (!name.kept) builder_.count_filtered();
    const std::size_t launch = name.kept ? builder_.add(launch_from(row, name.symbol)) : kFiltered;
    launches_.add(key, launch);
    return launch;
}

Launch NcuCsv::launch_from(const CsvRow& row, Symbol name) {
    const auto field = [&](std::size_t column) {
        return column == NcuColumns::npos ? std::string_view{} : row.fields[column];
    };
    Launch launch;
    launch.name = name;
    launch.shape = shape_from(field(columns_.grid), field(columns_.block));
    launch.cc = parse_compute_capability(field(columns_.cc));
    if (columns_.device_name != NcuColumns::npos) launch.device = Symbol(field(columns_.device_name));
    for (const std::size_t column : columns_.nvtx) {
        for (const Symbol range : nvtx_ranges(field(column))) launch.nvtx.push_back(range);
    }
    if (columns_.invocations != NcuColumns::npos) {
        const NumberText times = number_from(field(columns_.invocations));
        if (times.value >= 1 && times.value < 1e15) launch.launches = static_cast<std::uint64_t>(times.value);
    }
    return launch;
}

std::vector<std::pair<std::size_t, MetricCell>> NcuCsv::wanted_columns(const CsvHeader& header, const CsvRow& units) {
    std::vector<std::pair<std::size_t, MetricCell>> wanted;
    for (std::size_t i = 0; i < header.columns.size(); ++i) {
        if (request_.metrics.find(header.columns[i]) == kNoMetric) continue;
        wanted.emplace_back(i, values_.look_up(header.columns[i], i < units.fields.size() ? units.fields[i] : ""));
    }
    return wanted;
}

std::optional<CsvHeader> NcuCsv::read_wide(const CsvHeader& header) {
    CsvRow row;
    std::vector<std::pair<std::size_t, MetricCell>> wanted;
    for (bool first = true; next_row(header, row); first = false) {
        if (is_header(row)) {
            if (auto next = header_in_line(text_, row.begin, is_ncu_header)) return next;
            notes_.add(scanner_.line_number(row.begin), "a header of no known table; passed over");
            continue;
        }
        const bool units = first && row.fields[columns_.id].empty();
        if (first) {
            wanted = wanted_columns(header, units ? row : CsvRow{});
            if (!units) notes_.add_once("no units", "no line of units under the header; base units are assumed");
        }
        if (units) continue;
        const LaunchBuilder::Name& name = builder_.name(row.fields[columns_.name]);
        if (!name.kept) {
            builder_.count_filtered();
            continue;
        }
        const std::size_t launch = builder_.add(launch_from(row, name.symbol));
        for (const auto& [column, cell] : wanted) {
            if (const auto value = values_.value(cell, row.fields[column]))
                builder_.add_value(launch, cell.metric, *value);
        }
        for (std::size_t i = 0; values_.vote().open() && i < row.fields.size(); ++i) {
            if (header.columns[i].find("__") != std::string::npos) values_.count(row.fields[i]);
        }
    }
    return std::nullopt;
}

}  // namespace

bool is_ncu_csv(std::string_view text) {
    if (looks_binary(text)) return false;
    text = without_bom(text);
    if (find_ncu_header(text, 0)) return true;
    // A log of ncu without a table is ours too: only its reader can say what ncu complained of.
    for (const std::string_view mark : {"==PROF==", "==ERROR=="}) {
        const std::size_t at = text.find(mark);
        if (at == 0 || (at != std::string_view::npos && text[at - 1] == '\n')) return true;
    }
    return false;
}

Result<Profile> read_ncu_csv(std::string_view text, const ReadRequest& request) {
    text = without_bom(text);
    const auto header = find_ncu_header(text, 0);
    if (!header) {
        const std::string said = first_words(text);
        return failure(request.source,
                       said.empty()
                           ? "is empty; expected a table of ncu --csv"
                           : fmt::format("holds no table, but \"{}\"; expected the output of ncu --csv: a header line "
                                         "with \"Kernel Name\" and \"Metric Name\", or \"ID\" for --page raw",
                                         said));
    }
    NcuCsv english(text, request, DecimalMark::point);
    Profile profile = english.read(*header);
    if (!english.vote().overturns(DecimalMark::point)) return profile;
    return NcuCsv(text, request, DecimalMark::comma).read(*header);
}

}  // namespace gambrel::ingest_detail
