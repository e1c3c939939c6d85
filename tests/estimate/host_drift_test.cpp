// Is host time that grows along a table found, and nothing where it does not grow?
#include <gtest/gtest.h>
#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

// Kernels of 0.3 to 2.3 ms in an order that has nothing to do with their length.
std::vector<TimedCall> calls(std::size_t count) {
    std::vector<TimedCall> all;
    for (std::size_t i = 0; i < count; ++i) {
        const Seconds kernel{(0.3 + static_cast<double>(i * 7 % 21) / 10) * 1e-3};
        all.push_back({static_cast<double>(i) / static_cast<double>(count - 1), kernel, kernel});
    }
    return all;
}
constexpr Seconds kMicrosecond{1e-6};

TEST(HostDrift, that_grows_along_the_calls_is_found) {
    auto all = calls(200);
    for (TimedCall& c : all) c.measured += 50 * kMicrosecond + c.place * 700 * kMicrosecond;
    const auto drift = host_drift(all);
    ASSERT_TRUE(drift);
    EXPECT_NEAR(drift->first / kMicrosecond, 50, 1);
    EXPECT_NEAR(drift->last / kMicrosecond, 750, 1);
    EXPECT_NEAR(drift->at(0.5) / kMicrosecond, 400, 1);
}

// Least squares would follow the tenth of the kernels that takes three times as long as predicted.
TEST(HostDrift, is_found_beside_kernels_that_are_far_off) {
    auto all = calls(200);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 10 == 3) all[i].measured *= 3;
        all[i].measured += 50 * kMicrosecond + all[i].place * 700 * kMicrosecond;
    }
    const auto drift = host_drift(all);
    ASSERT_TRUE(drift);
    EXPECT_NEAR(drift->first / kMicrosecond, 50, 15);
    EXPECT_NEAR(drift->last / kMicrosecond, 750, 15);
}

TEST(HostDrift, is_none_where_the_order_says_nothing) {
    auto all = calls(200);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].measured *= i % 2 == 0 ? 0.8 : 1.25;
    EXPECT_FALSE(host_drift(all));
}

TEST(HostDrift, needs_a_hundred_calls) {
    for (const std::size_t count : {2, 99, 100}) {
        auto all = calls(count);
        for (TimedCall& c : all) c.measured += c.place * 700 * kMicrosecond;
        EXPECT_EQ(host_drift(all).has_value(), count >= 100) << count;
    }
    EXPECT_FALSE(host_drift({}));
}

}  // namespace
}  // namespace gambrel
