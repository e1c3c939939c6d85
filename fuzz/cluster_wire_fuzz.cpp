// Any bytes are a rank's result or Errors, and what was accepted can be sent on and summarized.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gambrel/measure.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto result = gambrel::from_wire({reinterpret_cast<const char*>(data), size});
    if (!result) {
        if (result.error().empty()) std::abort();
        return 0;
    }
    if (!gambrel::from_wire(gambrel::to_wire(*result))) std::abort();
    gambrel::cluster_summary({*result, *result, *result});
    return 0;
}
