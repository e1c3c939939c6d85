// Text of others in files: a field of CSV, a cell of Markdown. CSV is RFC 4180, but lines end with \n alone, so that
// cut and awk find no \r in the last column.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gambrel::report_detail {

// Each field quoted where it must be, and guarded against spreadsheets (base/csv_guard.hpp); valid UTF-8 without NUL,
// whatever the bytes were.
std::string csv_line(const std::vector<std::string>& fields);
// One field of such a line, at its end; commas and line ends are the caller's.
void add_csv_cell(std::string& line, std::string_view text);
// As many fields as there are columns, those beyond the cells empty.
void add_csv_cells(std::string& line, std::span<const std::string_view> cells, std::size_t columns);
// Fields that were read from CSV in which every quote stands where it is written here, too, and none looks like a
// formula. False, and nothing is added, if they are not printable ASCII.
bool add_canonical_csv(std::string& line, std::string_view fields);

// A name must not end the cell, start an element, or become emphasis or a link.
std::string markdown_escaped(std::string_view text);

}  // namespace gambrel::report_detail
