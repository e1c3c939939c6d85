// Static: can the wrong formula be written? Unit: text to quantity and back, and what is refused.
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/units.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

template <class A, class B>
concept Adds = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept Subtracts = requires(A a, B b) {
    a - b;
};
template <class A, class B>
concept Compares = requires(A a, B b) {
    a < b;
};
template <class A, class B>
concept Assigns = requires(A a, B b) {
    a = b;
};

static_assert(Adds<Bytes, Bytes> && Adds<Flops, Flops>);
static_assert(!Adds<Bytes, Flops> && !Subtracts<Bytes, Flops> && !Compares<Bytes, Flops> && !Assigns<Bytes, Flops>);
static_assert(!Adds<Seconds, Cycles> && !Compares<Seconds, Cycles>);
static_assert(!Adds<Bytes, double> && !Assigns<Bytes, double> && !Compares<Bytes, double>);
static_assert(!Assigns<double, Bytes> && !std::is_convertible_v<Bytes, double>);
static_assert(!Adds<Bandwidth, FlopRate> && !Adds<Bandwidth, BytesPerCycle> && !Adds<FlopRate, FlopPerCycle>);

static_assert(std::is_same_v<decltype(Bandwidth{} * Intensity{}), FlopRate>);
static_assert(std::is_same_v<decltype(Flops{} / Bytes{1}), Intensity>);
static_assert(std::is_same_v<decltype(Flops{} / Seconds{1}), FlopRate>);
static_assert(std::is_same_v<decltype(Bytes{} / Bandwidth{1}), Seconds>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes{1}), double>);
static_assert(std::is_same_v<decltype(Cycles{} / Frequency{1}), Seconds>);
static_assert(std::is_same_v<decltype(Seconds{} * Frequency{1}), Cycles>);
static_assert(std::is_same_v<decltype(BytesPerCycle{} * Frequency{1}), Bandwidth>);
static_assert(std::is_same_v<decltype(FlopPerCycle{} * Frequency{1}), FlopRate>);
static_assert(Bytes{3} + Bytes{4} == Bytes{7} && Bytes{3} - Bytes{4} == Bytes{-1});
static_assert(Bytes{3} * 2.0 == Bytes{6} && 2.0 * Bytes{3} == Bytes{6} && Bytes{3} / 2.0 == Bytes{1.5});
static_assert(Bandwidth{10} * Intensity{4} == FlopRate{40} && Bytes{10} / Bytes{4} == 2.5);

template <class Q>
double parsed(std::string_view text) {
    const auto q = parse_quantity<Q>(text);
    EXPECT_TRUE(q) << text << ": " << (q ? "" : q.error());
    return q ? q->value() : std::nan("");
}
template <class Q>
std::string fault(std::string_view text) {
    const auto q = parse_quantity<Q>(text);
    EXPECT_FALSE(q) << text << " read as " << q->value();
    return q ? "" : q.error();
}

TEST(Units, every_prefix_has_its_value) {
    EXPECT_EQ(parsed<Bandwidth>("1 kB/s"), 1e3);
    EXPECT_EQ(parsed<Bandwidth>("1 MB/s"), 1e6);
    EXPECT_EQ(parsed<Bandwidth>("900 GB/s"), 900e9);
    EXPECT_EQ(parsed<FlopRate>("1 TFLOP/s"), 1e12);
    EXPECT_EQ(parsed<FlopRate>("1 PFLOP/s"), 1e15);
    EXPECT_EQ(parsed<Seconds>("1 ms"), 1e-3);
    EXPECT_EQ(parsed<Seconds>("1 us"), 1e-6);
    EXPECT_EQ(parsed<Seconds>("1 ns"), 1e-9);
    EXPECT_EQ(parsed<Seconds>("1 ps"), 1e-12);
    EXPECT_EQ(parsed<Frequency>("1530 MHz"), 1.53e9);
    EXPECT_EQ(parsed<Cycles>("28 cycle"), 28);
    EXPECT_EQ(parsed<BytesPerCycle>("128 B/cycle"), 128);
    EXPECT_EQ(parsed<FlopPerCycle>("1024 FLOP/cycle"), 1024);
    EXPECT_EQ(parsed<Intensity>("0.25 FLOP/B"), 0.25);
}

