#include "ingest/number_text.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace gambrel::ingest_detail {
namespace {

using Kind = NumberText::Kind;

double parsed_number(std::string_view text, DecimalMark mark = DecimalMark::point) {
    const NumberText number = number_from(text, mark);
    EXPECT_EQ(number.kind, Kind::number) << text;
    EXPECT_EQ(number.length, text.size()) << text;
    return number.value;
}

TEST(NumberText, reads_thousands_separators_of_every_locale) {
    for (const auto mark : {DecimalMark::point, DecimalMark::comma}) {
        EXPECT_EQ(parsed_number("1,234,567.89", mark), 1234567.89);
        EXPECT_EQ(parsed_number("1.234.567,89", mark), 1234567.89);
        EXPECT_EQ(parsed_number("1 234 567,89", mark), 1234567.89);
        EXPECT_EQ(parsed_number("1\xC2\xA0"
                                "234\xC2\xA0"
                                "567,89",
                                mark),
                  1234567.89);
        EXPECT_EQ(parsed_number("1\xE2\x80\xAF"
                                "234\xE2\x80\xAF"
                                "567,89",
                                mark),
                  1234567.89);
        EXPECT_EQ(parsed_number("1'234'567.89", mark), 1234567.89);
        EXPECT_EQ(parsed_number("1\xE2\x80\x99"
                                "234.5",
                                mark),
                  1234.5);
        EXPECT_EQ(parsed_number("12,34,567.89", mark), 1234567.89);  // India
        EXPECT_EQ(parsed_number("1,234,567", mark), 1234567);
        EXPECT_EQ(parsed_number("1.234.567", mark), 1234567);
        EXPECT_EQ(parsed_number("1234567", mark), 1234567);
        EXPECT_EQ(parsed_number("0.5", mark), 0.5);
        EXPECT_EQ(parsed_number("0,5", mark), 0.5);
        EXPECT_EQ(parsed_number(".5", mark), 0.5);
        EXPECT_EQ(parsed_number("0,125", mark), 0.125);  // no group begins with a lone zero
        EXPECT_EQ(parsed_number("5376.25", mark), 5376.25);
        EXPECT_EQ(parsed_number("-1,234.5", mark), -1234.5);
    }
}

TEST(NumberText, lets_the_file_decide_what_a_single_separator_before_three_digits_means) {
    EXPECT_EQ(parsed_number("5,376"), 5376);
    EXPECT_EQ(parsed_number("5,376", DecimalMark::comma), 5.376);
    EXPECT_EQ(parsed_number("5.376"), 5.376);
    EXPECT_EQ(parsed_number("5.376", DecimalMark::comma), 5376);
    EXPECT_TRUE(number_from("5,376").ambiguous);
    EXPECT_FALSE(number_from("5,376").proves.has_value());
    EXPECT_EQ(number_from("5,37").proves, DecimalMark::comma);
    EXPECT_EQ(number_from("5,376.1").proves, DecimalMark::point);
    EXPECT_EQ(number_from("5,376,111").proves, DecimalMark::point);
    EXPECT_EQ(number_from("5.376.111").proves, DecimalMark::comma);
}

TEST(NumberText, reads_all_digits_of_large_and_small_numbers) {
    EXPECT_EQ(parsed_number("134,957,158,144"), 134957158144.0);
    EXPECT_EQ(parsed_number("737,869,762,948,900,000,000"), 7.378697629489e20);
    EXPECT_EQ(parsed_number("18446744073709551616"), 18446744073709551616.0);
    EXPECT_EQ(parsed_number("1,619,726,202.90"), 1619726202.90);
    EXPECT_EQ(parsed_number("0.12345678901234567"), 0.12345678901234567);
    EXPECT_EQ(parsed_number("1.5e+10"), 1.5e10);
    EXPECT_EQ(parsed_number("3.16912650057e+29"), 3.16912650057e+29);
    EXPECT_TRUE(std::isinf(parsed_number("1e999")));
}

TEST(NumberText, knows_what_is_no_number) {
    for (const std::string_view text : {"nan", "-nan", "NaN", "n/a", "N/A", "(!) nan", "(!) n/a"}) {
        EXPECT_EQ(number_from(text).kind, Kind::not_a_number) << text;
        EXPECT_TRUE(std::isnan(number_from(text).value)) << text;
    }
    EXPECT_EQ(number_from("").kind, Kind::missing);
    EXPECT_EQ(number_from("  ").kind, Kind::missing);
    EXPECT_TRUE(std::isinf(parsed_number("inf")));
    EXPECT_EQ(parsed_number("-inf"), -std::numeric_limits<double>::infinity());
    for (const std::string_view text : {"No-CC", "-", "+", "(!)", "1,2,3", "1,2345,678", "1.2.3", "1,234.5.6", "."}) {
        EXPECT_EQ(number_from(text).kind, Kind::malformed) << text;
    }
}

TEST(NumberText, leaves_the_unit_behind_the_number) {
    EXPECT_EQ(number_from("12.34GB/s").length, 5u);
    EXPECT_EQ(number_from("45.6%").length, 4u);
    EXPECT_EQ(number_from("45.6 %").length, 4u);
}

TEST(DecimalVote, is_english_unless_outvoted) {
    DecimalVote vote;
    vote.count(number_from("5,376"));
    EXPECT_TRUE(vote.open());
    EXPECT_FALSE(vote.overturns(DecimalMark::point));
    vote.count(number_from("0,25"));
    EXPECT_FALSE(vote.open());
    EXPECT_TRUE(vote.overturns(DecimalMark::point));
    vote.count(number_from("1,234.5"));
    vote.count(number_from("2.5"));
    EXPECT_FALSE(vote.overturns(DecimalMark::point));
}

TEST(DecimalVote, needs_no_second_reading_where_nothing_was_ambiguous) {
    DecimalVote vote;
    vote.count(number_from("0,25"));
    EXPECT_FALSE(vote.overturns(DecimalMark::point));
}

}  // namespace
}  // namespace gambrel::ingest_detail
