// Any bytes are a Machine or Errors, and what was accepted survives a trip through its own JSON.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gambrel/machine.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto machine = gambrel::parse_machine({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!machine) {
        if (machine.error().empty()) std::abort();
        return 0;
    }
    const std::string json = gambrel::to_json(*machine);
    const auto again = gambrel::parse_machine(json, "again.json");
    if (!again || gambrel::to_json(*again) != json) std::abort();
    return 0;
}
