// Any bytes are a Roofline of ERT or Errors, and what is accepted gives a Machine that can be saved or Errors.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gambrel/ingest.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto roofline = gambrel::parse_ert_json(text, "roofline.json");
    if (!roofline) {
        if (roofline.error().empty()) std::abort();
        return 0;
    }
    const auto machine = gambrel::machine_from(*roofline, "roofline.json");
    if (machine && !gambrel::parse_machine(gambrel::to_json(*machine), "again.json")) std::abort();
    return 0;
}
