// Collects what is wrong with a shape, as sentences.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace gambrel::network_detail {

// Larger ones are typing errors, and below them no product of three overflows 64 bits silently: gemm_view relies on it.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;
inline constexpr double kMostElements = 0x1p53;  // beyond, a double no longer counts one by one

// Every row of a table is checked and few have a fault, so that a check is a comparison in place.
class Check {
public:
    void range(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
        if (value < least || value > most) [[unlikely]]
            out_of_range(what, value, least, most);
    }
    void elements(const char* what, std::initializer_list<std::int64_t> dims) {
        double product = 1;
        for (const std::int64_t dim : dims) product *= static_cast<double>(dim);
        if (product > kMostElements) [[unlikely]]
            too_many(what, product);
    }
    void fault(std::string text) { found_.push_back(std::move(text)); }
    [[nodiscard]] bool clean() const { return found_.empty(); }
    std::vector<std::string> take() { return std::move(found_); }

private:
    [[gnu::noinline]] void out_of_range(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
        found_.push_back(fmt::format("{} is {}, expected {} to {}", what, value, least, most));
    }
    [[gnu::noinline]] void too_many(const char* what, double elements) {
        found_.push_back(fmt::format("{} has {:.3g} elements, expected at most 2^53", what, elements));
    }
    std::vector<std::string> found_;
};

}  // namespace gambrel::network_detail
