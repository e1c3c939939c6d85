// A transformer's run in a few lines of text, and as JSON.
#pragma once

#include <string>

#include <gambrel/estimate.hpp>

#include "report/json_values.hpp"

namespace gambrel::report_detail {

// "decode, batch 16: time per output token 9.3 ms, 1724 tokens/s, bound by DRAM; memory fits: ...".
std::string summary_sentence(const ModelSummary& summary);
std::string summary_text(const ModelSummary& summary);
Json summary_json(const ModelSummary& summary);
// "does not fit: 81.3 of 80 GB; fits at batch 24".
std::string memory_text(const ModelSummary& summary);

}  // namespace gambrel::report_detail
