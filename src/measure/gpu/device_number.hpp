// The N of "cuda:N" and "opencl:N".
#pragma once

#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <gambrel/base.hpp>

namespace gambrel::measure_detail {

// "" is the first device. Errors name what was found and how many devices there are.
inline Result<std::size_t> device_number(std::string_view kind, std::string_view text, std::size_t count) {
    if (count == 0) return failure(std::string(kind), "no device was found");
    std::size_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = text.empty() || (code == std::errc{} && end == text.data() + text.size());
    if (!whole || number >= count)
        return failure("--device", fmt::format("\"{}:{}\" is not there; expected {}:0 to {}:{}", kind, text, kind, kind,
                                               count - 1));
    return number;
}

}  // namespace gambrel::measure_detail