TEST(Units, a_gibibyte_is_no_gigabyte) {
    EXPECT_EQ(parsed<Bytes>("1 GB"), 1e9);
    EXPECT_EQ(parsed<Bytes>("1 GiB"), 1073741824.0);
    EXPECT_EQ(parsed<Bytes>("1 TiB"), 1099511627776.0);
    EXPECT_EQ(parsed<Bytes>("6 MiB"), 6 * 1048576.0);
    EXPECT_EQ(parsed<Bytes>("128 KiB"), 131072.0);
    fault<Bandwidth>("1 GiB/s");  // binary prefixes are for capacities
    fault<Flops>("1 GiFLOP");
}

TEST(Units, blanks_around_number_and_unit_do_not_matter) {
    EXPECT_EQ(parsed<Bytes>("  16GB "), 16e9);
    EXPECT_EQ(parsed<Bytes>("1.6e1   GB"), 16e9);
}

TEST(Units, a_number_without_a_unit_is_refused_and_told_what_to_write) {
    EXPECT_THAT(fault<Bandwidth>("3.35"), testing::AllOf(HasSubstr("\"3.35\" has no unit"), HasSubstr("3.35 TB/s")));
    EXPECT_THAT(fault<Bandwidth>("GB/s"), HasSubstr("does not start with a number"));
    EXPECT_THAT(fault<Bandwidth>(""), HasSubstr("does not start with a number"));
}

TEST(Units, the_unit_of_another_quantity_is_refused) {
    EXPECT_THAT(fault<Bandwidth>("900 GFLOP/s"), HasSubstr("unit"));
    for (const char* text : {"1 GB", "1 B/cycle", "1 FLOP/B", "1 Hz"}) fault<Bandwidth>(text);
    for (const char* text : {"1 GB/s", "1 cycle", "1 GFLOP/s", "1 Hz"}) fault<Seconds>(text);
    for (const char* text : {"1 FLOP", "1 FLOP/B", "1 GB/s", "1 Gb"}) fault<Bytes>(text);
}

TEST(Units, prefixes_that_cannot_be_meant_are_refused) {
    for (const char* text : {"1530 mHz", "1 KHz", "1 Mhz", "1 XHz", "1 GGHz"}) fault<Frequency>(text);
    for (const char* text : {"1 mB", "1 KB", "1 gB", "1 GiiB"}) fault<Bytes>(text);
    for (const char* text : {"1 ks1", "1 Kis", "1 Us"}) fault<Seconds>(text);
}

TEST(Units, a_number_that_is_not_finite_is_refused_before_and_after_its_prefix) {
    for (const char* text : {"inf B", "nan B", "-inf B", "1e400 B", "1e300 PB"}) fault<Bytes>(text);
}

TEST(Units, text_has_the_digits_asked_for_and_the_largest_prefix_that_fits) {
    EXPECT_EQ(to_text(Bandwidth{897.024e9}), "897 GB/s");
    EXPECT_EQ(to_text(FlopRate{15.6672e12}), "15.67 TFLOP/s");
    EXPECT_EQ(to_text(FlopRate{15.6672e12}, 3), "15.7 TFLOP/s");
    EXPECT_EQ(to_text(Seconds{4.2e-6}), "4.2 us");
    EXPECT_EQ(to_text(Seconds{1e-9}), "1 ns");
    EXPECT_EQ(to_text(Seconds{12.5}), "12.5 s");
    EXPECT_EQ(to_text(Seconds{0}), "0 s");
    EXPECT_EQ(to_text(Frequency{1530e6}), "1.53 GHz");
    EXPECT_EQ(to_text(Intensity{0.25}), "0.25 FLOP/B");
    EXPECT_EQ(to_text(FlopPerCycle{1024}), "1024 FLOP/cycle");
    EXPECT_EQ(to_text(Bytes{0.5}), "0.5 B");
    EXPECT_EQ(to_text(Bandwidth{-2e9}), "-2 GB/s");
}

