#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include <gambrel/version.hpp>

#include "base/csv_guard.hpp"
#include "report/fields.hpp"
#include "report/golden.hpp"
#include "report/numbers.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

// A reader of RFC 4180, for tests only.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows{{""}};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"')
                rows.back().back() += c;
            else if (i + 1 < text.size() && text[i + 1] == '"')
                rows.back().back() += '"', ++i;
            else
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            rows.back().emplace_back();
        } else if (c == '\n') {
            rows.push_back({""});
        } else {
            rows.back().back() += c;
        }
    }
    rows.pop_back();
    return rows;
}

Analysis with_names(const std::vector<std::string>& names) {
    std::vector<Kernel> kernels;
    double time = 1;
    for (const auto& name : names) kernels.push_back(sample::kernel({name, 1, time /= 2, 1e9, 0, 0, 0, 1e9, 1e9}));
    return sample::analysis_of(kernels, sample::toy_machine(), "names");
}

TEST(Csv, of_the_training_step_is_as_recorded) { sample::expect_golden("training.csv", csv(sample::training())); }

TEST(Csv, has_the_columns_of_the_contract_and_one_row_per_group) {
    const auto rows = read_csv(csv(sample::toy()));
    ASSERT_EQ(rows.size(), 4u);
    const std::vector<std::string> header{"name",         "phase",        "launches",        "time_s", "flop_fp64",
                                          "flop_fp32",    "flop_fp16",    "flop_tensor",     "flop",   "l1_bytes",
                                          "l2_bytes",     "dram_bytes",   "ai_l1",           "ai_l2",  "ai_dram",
                                          "flop_per_s",   "bound",        "percent_of_roof", "reason", "headroom_s",
                                          "step_speedup", "operator",     "module",          "rank",   "origin_time",
                                          "origin_bytes", "nearest_roof", "roof_basis",      "why"};
    EXPECT_EQ(rows[0], header);
    for (const auto& row : rows) EXPECT_EQ(row.size(), header.size());
    // triad: 2e9 FLOP and 8e9 B in 1 s on 10 GB/s.
    EXPECT_EQ(rows[1], (std::vector<std::string>{"triad",
                                                 "",
                                                 "10",
                                                 "1",
                                                 "",
                                                 "2000000000",
                                                 "0",
                                                 "0",
                                                 "2000000000",
                                                 "",
                                                 "",
                                                 "8000000000",
                                                 "",
                                                 "",
                                                 "0.25",
                                                 "2000000000",
                                                 "DRAM",
                                                 "80",
                                                 "",
                                                 "0.19999999999999996",
                                                 "1.129032258064516",
                                                 "",
                                                 "",
                                                 "",
                                                 "measured",
                                                 "measured",
                                                 "DRAM",
                                                 "counters",
                                                 ""}));
}

TEST(Csv, reads_back_names_with_commas_quotes_and_lines) {
    const std::vector<std::string> names{"a,b", "say \"x\"", "two\nlines", "cr\rhere", "f<int, float>(T*)", "\"", ""};
    const auto rows = read_csv(csv(with_names(names)));
    ASSERT_EQ(rows.size(), names.size() + 1);
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(rows[i + 1][0], names[i]);
}

// Letters beyond ASCII take a longer way, which decodes the text.
TEST(Csv, fields_that_were_read_from_csv_are_copied_together_where_nothing_in_them_changes) {
    for (const std::string fields : {"a", "gemm,64,,32", "0123456,8", "a name of seventeen,~ ", "\"a,b\",c"}) {
        std::string line = "x,";
        EXPECT_TRUE(report_detail::add_canonical_csv(line, fields));
        EXPECT_EQ(line, "x," + fields);
    }
    // Wherever in the text they stand.
    for (const char odd : {'\t', '\n', '\x7f', '\xc3', '\0'})
        for (std::size_t at = 0; at < 20; ++at) {
            std::string line = "x,", fields(20, 'a');
            fields[at] = odd;
            EXPECT_FALSE(report_detail::add_canonical_csv(line, fields)) << at;
            EXPECT_EQ(line, "x,");
        }
}

TEST(Csv, plain_text_is_quoted_as_text_beyond_ascii_is) {
    std::vector<std::string> texts{"a", "a,b", "\"", "\"\"", "say \"x\"", "=1,2", "'a", "-\"", "f<int, (char)7>(T*)"};
    const std::string letters = "abcdefghijklmnopqrs";
    for (std::size_t i = 0; i <= letters.size(); ++i)
        for (const char* odd : {"\"", ",", "\"\"", ",\"", "\n", "\x7f", "\t,"})
            texts.push_back(std::string(letters).insert(i, odd));
    for (const std::string& text : texts) {
        std::string cell, longer;
        report_detail::add_csv_cell(cell, text);
        report_detail::add_csv_cell(longer, text + "\u00e9");
        const std::size_t at = longer.find("\u00e9");
        ASSERT_NE(at, std::string::npos);
        EXPECT_EQ(cell, longer.erase(at, 2));
    }
}

