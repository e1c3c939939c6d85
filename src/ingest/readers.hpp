// One reader per file format. Each takes the bytes of a whole file and gives a Profile; none opens a file.
#pragma once

#include <string>
#include <string_view>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

struct ReadRequest {
    std::string source;        // for error messages
    const MetricSet& metrics;  // wanted; all others are dropped
    KeepName keep;             // empty: keep all launches
};

// The first bytes decide: a reader is only called on what its test accepts.
bool is_ncu_report(std::string_view bytes);  // .ncu-rep, .nsight-cuprof-report
bool is_ncu_csv(std::string_view text);      // has a header line of any ncu CSV page, or lines of ncu and no table
bool is_nvprof_csv(std::string_view text);

Result<Profile> read_ncu_report(std::string_view bytes, const ReadRequest& request);
Result<Profile> read_ncu_csv(std::string_view text, const ReadRequest& request);  // raw, details, per-kernel summary
Result<Profile> read_nvprof_csv(std::string_view text, const ReadRequest& request);

}  // namespace gambrel::ingest_detail
