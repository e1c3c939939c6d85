// Collects what is wrong with a shape, as sentences.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace gambrel::network_detail {

// Larger ones are typing errors, and below them no product of three overflows 64 bits silently: gemm_view relies on it.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;
inline constexpr double kMostElements = 0x1p53;  // beyond, a double no longer counts one by one

class Check {
public:
    void range(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
        if (value < least || value > most)
            found_.push_back(fmt::format("{} is {}, expected {} to {}", what, value, least, most));
    }
    void elements(std::string_view what, std::initializer_list<std::int64_t> dims) {
        double product = 1;
        for (const std::int64_t dim : dims) product *= static_cast<double>(dim);
        if (product > kMostElements)
            found_.push_back(fmt::format("{} has {:.3g} elements, expected at most 2^53", what, product));
    }
    void fault(std::string text) { found_.push_back(std::move(text)); }
    [[nodiscard]] bool clean() const { return found_.empty(); }
    std::vector<std::string> take() { return std::move(found_); }

private:
    std::vector<std::string> found_;
};

}  // namespace gambrel::network_detail