TEST(Csv, numbers_read_back_to_the_same_double) {
    auto a = sample::toy();
    a.rows[0].kernel.time->value = Seconds{0.1 + 0.2};
    EXPECT_EQ(std::strtod(read_csv(csv(a))[1][3].c_str(), nullptr), 0.1 + 0.2);
}

TEST(Csv, numbers_are_spelled_as_fmt_spells_them) {
    const auto check = [](double value) { EXPECT_EQ(report_detail::exact(value), fmt::format("{}", value)); };
    for (const double value : {0.0, -0.0, 1.0, -7.0, 268435456.0, 999999999999999.0, 1e15, 1e16, 0x1p62, 0.5, 1e-7,
                               57.41, 1.0000000000000002, 99999999.5, 100000000.5, 999999999999999.9})
        check(value);
    // Beyond 2^49 a quarter is between two numbers of one decimal that both read back to it: the even one.
    for (const double value : {0x1p49 + 0.25, 0x1p49 + 0.75, 0x1p49 + 1.25, 999999999999999.125, 999999999999999.875})
        check(value);
    // Up to 17 digits before and behind the point, and halves and quarters, which have few behind it.
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bits = random();
        const double share = static_cast<double>(bits >> 11) * 0x1p-53;
        check(share * std::pow(10.0, static_cast<double>(bits % 20) - 3));
        check(static_cast<double>(bits >> (bits % 60)));
        check(static_cast<double>(bits >> (20 + bits % 40)) / 4);
    }
    EXPECT_EQ(report_detail::exact(std::numeric_limits<double>::infinity()), "");
}

TEST(Csv, leaves_unknown_empty_and_joins_reasons_and_findings) {
    auto a = sample::toy();
    a.rows[0].kernel.time.reset();
    a.rows[0].kernel.reasons = {Symbol("no time"), Symbol("two metrics differ")};
    a.rows[0].verdict = {};
    a.rows[0].verdict.findings = {"not judged"};
    const auto row = read_csv(csv(a))[1];
    EXPECT_EQ(row[3], "");
    EXPECT_EQ(row[15], "");
    EXPECT_EQ(row[16], "");
    EXPECT_EQ(row[17], "");
    EXPECT_EQ(row[18], "no time; two metrics differ; not judged");
}

TEST(Csv, a_name_like_a_formula_is_not_run_by_a_spreadsheet_and_reads_back) {
    for (const std::string name :
         {"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=x", "''-y", "'plain", "-5", "it's"}) {
        const auto a =
            sample::analysis_of({sample::kernel({name, 1, 1, 1e9, 0, 0, 0, 1e9})}, sample::toy_machine(), "t");
        const std::string field = read_csv(csv(a))[1][0];
        EXPECT_EQ(base_detail::csv_unguarded(field), name);
        EXPECT_EQ(std::string_view("=+-@\t\r").find(field[0]) != std::string_view::npos, name == "-5") << field;
    }
}

TEST(Csv, holds_no_nul_byte) {
    const auto a = sample::analysis_of({sample::kernel({std::string("a\0b", 3), 1, 1, 1e9, 0, 0, 0, 1e9})},
                                       sample::toy_machine(), "t");
    EXPECT_EQ(csv(a).find('\0'), std::string::npos);
}

TEST(Json, of_the_toy_is_as_recorded) {
    std::string text = json(sample::toy());
    const std::string version = std::string("\"") + kVersion + "\"";  // a release must not change a golden
    text.replace(text.find(version), version.size(), "\"VERSION\"");
    sample::expect_golden("toy.json", text);
}

TEST(Json, carries_origin_rule_and_units) {
    const auto j = nlohmann::json::parse(json(sample::training()));
    EXPECT_EQ(j["schema"], "gambrel-analysis-1");
    EXPECT_EQ(j["rows"].size(), 12u);
    const auto& row = j["rows"][0];
    EXPECT_EQ(row["time_s"]["value"], 66.2e-3);
    EXPECT_EQ(row["time_s"]["origin"], "measured");
    EXPECT_EQ(row["traffic"]["dram_bytes"]["rule"], "dram_bytes");
    EXPECT_EQ(row["verdict"]["bound"], "tensor_fp16");
    EXPECT_EQ(row["verdict"]["levels"].size(), 3u);
    EXPECT_DOUBLE_EQ(row["verdict"]["levels"][2]["ceiling_byte_per_s"], 897e9);
    EXPECT_EQ(j["zero_flop"]["launches"], 212);
}

TEST(Json, survives_names_that_are_not_utf8_and_numbers_that_are_not_finite) {
    auto a = with_names({"bad\xff\xc3 name", "\x1b[31m"});
    a.rows[0].verdict.of_roof = std::nan("");
    const auto j = nlohmann::json::parse(json(a));
    EXPECT_EQ(j["rows"][0]["name"], "bad\xEF\xBF\xBD\xEF\xBF\xBD name");
    EXPECT_TRUE(j["rows"][0]["verdict"]["percent_of_roof"].is_null());
}

}  // namespace
}  // namespace gambrel
