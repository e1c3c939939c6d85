// Any bytes are JSON that can be copied, printed and read field by field, or Errors; and every Error is a line of valid
// UTF-8 without control characters.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"

using namespace gambrel;
using namespace gambrel::base_detail;

namespace {

void check_text(const Errors& errors) {
    for (const Error& error : errors) {
        const std::string text = to_text(error);
        if (encode_utf8(decode_utf8(text)) != text || printable(text) != text || text.size() > 20'000) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    check_text({{text, text}});
    const auto read = parse_json(text, text);
    if (!read) {
        if (read.error().empty()) std::abort();
        check_text(read.error());
        return 0;
    }
    const nlohmann::json copy = *read;
    if (copy.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty()) std::abort();
    Errors errors;
    Fields fields(copy, "fuzz.json: ", errors);
    static_cast<void>(fields.text("name", true));
    static_cast<void>(fields.texts("list"));
    static_cast<void>(fields.amount("value"));
    static_cast<void>(fields.object("object"));
    fields.finish();
    check_text(errors);
    return 0;
}
