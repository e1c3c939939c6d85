// Fields and lines of CSV files: RFC 4180, but lines end with \n alone, so that cut and awk find no \r in the last
// column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gambrel::report_detail {

// Quoted only where it must be; valid UTF-8 whatever the bytes were.
std::string csv_field(std::string_view text);
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace gambrel::report_detail
