// Which columns an nvprof table has and which kind of table they make. Columns are found by name. It reads no rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/csv_table.hpp"

namespace gambrel::ingest_detail {

using namespace base_detail;

enum class NvprofTable : std::uint8_t {
    metrics,  // one row per kernel and metric or event, with averages
    timing,   // one row per kernel, copy or API call, with averages; units in the row under the header
    trace,    // one row per launch or copy
};

struct NvprofColumns {
    static constexpr std::size_t npos = CsvHeader::npos;
    NvprofTable table = NvprofTable::metrics;
    std::size_t count = 0;
    std::size_t name = npos, device = npos, times = npos, metric = npos, average = npos, type = npos, duration = npos;
    std::array<std::size_t, 6> shape{npos, npos, npos, npos, npos, npos};  // grid x y z, block x y z
};

std::optional<NvprofColumns> nvprof_columns(const CsvHeader& header);

// The name of the metric whose description heads a column of a trace; what is not a description is a name already.
std::string_view nvprof_metric(std::string_view column);

}  // namespace gambrel::ingest_detail
