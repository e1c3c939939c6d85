// Is a page read back as it was, and is nothing accepted that its scripts would stumble over?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>

#include "report/sample.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;

std::string page_of_views(std::vector<PageView> views) {
    PageInput input;
    input.title = "page", input.command = "gambrel analyze x -o page.html", input.views = std::move(views);
    return html_page(input).value();
}

Comparison change() {
    auto kernels = sample::training_step();
    kernels.pop_back();
    Analysis after = sample::analysis_of(kernels, sample::v100_like(), "after");
    return comparison(sample::training(), std::move(after));
}

PageView parts() {
    PageView view;
    view.title = "parts";
    view.layers = {{"a", "b", Seconds{1}, "DRAM", {}}};
    view.charts = {{"c", "", "", {}, {}, {{"s", {{1, 2, 1.5, 2.5, "m", true}}, true, "L2"}}, {{"g", 1, {}, {}}}}};
    view.charts[0].limits = {{"L1 ends", 3, "L1"}};
    view.bars = {{"b", "", "", {}, {"x", "y"}, {{"one", "", {1, 2}}}}};
    Table table({{"a"}, {"b", true, 0, 0, true}});
    table.title = "t", table.notes = {"note"};
    table.add({{"x", {"1", 1.0}}, "bad"});
    view.tables = {table};
    return view;
}

// The page with one value of its first view changed.
std::string broken(const std::string& html, const std::string& pointer, const nlohmann::json& value) {
    const std::string open = "id=\"data\">";
    const auto from = html.find(open) + open.size(), length = html.find("</script>", from) - from;
    auto data = nlohmann::json::parse(html.substr(from, length));
    data["views"][0][nlohmann::json::json_pointer(pointer)] = value;
    return std::string(html).replace(from, length, data.dump());
}

std::string faults_of(const std::string& html) {
    const auto read = read_page(html, "p.html");
    return read ? "" : to_text(read.error());
}

TEST(ReadPage, every_view_comes_back_as_it_was) {
    const Analysis step = sample::training();
    const Comparison c = change();
    const std::string html = page_of_views({{"one", &step, nullptr, {}, {}}, {"two", nullptr, &c, {}, {}}, parts()});
    const auto read = read_page(html, "p.html");
    ASSERT_TRUE(read) << to_text(read.error());
    std::vector<PageView> views;
    for (const SavedView& saved : *read) {
        PageView view;
        view.title = saved.title, view.saved = saved;
        views.push_back(view);
    }
    EXPECT_EQ(page_of_views(views), html);
}

TEST(ReadPage, says_that_a_file_is_no_page_or_of_another_format) {
    EXPECT_THAT(faults_of("<html></html>"), HasSubstr("p.html: is not a page of gambrel"));
    const std::string html = page_of_views({});
    std::string other = html;
    other.replace(other.find("gambrel-page-2"), 14, "gambrel-page-9");
    EXPECT_THAT(faults_of(other), HasSubstr("the page's data is \"gambrel-page-9\", expected \"gambrel-page-2\""));
    EXPECT_THAT(faults_of(html.substr(0, html.find("\"views\""))), HasSubstr("was the file cut off?"));
}

TEST(ReadPage, names_the_place_the_value_and_what_was_expected) {
    const Analysis step = sample::training();
    const std::string html = page_of_views({{"one", &step, nullptr, {}, {}}});
    EXPECT_THAT(faults_of(broken(html, "/rows/time/3", "fast")),
                HasSubstr("p.html: views[0].rows.time[3]: \"fast\" found, expected a number or null"));
    EXPECT_THAT(faults_of(broken(html, "/charts/0/levels/0", "L9")), HasSubstr("expected a memory level"));
    EXPECT_THAT(faults_of(broken(html, "/rows/work", {{"abacus", nlohmann::json::array()}})),
                HasSubstr("is not a pipe"));
    EXPECT_THAT(faults_of(broken(html, "/layers", 7)), HasSubstr("7 found, expected a list"));
}

TEST(ReadPage, refuses_numbers_that_point_beyond_their_list) {
    const Analysis step = sample::training();
    const Comparison c = change();
    const std::string html = page_of_views({{"one", &step, nullptr, {}, {}}}),
                      pair = page_of_views({{"two", nullptr, &c, {}, {}}});
    EXPECT_THAT(faults_of(broken(html, "/rows/name/0", 99999)), HasSubstr("points beyond a list"));
    EXPECT_THAT(faults_of(broken(html, "/rows/machine/0", 3)), HasSubstr("3 points beyond a list of 1"));
    EXPECT_THAT(faults_of(broken(html, "/rows/time", nlohmann::json::array({1}))), HasSubstr("1 values, expected 12"));
    EXPECT_THAT(faults_of(broken(html, "/rows/name/0", nullptr)), HasSubstr("null"));
    EXPECT_THAT(faults_of(broken(html, "/machines", nlohmann::json::array())), HasSubstr("0 machines with 1 charts"));
    EXPECT_THAT(faults_of(broken(pair, "/compared/side", nlohmann::json::array())), HasSubstr("expected 12 values"));
    EXPECT_THAT(faults_of(broken(page_of_views({parts()}), "/tables/0/rows/0/texts", {"x"})),
                HasSubstr("number of cells"));
    EXPECT_THAT(faults_of(broken(page_of_views({parts()}), "/bars/0/bars/0/parts", {1})), HasSubstr("number of parts"));
}

TEST(ReadPage, a_view_taken_over_keeps_the_command_that_made_it) {
    const Analysis step = sample::training();
    auto read = read_page(page_of_views({{"one", &step, nullptr, {}, {}}}), "p.html");
    ASSERT_TRUE(read);
    PageInput input;
    input.command = "gambrel report p.html -o one.html";
    input.views.emplace_back();
    input.views[0].title = "renamed", input.views[0].saved = read->front();
    const std::string html = *html_page(input);
    EXPECT_THAT(html, HasSubstr("\"title\":\"renamed\",\"command\":\"gambrel analyze x -o page.html\""));
    EXPECT_THAT(html, HasSubstr("\"command\":\"gambrel report p.html -o one.html\""));
}

}  // namespace
}  // namespace gambrel
