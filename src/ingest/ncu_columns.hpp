// Which columns an ncu table has and which of ncu's three layouts they make. Columns are found by name, in any order.
// It reads no rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/csv_table.hpp"
#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

using namespace base_detail;

enum class NcuLayout : std::uint8_t {
    rows,     // --page details, or --metrics: one row per launch and metric
    summary,  // --print-summary per-kernel: one row per kernel and metric, with averages
    wide,     // --page raw: one row per launch, one column per metric, units in the row under the header
};

struct NcuColumns {
    static constexpr std::size_t npos = CsvHeader::npos;
    NcuLayout layout = NcuLayout::rows;
    std::size_t count = 0;
    std::size_t id = npos, process = npos, context = npos, name = npos, block = npos, grid = npos, cc = npos;
    std::size_t metric = npos, unit = npos, value = npos, invocations = npos, device_name = npos;
    std::vector<std::size_t> nvtx;
    // Rows of metrics end before the rule columns, with fewer fields than the header (details page, 2025).
    std::size_t fewest_fields = 0;
    // The columns before this one tell the launch and no others do; 0 if the order of columns mixes the two.
    std::size_t launch_columns = 0;
};

std::optional<NcuColumns> ncu_columns(const CsvHeader& header);

// The ranges in a cell of an NVTX column: 1  "<default domain>:forward:none:none:none:none:none:none"  "...", outermost
// first.
std::vector<Symbol> nvtx_ranges(std::string_view cell);

}  // namespace gambrel::ingest_detail
