#include "base/huge_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gambrel::base_detail {
namespace {

TEST(HugePages, a_vector_has_its_room_and_keeps_its_elements) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}, std::size_t{3'000'000}}) {
        std::vector<std::uint64_t> numbers = {7, 8, 9};
        reserve_in_huge_pages(numbers, count);
        EXPECT_GE(numbers.capacity(), count);
        EXPECT_EQ(numbers, (std::vector<std::uint64_t>{7, 8, 9}));
        const std::uint64_t* const before = numbers.data();
        numbers.resize(std::max(count, numbers.size()));
        std::iota(numbers.begin(), numbers.end(), 1);
        EXPECT_EQ(numbers.back(), numbers.size());
        if (count > 3) {
            EXPECT_EQ(numbers.data(), before);
        }
    }
}

}  // namespace
}  // namespace gambrel::base_detail
