#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

constexpr bool is_in_any_case(std::string_view text, std::string_view word) {
    const auto same = [](char c, char lower) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == lower; };
    // Most names of kernels have few of the letter that the word begins with.
    for (const char first : {word.front(), static_cast<char>(word.front() - 'a' + 'A')})
        for (std::size_t at = text.find(first); at != text.npos; at = text.find(first, at + 1))
            if (const std::string_view here = text.substr(at, word.size());
                std::equal(here.begin(), here.end(), word.begin(), word.end(), same))
                return true;
    return false;
}

constexpr AlgorithmName read_algorithm(std::string_view text) {
    const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
    return {.implicit_gemm = has("IMPLICIT_GEMM"),
            .precomputed = has("PRECOMP"),
            .written_out = has("GEMM") && !has("IMPLICIT"),
            .fft = has("FFT"),
            .tiling = has("TILING"),
            .winograd = has("WINOGRAD"),
            .nonfused = has("NONFUSED"),
            .says_winograd = is_in_any_case(text, "winograd"),
            .says_nonfused = is_in_any_case(text, "nonfused")};
}

// Nearly all rows have one of these names, which are read when this is compiled.
constexpr auto kRead = [] {
    std::array<AlgorithmName, kAlgorithmNames.size()> read{};
    std::transform(kAlgorithmNames.begin(), kAlgorithmNames.end(), read.begin(), read_algorithm);
    return read;
}();

}  // namespace

bool has_in_any_case(std::string_view text, std::string_view word) { return is_in_any_case(text, word); }

AlgorithmName parse_algorithm(std::string_view name) {
    if (name.empty()) return {};
    for (std::size_t i = 0; i < kRead.size(); ++i)
        if (name == kAlgorithmNames[i]) return kRead[i];
    return read_algorithm(name);
}

}  // namespace gambrel::mapping_detail
