// The data of a page: one JSON document that the scripts in web/ draw from. Rows are columns of numbers, because ten
// thousand kernels as objects would be twice the bytes. docs/formats.md does not describe it: page and data are one
// file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <gambrel/report.hpp>

namespace gambrel::report_detail {

// Of the data; data of another schema is not read back.
inline constexpr std::string_view kPageSchema = "gambrel-page-2";

nlohmann::ordered_json page_document(const PageInput& input);
// The rows of an analysis as columns; page_rows.cpp. `order` gives, for each line of the page, the row of the analysis;
// absent: a line without one (unmatched in a comparison).
nlohmann::ordered_json page_rows(const Analysis& analysis, const std::vector<std::optional<std::size_t>>& order);

// Layers and machines as numbers for the model inside the page; the catalogue in that form. page_model.cpp.
nlohmann::ordered_json page_model_json(const PageModel& model);
nlohmann::ordered_json page_catalogue();

// What ran when in a trace, in a bounded number of boxes. page_timeline.cpp.
nlohmann::ordered_json page_timeline(const Analysis& analysis);

// Bytes before against bytes after, a mark for each pair and level; without series if there is none. page_compare.cpp.
Chart traffic_chart(const Comparison& comparison);

}  // namespace gambrel::report_detail
