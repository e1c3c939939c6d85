// RFC 4180 records over text in memory, mixed with lines that are not records, such as what the profiled program
// printed. Invariant: fields are views into the text; only a field with doubled quotes is copied. A record that does
// not parse costs its first line and no more, so one stray quote cannot swallow the rest of the file. It knows no
// profiler.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gambrel::base_detail {

struct CsvRow {
    std::vector<std::string_view> fields;  // valid until the row is read again
    std::size_t begin = 0;                 // where its text begins
    std::size_t mark = 0;                  // where the field `mark_column` begins, 0 if the row has no such field
    std::deque<std::string> unescaped;     // the fields that held doubled quotes
    std::string_view text;                 // of a row that was read as a whole, without its line end
    // Written as CSV its fields give that text again, if all of it is printable ASCII: those that must be quoted are,
    // no other is, and none is guarded or looks like a formula (base/csv_guard.hpp).
    bool canonical = false;
};

class CsvScanner {
public:
    explicit CsvScanner(std::string_view text, std::size_t position = 0) : text_(text), at_(position) {}

    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
    [[nodiscard]] std::string_view line() const;  // the physical line at the cursor, without its end
    [[nodiscard]] bool at_empty_line() const { return text_[at_] <= '\r' && line().empty(); }  // not at the end
    void skip_line();
    void seek(std::size_t position) { at_ = position; }

    // Reads the record at the cursor. False, and the cursor stays, if a quote is never closed or text follows one, or
    // if there are more than 100,000 fields.
    bool read(CsvRow& row, std::size_t mark_column = 0);
    // Reads the rest of a record whose first `columns` fields are, byte for byte, those of the row read before.
    bool read_after(CsvRow& row, std::size_t columns, std::size_t bytes);

    // The number of the line that holds `position`, from 1. Positions must not fall from call to call.
    std::size_t line_number(std::size_t position);

private:
    bool read_fields(CsvRow& row, std::size_t at, std::size_t mark_column);
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t counted_to_ = 0, lines_ = 1;
};

struct CsvHeader {
    std::vector<std::string> columns;
    std::size_t begin = 0, end = 0;  // in the text; `end` is behind the line end
    bool quoted = false;             // begins with a quote, as do then all rows that a profiler writes

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    [[nodiscard]] std::size_t find(std::string_view column) const;  // npos if it has none
    [[nodiscard]] bool has(std::string_view column) const { return find(column) != npos; }
};

using AcceptHeader = std::function<bool(const CsvHeader&)>;
// The first line from `from` on that holds `needle` and whose fields `accept` takes. Program output without a line end
// may stand before it on the same line.
std::optional<CsvHeader> find_header(std::string_view text, std::size_t from, std::string_view needle,
                                     const AcceptHeader& accept);
// The header that begins in this one line, if any.
std::optional<CsvHeader> header_in_line(std::string_view text, std::size_t line_begin, const AcceptHeader& accept);

std::string_view without_bom(std::string_view text);
// A nul byte near the start: an archive or a database, whatever strings it may hold.
bool looks_binary(std::string_view text);

}  // namespace gambrel::base_detail
