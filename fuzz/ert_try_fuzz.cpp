// Any bytes are lines of a sweep, which can be summarized, or Errors.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gambrel/ingest.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = gambrel::parse_ert_try(text, "try.001");
    if (!lines) {
        if (lines.error().empty()) std::abort();
        return 0;
    }
    const auto summary = gambrel::ert_summary(*lines);
    if (summary && summary->gbytes.empty()) std::abort();
    for (const auto& point : gambrel::ert_sweep(*lines))
        if (point.rates.empty()) std::abort();
    return 0;
}
