// Any bytes unpack to a text within the bounds, or are Errors: no crash, no memory without bound.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/file_bytes.hpp"

using namespace gambrel::base_detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    constexpr std::size_t kLimit = 1 << 24;
    const auto text = gunzip(bytes, "fuzz.gz", kLimit);
    if (text ? text->size() > kLimit : text.error().empty()) std::abort();
    return 0;
}
