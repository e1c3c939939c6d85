// Does a page of several results hold what the single pages held, and does every command write one?
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::HasSubstr;
using testing::Not;

class Pages : public gambrel::test::CommandFolder {
protected:
    nlohmann::json data_of(const std::string& file) const {
        const std::string html = text_of(path(file)), open = "id=\"data\">";
        const auto from = html.find(open) + open.size();
        return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
    }
    void make(const std::string& arguments) const {
        const Outcome o = run(arguments);
        EXPECT_EQ(o.status, 0) << arguments << ": " << o.err;
    }
};

TEST_F(Pages, measure_has_sweep_levels_ceilings_and_its_roofline) {
    make("measure -q -d sim:v100 --quick -o m.html");
    const auto view = data_of("m.html")["views"][0];
    EXPECT_EQ(view["rows"]["name"].size(), 0u);
    EXPECT_THAT(view["charts"][0]["roofs"].dump(), HasSubstr("DRAM"));
    ASSERT_FALSE(view["curves"].empty());
    EXPECT_GT(view["curves"][0]["series"][0]["marks"].size(), 5u);
    EXPECT_THAT(view["curves"][1]["guides"].dump(), HasSubstr("L2 "));
    EXPECT_THAT(view["curves"][0]["limits"].dump(), HasSubstr("L1 ends"));
    EXPECT_THAT(view["tables"][0]["rows"].dump(), HasSubstr("proved; the roof"));
    EXPECT_THAT(view["tables"][1]["title"].get<std::string>(), HasSubstr("Levels"));
}

TEST_F(Pages, explore_has_front_sensitivity_bottlenecks_and_points_that_move) {
    make("explore alexnet --batch 8 --gpu v100 --vary dram.bandwidth=1:2,l2.capacity={1,2} -q -o e.html");
    const auto view = data_of("e.html")["views"][0];
    EXPECT_EQ(view["compared"]["after"], "fastest");
    EXPECT_FALSE(view["compared"]["roofs"].empty());
    EXPECT_EQ(view["curves"][0]["title"], "Bytes of each pair");
    EXPECT_EQ(view["curves"][1]["title"], "Speed-up against cost: alexnet");
    int chosen = 0;
    for (const auto& s : view["curves"][1]["series"])
        for (const auto& m : s["marks"]) chosen += m[5].get<int>();
    EXPECT_EQ(chosen, 1);
    EXPECT_EQ(view["bars"][0]["bars"].size(), 11u);
    EXPECT_EQ(view["bars"][1]["bars"].size(), 2u);
    EXPECT_EQ(view["tables"][1]["rows"].size(), view["rows"]["name"].size());
}

TEST_F(Pages, explore_without_designs_shows_the_start_alone) {
    make("explore alexnet --batch 8 --gpu v100 -q -o e.html");
    const auto view = data_of("e.html")["views"][0];
    EXPECT_FALSE(view.contains("compared"));
    EXPECT_EQ(view["title"], "alexnet on Tesla V100-SXM2-16GB");
    EXPECT_EQ(view["rows"]["name"].size(), view["tables"][1]["rows"].size());
    EXPECT_EQ(view["bars"].size(), 2u);
}

TEST_F(Pages, report_joins_pages_results_and_machines_and_is_the_same_each_time) {
    make("measure -q -d sim:v100 --quick -o m.html -o m.json");
    make("predict alexnet --batch 1 --gpu v100 -q -o p.html --json p.json");
    const std::string command =
        "report 'This one=m.html' p.html Read=p.json m.json --title 'The whole' -q -o one.html -o two.html";
    make(command);
    const std::string first = text_of(path("one.html"));
    EXPECT_EQ(first, text_of(path("two.html")));
    make(command);
    EXPECT_EQ(first, text_of(path("one.html")));
    const auto data = data_of("one.html");
    EXPECT_EQ(data["title"], "The whole");
    EXPECT_EQ(data["overview"], true);
    ASSERT_EQ(data["views"].size(), 4u);
    EXPECT_EQ(data["views"][0]["title"], "This one");
    EXPECT_THAT(data["views"][0]["command"].get<std::string>(), HasSubstr("gambrel measure"));
    EXPECT_EQ(data["views"][1]["title"], "alexnet on Tesla V100-SXM2-16GB, modelled");
    EXPECT_EQ(data["views"][1]["layers"].size(), 17u);
    EXPECT_EQ(data["views"][2]["rows"]["name"].size(), 17u);
    EXPECT_EQ(data["views"][3]["rows"]["name"].size(), 0u);
}

TEST_F(Pages, report_says_what_it_cannot_read) {
    EXPECT_THAT(run("report nothere.html -o one.html").err, HasSubstr("nothere.html"));
    make("predict alexnet --batch 1 --gpu v100 -q --json a.json --csv a.csv");
    make("compare a.json a.json -q --json c.json");
    const Outcome o = run("report c.json a.json -o one.html");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("c.json: JSON of this kind is not read back"));
    EXPECT_EQ(run("report a.json").status, 2);
    EXPECT_THAT(run("report a.json").err, HasSubstr("-o one.html"));
    EXPECT_THAT(run("report a.json -o one.svg").err, HasSubstr("ends in .html"));
    std::ofstream(path("cut.html")) << "<script type=\"application/json\" id=\"data\">{\"schema\":\"gambrel-page-1\",";
    EXPECT_THAT(run("report cut.html -o one.html").err, HasSubstr("cut.html: the page's data: is not valid JSON"));
}

TEST_F(Pages, model_and_simulation_are_compared_layer_by_layer) {
    std::ofstream(path("t.csv")) << "name,N,C,H,W,K,R,S,gpu\none,1,16,14,14,16,3,3,v100\ntwo,1,32,7,7,64,1,1,v100\n";
    make("predict --layers t.csv -q --json m.json");
    make("simulate --layers t.csv -q --json s.json");
    make("compare m.json s.json -q --json c.json -o c.html");
    const auto c = nlohmann::json::parse(text_of(path("c.json")))["comparisons"][0];
    EXPECT_EQ(c["matched_by"], "layer");
    EXPECT_EQ(c["pairs"].size(), 2u);
    EXPECT_EQ(data_of("c.html")["views"][0]["compared"]["side"], nlohmann::json({0, 0}));
}

TEST_F(Pages, quiet_predictions_with_json_to_a_file_print_nothing) {
    const Outcome o = run("predict alexnet --batch 1 --gpu v100 -q --json a.json");
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "");
}

TEST_F(Pages, a_result_read_back_is_judged_by_the_roofs_it_was_judged_by) {
    make("measure -q -d sim:v100 --quick -o m.json");
    make("predict alexnet --batch 1 --gpu v100 -q --json a.json");
    make("analyze a.json -q --roofs measured --json r.json");
    make("analyze r.json -q --json again.json");
    EXPECT_EQ(nlohmann::json::parse(text_of(path("again.json")))["roofs"], "measured");
    make("analyze r.json -q --roofs theoretical --json again.json");
    EXPECT_EQ(nlohmann::json::parse(text_of(path("again.json")))["roofs"], "theoretical");
}

}  // namespace
