// Any bytes are a Baseline that its own file gives again, or Errors.
#include <cstdint>
#include <cstdlib>

#include <gambrel/compare.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto baseline = gambrel::parse_baseline({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!baseline) {
        if (baseline.error().empty()) std::abort();
        return 0;
    }
    const std::string json = gambrel::to_json(*baseline);
    const auto again = gambrel::parse_baseline(json, "again.json");
    if (!again || gambrel::to_json(*again) != json) std::abort();
    return 0;
}
