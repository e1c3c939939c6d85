#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>

#include "report/sample.hpp"

namespace gambrel {
namespace {

std::string page(const Analysis& analysis, std::string title = "page") {
    PageInput input;
    input.title = std::move(title), input.command = "gambrel analyze x -o page.html";
    input.views = {{"view", &analysis, nullptr, {}, {}}};
    return html_page(input).value();
}

nlohmann::json data_of(const std::string& html) {
    const std::string open = "id=\"data\">";
    const auto from = html.find(open) + open.size();
    return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

TEST(Page, equal_input_gives_equal_bytes) { EXPECT_EQ(page(sample::training()), page(sample::training())); }

TEST(Page, is_small_without_data) { EXPECT_LT(html_page({})->size(), 1'500'000u); }

TEST(Page, names_no_address_to_fetch_from) {
    const std::string html = page(sample::toy());
    for (const char* part : {"src=\"", "href=\"http", "@import", "fetch(", "XMLHttpRequest", "sendBeacon"})
        EXPECT_EQ(count_of(html, part), 0u) << part;
    EXPECT_EQ(count_of(html, "default-src 'none'"), 1u);
}

TEST(Page, its_policy_allows_only_its_own_script_and_style_by_hash) {
    const std::string html = page(sample::toy());
    EXPECT_EQ(count_of(html, "unsafe-inline"), 0u);
    EXPECT_EQ(count_of(html, "script-src 'sha256-"), 1u);
    EXPECT_EQ(count_of(html, "style-src 'sha256-"), 1u);
    // SHA-256 is 32 bytes: 43 digits of base64 and one sign that fills up.
    const auto at = html.find("sha256-") + 7;
    EXPECT_EQ(html.find("='", at) - at, 43u);
    EXPECT_EQ(html.find(" style=\""), std::string::npos);
}

TEST(Page, no_name_can_end_the_script_it_is_in) {
    std::vector<Kernel> kernels{sample::kernel({"</script><script>alert(1)</script>", 1, 1, 1e9, 0, 0, 0, 1e9}),
                                sample::kernel({"<!-- <script>", 1, 1, 1e9, 0, 0, 0, 1e9})};
    const auto a = sample::analysis_of(kernels, sample::toy_machine(), "</title><script>alert(2)</script>");
    const std::string html = page(a, a.title), plain = page(sample::toy());
    EXPECT_EQ(count_of(html, "<script"), count_of(plain, "<script"));
    EXPECT_EQ(count_of(html, "</script"), count_of(plain, "</script"));
    EXPECT_EQ(count_of(html, "</title"), count_of(plain, "</title"));
    EXPECT_EQ(data_of(html)["views"][0]["rows"]["texts"][0], "</script><script>alert(1)</script>");
}

TEST(Page, carries_the_figures_of_the_analysis) {
    const auto data = data_of(page(sample::training()));
    const auto& rows = data["views"][0]["rows"];
    ASSERT_EQ(rows["time"].size(), 12u);
    EXPECT_EQ(rows["time"][0], 66.2e-3);
    EXPECT_EQ(rows["bytes"]["DRAM"][0], 5.9e9);
    EXPECT_EQ(rows["work"]["tensor_fp16"][0], 5.54e12);
    EXPECT_EQ(rows["texts"][rows["bound"][0].get<std::size_t>()], "tensor_fp16");
    EXPECT_EQ(data["command"], "gambrel analyze x -o page.html");
    EXPECT_EQ(data["views"][0]["machines"][0]["name"], "Tesla V100-SXM2-16GB");
}

TEST(Page, an_unknown_is_null_and_never_zero) {
    auto a = sample::toy();
    a.rows[0].kernel.time.reset();
    a.rows[0].verdict = {};
    const auto rows = data_of(page(a))["views"][0]["rows"];
    for (const char* column : {"time", "of_roof", "of_compute", "headroom", "clock"})
        EXPECT_TRUE(rows[column][0].is_null()) << column;
    EXPECT_FALSE(rows["bytes"].contains("L1")) << "a level that no kernel has needs no column";
}

TEST(Page, bytes_that_are_not_text_and_numbers_that_are_not_finite_are_shown_all_the_same) {
    auto a =
        sample::analysis_of({sample::kernel({"bad \xff\xc3", 1, 1, 1e9, 0, 0, 0, 1e9})}, sample::toy_machine(), "t");
    a.rows[0].verdict.of_roof = std::nan("");
    const auto rows = data_of(page(a))["views"][0]["rows"];
    EXPECT_TRUE(rows["of_roof"][0].is_null());
}

TEST(Page, draws_the_other_standard_of_roofs_beside_the_one_used) {
    auto a = sample::training();
    a.machines[0].at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{829e9}, Origin::measured, "x"}, {}};
    std::vector<std::string> labels;
    const auto data = data_of(page(a));
    for (const auto& roof : data["views"][0]["charts"][0]["roofs"])
        if (roof["what"] == "DRAM")
            labels.push_back(roof["label"].get<std::string>() + (roof["measured"] ? " solid" : " dashed"));
    EXPECT_EQ(labels, (std::vector<std::string>{"DRAM 897 GB/s dashed", "DRAM 829 GB/s measured solid"}));
}

TEST(Page, a_comparison_has_a_line_for_each_pair) {
    const Comparison c = comparison(sample::toy(), sample::training());
    PageInput input;
    input.views = {{"c", nullptr, &c, {}, {}}};
    const auto view = data_of(*html_page(input))["views"][0];
    EXPECT_EQ(view["rows"]["name"].size(), c.pairs.size());
    EXPECT_EQ(view["compared"]["rows"]["name"].size(), c.pairs.size());
    EXPECT_EQ(view["compared"]["side"].size(), c.pairs.size());
}

TEST(Page, a_comparison_keeps_where_the_points_were_in_sight) {
    const auto kernel = [](double time) { return sample::kernel({"k", 1, time, 1e9, 0, 1e9, 1e9, 1e9}); };
    const Analysis slow = sample::analysis_of({kernel(10)}, sample::toy_machine(), "slow");
    const Analysis fast = sample::analysis_of({kernel(0.02)}, sample::toy_machine(), "fast");
    const Comparison c = comparison(slow, fast);
    PageInput input;
    input.views = {{"c", nullptr, &c, {}, {}}};
    const auto chart = data_of(*html_page(input))["views"][0]["charts"][0];
    EXPECT_LT(chart["y"][0], 8);   // log10 of 1e9 FLOP in 10 s
    EXPECT_GT(chart["y"][1], 10);  // and in 20 ms
}

TEST(Page, compared_machines_show_the_roofs_that_moved) {
    Machine wider = sample::toy_machine();
    wider.at(Level::dram).bandwidth->value = Bandwidth{40e9};
    const auto kernels = {sample::kernel({"k", 1, 1, 1e9, 0, 1e9, 1e9, 1e9})};
    const Comparison c =
        comparison(sample::analysis_of(kernels, sample::toy_machine(), "a"), sample::analysis_of(kernels, wider, "b"));
    PageInput input;
    input.views = {{"c", nullptr, &c, {}, {}}};
    const auto roofs = data_of(*html_page(input))["views"][0]["compared"]["roofs"];
    ASSERT_EQ(roofs.size(), 1u);
    EXPECT_EQ(roofs[0]["what"], "DRAM");
    EXPECT_EQ(roofs[0]["value"], 10e9);
}

}  // namespace
}  // namespace gambrel
