// Can text of an input file do harm through an error message?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/base.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

TEST(Error, text_of_a_file_reaches_the_terminal_without_control_characters) {
    const std::string hostile = "\x1b]0;owned\x07 \x1b[31m \r\n \x7f \xc2\x9b \xe2\x80\xae \xff\xfe";
    const std::string text = to_text(Error{"a\x1b.csv", "\"" + hostile + "\" is not a number"});
    for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << text;
    EXPECT_THAT(text, HasSubstr("a\\x1b.csv: \"\\x1b]0;owned\\x07 \\x1b[31m \\x0d\\n \\x7f \\x9b \\u202e"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\xff")));
    EXPECT_EQ(to_text(Errors{{"", "a\nerror: forged"}}), "a\\nerror: forged\n") << "one line each";
}

TEST(Error, a_long_quotation_is_cut_between_characters_and_keeps_its_end) {
    std::string euros;
    while (euros.size() < 1'000'000) euros += "€";
    const std::string text = to_text(Error{"f.csv", "\"" + euros + "\" is not a number"});
    EXPECT_LT(text.size(), 200u);
    EXPECT_THAT(text, testing::EndsWith("€\" is not a number"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\xef\xbf\xbd")));
}

TEST(Error, ordinary_text_is_left_as_it_is) {
    EXPECT_EQ(to_text(Error{"h100.json: µ", "3.35 TB/s · 4 %"}), "h100.json: µ: 3.35 TB/s · 4 %");
}

TEST(NearestName, of_a_key_of_megabytes_is_found_at_once) {
    const std::vector<std::string> known{"bandwidth", "capacity"};
    EXPECT_EQ(nearest_name(std::string(50'000'000, 'x'), known), "");
    EXPECT_EQ(nearest_name("bandwith", known), "bandwidth");
}

}  // namespace
}  // namespace gambrel