TEST(Units, what_rounds_to_a_thousand_takes_the_next_prefix) {
    EXPECT_EQ(to_text(Bandwidth{999.94e9}), "999.9 GB/s");
    EXPECT_EQ(to_text(Bandwidth{999.96e9}), "1 TB/s");
    EXPECT_EQ(to_text(Bandwidth{999.4e9}, 3), "999 GB/s");
    EXPECT_EQ(to_text(Bandwidth{999.6e9}, 3), "1 TB/s");
    EXPECT_EQ(to_text(Seconds{999.96e-9}), "1 us");
    // Exactly between: either neighbour, but never "1000 GB/s".
    EXPECT_THAT(to_text(Bandwidth{999.95e9}), testing::AnyOf("999.9 GB/s", "1 TB/s", "0.9999 TB/s"));
}

TEST(Units, text_reads_back_to_what_it_shows) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-12, 17), mantissa(1, 10);
    for (int i = 0; i < 20000; ++i) {
        const double v = mantissa(random) * std::pow(10.0, std::floor(exponent(random)));
        const double back = parsed<Seconds>(to_text(Seconds{v}));
        ASSERT_NEAR(back, v, v * 0.51e-3) << to_text(Seconds{v});
    }
}

template <class Q>
void exact_text_reads_back(std::mt19937_64& random) {
    std::uniform_real_distribution<double> exponent(-15, 18), mantissa(1, 10);
    for (int i = 0; i < 3000; ++i) {
        const double v = mantissa(random) * std::pow(10.0, exponent(random));
        ASSERT_EQ(parsed<Q>(exact_text(Q{v})), v) << exact_text(Q{v});
    }
    for (const double v : {0.0, 1.0, 999.95, 1e-9, 0.1, 1e22, 877e6, 2996.77e9, 898.048e9})
        ASSERT_EQ(parsed<Q>(exact_text(Q{v})), v) << exact_text(Q{v});
}

TEST(Units, exact_text_reads_back_to_the_same_double) {
    std::mt19937_64 random(2);
    exact_text_reads_back<Bytes>(random);
    exact_text_reads_back<Seconds>(random);
    exact_text_reads_back<Bandwidth>(random);
    exact_text_reads_back<FlopRate>(random);
    exact_text_reads_back<Frequency>(random);
    exact_text_reads_back<BytesPerCycle>(random);
    exact_text_reads_back<FlopPerCycle>(random);
    exact_text_reads_back<Cycles>(random);
    EXPECT_EQ(exact_text(Bandwidth{900e9}), "900 GB/s");
    EXPECT_EQ(exact_text(FlopRate{15.7e12}), "15.7 TFLOP/s");
    EXPECT_EQ(exact_text(Seconds{1e-9}), "1 ns");
}

TEST(Units, binary_text_is_for_whole_binary_sizes_only) {
    EXPECT_EQ(binary_text(Bytes{16 * 1073741824.0}), "16 GiB");
    EXPECT_EQ(binary_text(Bytes{131072}), "128 KiB");
    EXPECT_EQ(binary_text(Bytes{5.5 * 1048576}), "5.5 MiB");
    EXPECT_EQ(binary_text(Bytes{2816 * 1024.0}), "2.75 MiB");
    EXPECT_EQ(binary_text(Bytes{32}), "32 B");
    EXPECT_EQ(binary_text(Bytes{0}), "0 B");
    // 1e9 = 2^9 5^9 is a whole number of quarter KiB; nobody would know it as 976562.5 KiB.
    EXPECT_EQ(binary_text(Bytes{1e9}), "1 GB");
    EXPECT_EQ(binary_text(Bytes{16e9}), "16 GB");
}

}  // namespace
}  // namespace gambrel
