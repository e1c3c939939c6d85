#include "chart/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include <gambrel/report.hpp>

#include "report/golden.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

// What the terminal would show: without the escapes that the report itself writes for colour.
std::string without_colors(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b')
            i = text.find('m', i);
        else
            out += text[i];
    }
    return out;
}

void expect_fits(const std::string& text, int width, const char* what) {
    std::istringstream in(without_colors(text));
    for (std::string line; std::getline(in, line);)
        ASSERT_LE(display_width(line), width) << what << " at width " << width << ": " << line;
}

const std::vector<std::string> kHostile{"\x1b[2J\x1b[31mred",
                                        "line\nbreak\r\ttab",
                                        "\xc2\x9b"
                                        "31m C1",
                                        "\xff\xfe\x80 broken",
                                        "\xe2\x80\xae"
                                        "reversed",
                                        "核函数_卷积_前向传播_非常长的名字_很长很长很长很长很长很长",
                                        "e\xcc\x81 combining",
                                        std::string("nul\0l", 5),
                                        std::string(5000, 'x'),
                                        "<script>alert('x')</script>",
                                        "a&b\"c'd",
                                        ""};

Analysis hostile() {
    std::vector<Kernel> kernels;
    double time = 1;
    for (const auto& name : kHostile)
        kernels.push_back(sample::kernel({name, 3, time *= 0.8, 1e9, 0, 0, 0, 1e9, 1e9, name}));
    auto a = sample::analysis_of(kernels, sample::toy_machine(), "title \x1b[1m\n" + kHostile[8]);
    for (auto& row : a.rows) row.kernel.reasons.push_back(row.kernel.name);
    for (const auto& k : kernels) a.phases.push_back({k.phase, k, 1, Seconds{0.1}});
    a.notes.push_back({"file\x1b[0m", std::string(300, 'y')});
    return a;
}

TEST(TextTable, of_the_training_step_is_as_recorded) {
    for (const int width : {60, 100, 160}) {
        TextStyle style;
        style.width = width;
        sample::expect_golden(fmt::format("training_{}.txt", width), text_table(sample::training(), style));
    }
}

TEST(TextTable, explains_each_row) {
    TextStyle style;
    style.explain = true;
    sample::expect_golden("toy_explain.txt", text_table(sample::toy(), style));
}

TEST(TextTable, never_exceeds_its_width) {
    const auto analyses = {sample::toy(), sample::training(), sample::many(80), hostile(), Analysis{}};
    for (const auto& a : analyses)
        for (int width = 40; width <= 200; width += width < 60 ? 1 : 3)
            for (const bool plain : {false, true}) {
                TextStyle style;
                style.width = width, style.unicode = !plain, style.color = width % 2 == 0,
                style.explain = width % 7 == 0;
                expect_fits(text_table(a, style), width, "table");
            }
}

TEST(TextTable, keeps_the_verdict_when_narrow) {
    TextStyle style;
    style.width = 40;
    const std::string text = text_table(sample::toy(), style);
    EXPECT_NE(text.find("% roof"), std::string::npos);
    EXPECT_NE(text.find("time [s]"), std::string::npos);
    EXPECT_NE(text.find("DRAM"), std::string::npos);
}

TEST(TextTable, counts_the_rows_that_it_does_not_show) {
    TextStyle style;
    style.max_rows = 10;
    const std::string text = text_table(sample::many(47), style);
    EXPECT_NE(text.find("... 37 more kernels, "), std::string::npos) << text;
    EXPECT_NE(text.find("--csv - has all"), std::string::npos);
}

TEST(TextTable, states_the_census_of_zero_flop_kernels) {
    TextStyle style;
    style.width = 140;
    EXPECT_NE(
        text_table(sample::training(), style)
            .find("zero-FLOP kernels: 2 of 12 names, 212 of 767 launches (27.6 %), 18.1 ms (11.8 % of time), DRAM 12"),
        std::string::npos);
}

TEST(TextTable, lets_no_name_inject_an_escape_or_break_a_line) {
    for (const bool unicode : {true, false}) {
        TextStyle style;
        style.unicode = unicode, style.explain = true;
        for (const auto& text : {text_table(hostile(), style), terminal_chart(hostile(), style)}) {
            EXPECT_EQ(text.find('\x1b'), std::string::npos);
            EXPECT_EQ(text.find('\r'), std::string::npos);
            EXPECT_EQ(text.find('\t'), std::string::npos);
            EXPECT_EQ(text.find('\0'), std::string::npos);
            EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
            EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
            EXPECT_EQ(encode_utf8(decode_utf8(text)), text) << "not valid UTF-8";
            for (const char c : text) {
                ASSERT_TRUE(unicode || c == '\n' || (c >= ' ' && c <= '~')) << text;
            }
        }
    }
}

TEST(TerminalChart, of_the_training_step_is_as_recorded) {
    TextStyle style;
    style.width = 80;
    sample::expect_golden("training_chart_80.txt", terminal_chart(sample::training(), style));
    style.unicode = false;
    sample::expect_golden("training_chart_80_ascii.txt", terminal_chart(sample::training(), style));
}

TEST(TerminalChart, never_exceeds_its_width) {
    for (const auto& a : {sample::toy(), sample::training(), sample::many(80), hostile(), Analysis{}})
        for (int width = 40; width <= 200; width += 5)
            for (const bool unicode : {false, true}) {
                TextStyle style;
                style.width = width, style.unicode = unicode, style.color = width % 2 == 0;
                expect_fits(terminal_chart(a, style), width, "chart");
            }
}

TEST(Text, counts_columns_as_a_terminal_does) {
    EXPECT_EQ(display_width("abc"), 3);
    EXPECT_EQ(display_width("核函数"), 6);
    EXPECT_EQ(display_width("e\xcc\x81"), 1);
    EXPECT_EQ(truncated("核函数", 4), "核…");
    EXPECT_EQ(truncated("abcdef", 4), "abc…");
    EXPECT_EQ(truncated("abcdef", 4, true), "ab..");
}

TEST(Text, replaces_each_broken_part_of_utf8) {
    EXPECT_EQ(decode_utf8("\xc0\xaf"), U"\uFFFD\uFFFD");            // overlong
    EXPECT_EQ(decode_utf8("\xed\xa0\x80"), U"\uFFFD\uFFFD\uFFFD");  // a surrogate
    EXPECT_EQ(decode_utf8("a\xe2\x82"), U"a\uFFFD");                // cut short
    EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80"), U"\U0001F600");
}

TEST(Text, wraps_between_words_and_cuts_words_that_are_too_long) {
    EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrapped("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
    EXPECT_EQ(wrapped("", 10), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace gambrel
