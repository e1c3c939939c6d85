// Remainders without a long division: are they those of the standard library to the last bit?
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

TEST(Remainder, of_counts_is_that_of_fmod) {
    EXPECT_EQ(remainder_of(17, 5), 2);
    EXPECT_EQ(remainder_of(15, 5), 0);
    EXPECT_EQ(remainder_of(4, 5), 4);
    std::mt19937_64 random(1);
    for (int i = 0; i < 200'000; ++i) {
        const double size = 1 + static_cast<double>(random() >> (24 + random() % 40));
        const double value = static_cast<double>(random() >> (24 + random() % 40));
        ASSERT_EQ(remainder_of(value, size), std::fmod(value, size)) << value << " " << size;
    }
}

TEST(Remainder, of_large_numbers_and_fractions_is_that_of_fmod) {
    for (const double value : {7.5, 0x1p60, 0x1p40 - 1, 1e18 + 4096})
        for (const double size : {0.75, 3.0, 0x1p39 + 1, 1e17})
            EXPECT_EQ(remainder_of(value, size), std::fmod(value, size));
}

}  // namespace
}  // namespace gambrel::delta_detail
