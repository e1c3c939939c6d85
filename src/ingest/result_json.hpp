// gambrel's own results read back: the JSON of an analysis, whatever command wrote it, to kernels and machines.
// Verdicts and totals in it are computed again, not believed. A field that is not known is skipped: a later version may
// add some.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/ingest.hpp>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

bool is_result_json(std::string_view text);
// Launches are the rows of the result; the machines are those it carries, in full if it does.
struct SavedResult {
    Run run;
    std::uint64_t filtered_launches = 0;
};
Result<SavedResult> read_result_json(std::string_view text, const std::string& source, const KeepName& keep);

}  // namespace gambrel::ingest_detail
