#include "base/csv_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel::base_detail {
namespace {

using testing::ElementsAre;

TEST(CsvScanner, splits_quoted_and_plain_fields) {
    CsvScanner scanner("\"a\",\"b, c\",3,\n\"d\",,x,\"\"");
    CsvRow row;
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("a", "b, c", "3", ""));
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("d", "", "x", ""));
    EXPECT_TRUE(scanner.at_end());
}

TEST(CsvScanner, halves_doubled_quotes_and_keeps_line_ends_inside_quotes) {
    CsvScanner scanner("\"1  \"\"forward\"\" \",\"two\nlines\"\r\nnext,row\r\n");
    CsvRow row;
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("1  \"forward\" ", "two\nlines"));
    EXPECT_EQ(scanner.line_number(row.begin), 1u);
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("next", "row"));
    EXPECT_EQ(scanner.line_number(row.begin), 3u);
}

TEST(CsvScanner, loses_one_line_to_an_open_quote) {
    CsvScanner scanner("\"cut off\n\"a\",\"b\"\n");
    CsvRow row;
    EXPECT_FALSE(scanner.read(row));
    EXPECT_EQ(scanner.line(), "\"cut off");
    scanner.skip_line();
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("a", "b"));
}

TEST(CsvScanner, copies_no_plain_field) {
    const std::string text = "\"abc\",def\n";
    CsvScanner scanner(text);
    CsvRow row;
    ASSERT_TRUE(scanner.read(row));
    EXPECT_EQ(row.fields[0].data(), text.data() + 1);
    EXPECT_EQ(row.fields[1].data(), text.data() + 6);
    EXPECT_TRUE(row.unescaped.empty());
}

TEST(CsvScanner, reads_the_rest_of_a_row_that_begins_like_the_one_before) {
    const std::string text = "\"0\",\"k\"\"1\"\"\",\"m1\",\"5\"\n\"0\",\"k\"\"1\"\"\",\"m2\",\"6\"\n";
    CsvScanner scanner(text);
    CsvRow row;
    ASSERT_TRUE(scanner.read(row, 2));
    const std::size_t prefix = row.mark - row.begin;
    EXPECT_EQ(text.substr(row.begin, prefix), "\"0\",\"k\"\"1\"\"\",");
    ASSERT_TRUE(scanner.rest().starts_with(text.substr(0, prefix)));
    ASSERT_TRUE(scanner.read_after(row, 2, prefix));
    EXPECT_THAT(row.fields, ElementsAre("0", "k\"1\"", "m2", "6"));
}

TEST(CsvScanner, fields_of_every_length_are_split_wherever_their_words_begin) {
    for (std::size_t length = 0; length < 20; ++length) {
        const std::string field(length, 'x'), text = field + "," + field + ",\"q,q\"," + field + "\n" + field + ",";
        CsvScanner scanner(text);
        CsvRow row;
        ASSERT_TRUE(scanner.read(row)) << length;
        EXPECT_THAT(row.fields, ElementsAre(field, field, "q,q", field));
        ASSERT_TRUE(scanner.read(row)) << length;
        EXPECT_THAT(row.fields, ElementsAre(field, ""));
        EXPECT_TRUE(scanner.at_end());
    }
}

TEST(CsvScanner, quotes_inside_a_field_that_begins_without_one_are_part_of_it) {
    CsvScanner scanner("a\"b,5\" disk,c\r\n");
    CsvRow row;
    ASSERT_TRUE(scanner.read(row));
    EXPECT_THAT(row.fields, ElementsAre("a\"b", "5\" disk", "c"));
}

TEST(CsvScanner, a_row_is_canonical_if_its_fields_written_again_give_the_same_text) {
    const auto canonical = [](const std::string& text) {
        CsvScanner scanner(text);
        CsvRow row;
        EXPECT_TRUE(scanner.read(row)) << text;
        EXPECT_EQ(row.text, text.substr(0, text.find_first_of("\r\n")));
        return row.canonical;
    };
    EXPECT_TRUE(canonical("a,,1e-5,x=y\r\n"));
    EXPECT_TRUE(canonical(",\n"));
    for (const std::string field : {"\"a,b\"", "\"say \"\"x\"\"\"", "\",\""}) {
        EXPECT_TRUE(canonical(field + ",a\n")) << field;
        EXPECT_TRUE(canonical("a," + field + ",a longer field of a row\r\n")) << field;
        EXPECT_TRUE(canonical("abcdefgh,a," + field)) << field;
    }
    for (const std::string field : {"\"a\"", "\"\"", "\"=1,2\"", "a\"b", "=1", "+1", "-1", "@x", "'=1"}) {
        EXPECT_FALSE(canonical(field + ",a\n")) << field;
        EXPECT_FALSE(canonical("a,\"b,c\"," + field + ",a longer field of a row\n")) << field;
        EXPECT_FALSE(canonical("abcdefgh,a," + field)) << field;
    }
}

bool has_id(const CsvHeader& header) { return header.has("ID"); }

TEST(CsvScanner, a_row_of_commas_is_no_record) {
    std::string text(200'000, ',');
    text += "\na,b\n";
    CsvScanner scanner(text);
    CsvRow row;
    EXPECT_FALSE(scanner.read(row));
    EXPECT_LT(row.fields.size(), 100'010u);
    scanner.skip_line();
    ASSERT_TRUE(scanner.read(row));
    EXPECT_EQ(row.fields.size(), 2u);
}

TEST(CsvScanner, the_most_fields_that_a_row_may_have_are_read) {
    CsvRow row;
    EXPECT_TRUE(CsvScanner(std::string(100'000, ',') + "\n").read(row));
    EXPECT_EQ(row.fields.size(), 100'001u);
    EXPECT_FALSE(CsvScanner(std::string(100'001, ',') + "\n").read(row));
    EXPECT_FALSE(CsvScanner(std::string(100'001, ',')).read(row));
}

TEST(FindHeader, passes_over_what_the_program_printed) {
    const std::string text = "the ID, they say\nstep 1\n\"ID\",\"Name\"\n\"0\",\"k\"\n";
    const auto header = find_header(text, 0, "ID", has_id);
    ASSERT_TRUE(header);
    EXPECT_THAT(header->columns, ElementsAre("ID", "Name"));
    EXPECT_EQ(text.substr(header->end), "\"0\",\"k\"\n");
    EXPECT_EQ(header->find("Name"), 1u);
    EXPECT_EQ(header->find("name"), CsvHeader::npos);
}

TEST(FindHeader, finds_a_header_behind_an_open_line) {
    const auto header = find_header("50%|##  |\r\"ID\",\"Name\"\n", 0, "ID", has_id);
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->quoted);
    EXPECT_THAT(header->columns, ElementsAre("ID", "Name"));
}

TEST(FindHeader, finds_none_where_there_is_none) {
    EXPECT_FALSE(find_header("", 0, "ID", has_id));
    EXPECT_FALSE(find_header("ID", 0, "ID", has_id));
    EXPECT_FALSE(find_header("\"ID\n\n", 0, "ID", has_id));
}

TEST(Csv, knows_byte_order_mark_and_binary) {
    EXPECT_EQ(without_bom("\xEF\xBB\xBFx"), "x");
    EXPECT_EQ(without_bom("x"), "x");
    EXPECT_TRUE(looks_binary(std::string_view("SQLite\0", 7)));
    EXPECT_FALSE(looks_binary("\"ID\""));
}

}  // namespace
}  // namespace gambrel::base_detail
