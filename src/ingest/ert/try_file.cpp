#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/ingest.hpp>

namespace gambrel {
namespace {

// Exactly five numbers between blanks or tabs; anything else is not a line of a sweep.
bool numbers_of(std::string_view line, std::array<double, 5>& values) {
    std::size_t count = 0;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (true) {
        while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
        if (at == end) return count == values.size();
        if (count == values.size()) return false;
        const auto parsed = std::from_chars(at, end, values[count]);
        if (parsed.ec != std::errc{} || !std::isfinite(values[count])) return false;
        at = parsed.ptr;
        if (at != end && *at != ' ' && *at != '\t' && *at != '\r') return false;
        ++count;
    }
}

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Result<std::vector<ErtLine>> parse_ert_try(std::string_view text, std::string_view source_name) {
    std::vector<ErtLine> lines;
    std::string precision;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(text.substr(at, end - at));
        at = end + 1;
        ++number;
        if (line == "META_DATA") break;
        if (line == "fp16" || line == "fp32" || line == "fp64") precision = line;
        std::array<double, 5> v{};
        if (!numbers_of(line, v)) continue;
        if (!(v[0] > 0 && v[1] > 0 && v[2] >= 0 && v[3] >= 0 && v[4] >= 0))
            return failure(fmt::format("{}: line {}", source_name, number),
                           fmt::format("\"{}\": expected working set and trials above zero, then microseconds, bytes "
                                       "and FLOP, none negative",
                                       line));
        if (v[2] == 0) continue;  // shorter than the tick of the clock: it says nothing, and real files have such lines
        lines.push_back({precision, v[0], v[1], v[2], v[3], v[4]});
    }
    if (lines.empty())
        return failure(
            std::string(source_name),
            "holds no line of a sweep; expected ERT's try.NNN: working set, trials, microseconds, bytes, FLOP");
    return lines;
}

}  // namespace gambrel
