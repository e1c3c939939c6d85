// Is JSON of others bounded in depth and size, and are all faults of an object reported at once?
#include "base/json_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_fields.hpp"

namespace gambrel::base_detail {
namespace {

using testing::HasSubstr;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string fault_of(const std::string& text) {
    const auto read = parse_json(text, "f.json");
    return read ? "" : to_text(read.error().front());
}

TEST(ParseJson, nests_to_the_limit_and_no_deeper) {
    EXPECT_EQ(fault_of(nested(kJsonDepth)), "");
    EXPECT_THAT(fault_of(nested(kJsonDepth + 1)), HasSubstr("f.json: byte 200: JSON nested deeper than 200 levels"));
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    EXPECT_THAT(fault_of(objects), HasSubstr("nested deeper"));
    EXPECT_THAT(fault_of(std::string(10'000'000, '[')), HasSubstr("nested deeper"));
}

TEST(ParseJson, does_not_count_brackets_inside_strings) {
    EXPECT_EQ(fault_of("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\\\\\", 1]"), "");
    std::string many;
    for (int i = 0; i < 1000; ++i) many += std::string(i == 0 ? "[" : ",") + "[[1]]";
    EXPECT_EQ(fault_of(many + "]"), "");
}

TEST(ParseJson, holds_a_bounded_number_of_values) {
    std::string text = "[0";
    text.reserve(2 * kJsonValues + 10);
    for (std::size_t i = 0; i < kJsonValues; ++i) text += ",0";
    EXPECT_THAT(fault_of(text + "]"), HasSubstr("the limit is 16000000"));
}

TEST(ParseJson, says_where_it_is_wrong_in_plain_words) {
    EXPECT_THAT(fault_of("{\n  \"a\": 1 2\n}"), HasSubstr("f.json: is not valid JSON: line 2"));
    EXPECT_THAT(fault_of(""), HasSubstr("f.json: is empty, expected JSON"));
    EXPECT_THAT(fault_of(std::string(1000, '\0')), HasSubstr("f.json: is not text, expected JSON"));
    for (const char* text : {"{", "[1e999]", "\"\xff\"", "\"\x1b[31m\""}) {
        EXPECT_THAT(fault_of(text), HasSubstr("is not valid JSON")) << text;
        EXPECT_THAT(fault_of(text), testing::Not(HasSubstr("json.exception"))) << text;
        EXPECT_THAT(fault_of(text), testing::Not(HasSubstr("\x1b"))) << text;
    }
}

TEST(Fields, reports_every_fault_with_its_place) {
    const auto json = nlohmann::json::parse(R"({"name": 3, "size": -1, "list": {}, "siz": 4, "tags": ["a", 1]})");
    Errors errors;
    Fields fields(json, "f.json: items[2]", errors);
    EXPECT_EQ(fields.text("name"), "");
    EXPECT_FALSE(fields.amount("size"));
    EXPECT_FALSE(fields.array("list"));
    EXPECT_FALSE(fields.any("id", true));
    EXPECT_THAT(fields.texts("tags"), testing::ElementsAre("a"));
    fields.finish();
    EXPECT_EQ(to_text(errors),
              "f.json: items[2].name: 3 is not a text\n"
              "f.json: items[2].size: -1 is not a number of 0 or more\n"
              "f.json: items[2].list: an object is not a list\n"
              "f.json: items[2].id: missing\n"
              "f.json: items[2].tags: 1 is not a text\n"
              "f.json: items[2].siz: unknown field; did you mean \"size\"?\n");
}

TEST(Fields, names_the_first_of_many_unknown_fields_and_counts_the_rest) {
    nlohmann::json json = nlohmann::json::object();
    for (int i = 0; i < 100; ++i) json["k" + std::to_string(i)] = i;
    Errors errors;
    Fields(json, "f.json: ", errors).finish();
    ASSERT_EQ(errors.size(), 21u);
    EXPECT_EQ(to_text(errors.back()), "f.json: ...: 80 more unknown fields");
}

}  // namespace
}  // namespace gambrel::base_detail
