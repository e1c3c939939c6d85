// Any bytes are kernels with finite amounts of 0 or more, or Errors; what was accepted survives a trip through our
// JSON.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gambrel/report.hpp>

#include "ingest/result_json.hpp"

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto read = ingest_detail::read_result_json(text, "fuzz.json", {});
    if (!read) {
        if (read.error().empty()) std::abort();
        return 0;
    }
    for (const Kernel& k : read->run.kernels) {
        if (k.launches == 0) std::abort();
        if (k.time && !(std::isfinite(k.time->value.value()) && k.time->value.value() >= 0)) std::abort();
    }
    AnalysisOptions options;
    options.grouping = Grouping::launch;
    const std::size_t rows = read->run.kernels.size();
    const std::string json_text = json(analysis(std::move(read->run), options));
    const auto again = ingest_detail::read_result_json(json_text, "again.json", {});
    if (!again || again->run.kernels.size() != rows) std::abort();
    return 0;
}
