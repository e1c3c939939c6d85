// compare and check as a user runs them, on results written here: no shared data is needed.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::text_of;
using testing::HasSubstr;
using testing::Not;

class Results : public gambrel::test::CommandFolder {
protected:
    // One kernel on a V100 of the catalogue: 900 GB/s of DRAM.
    void result(const std::string& name, double time, double dram, const char* origin = "measured",
                const char* machine = "v100-sxm2-16gb") const {
        const auto amount = [&](double v) {
            return fmt::format(R"({{"value": {}, "origin": "{}", "rule": "r"}})", v, origin);
        };
        std::ofstream(path(name)) << fmt::format(
            R"({{"schema": "gambrel-analysis-1", "machines": [{{"id": "{0}", "name": "{0}"}}], "rows": [{{"name": "triad", "machine": "{0}",
                "launches": 2, "time_s": {1}, "work": {{"fp32_flop": {2}}}, "traffic": {{"dram_bytes": {3}}}}}]}})",
            machine, amount(time), amount(1e9), amount(dram));
    }
};

TEST_F(Results, compare_tells_the_change_and_what_explains_it) {
    result("a.json", 1e-3, 0.8e9), result("b.json", 0.5e-3, 0.4e9);
    const auto answer = run("compare a.json b.json");
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("a.json -> b.json"));
    EXPECT_THAT(answer.out, HasSubstr("-50.0 %"));
    EXPECT_THAT(answer.out, HasSubstr("DRAM bytes (100 %)"));
}

TEST_F(Results, compare_of_a_prediction_gives_its_errors) {
    result("p.json", 0.8e-3, 0.8e9, "modelled"), result("m.json", 1e-3, 1e9);
    const auto answer = run("compare p.json m.json");
    EXPECT_THAT(answer.out, HasSubstr("errors of the prediction"));
    EXPECT_THAT(answer.out, HasSubstr("-20.0 %"));
    const auto json = nlohmann::json::parse(run("compare p.json m.json --json").out);
    EXPECT_TRUE(json["comparisons"][0]["is_prediction"]);
    EXPECT_EQ(json["comparisons"][0]["pairs"][0]["explained_by"], "DRAM");
}

TEST_F(Results, compare_sets_the_model_beside_the_simulator_layer_by_layer) {
    std::ofstream(path("layers.csv")) << "name,N,C,H,W,K,R,S,pad,precision\nsmall,2,32,14,14,32,3,3,1,fp32\n"
                                         "wide,2,64,14,14,128,1,1,0,fp32\n";
    const std::string asked = "compare --predict --simulate --layers layers.csv --gpu v100 -q";
    const auto answer = run(asked);
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("layers.csv, modelled -> layers.csv, simulated"));
    EXPECT_THAT(answer.out, HasSubstr("2 pairs matched by layer"));
    EXPECT_THAT(answer.out, HasSubstr("errors of the model: modelled / simulated - 1"));
    EXPECT_THAT(answer.out, Not(HasSubstr("explained by")));  // its time is no measurement
    const auto json = nlohmann::json::parse(run(asked + " --json").out);
    for (const auto& pair : json["comparisons"][0]["pairs"]) {
        // Both fit in L2: every byte of DRAM is compulsory, and both know how many they are.
        EXPECT_DOUBLE_EQ(pair["dram_bytes"]["before"], pair["dram_bytes"]["after"]) << pair.dump();
        EXPECT_GT(pair["l1_bytes"]["after"], pair["l2_bytes"]["after"]);
    }
    EXPECT_THAT(run(asked + " --kernel wide").out, HasSubstr("1 pair matched"));
}

TEST_F(Results, compare_sets_the_model_beside_a_file) {
    std::ofstream(path("layers.csv")) << "name,N,C,H,W,K,R,S,pad,precision\ntriad,2,32,14,14,32,3,3,1,fp32\n";
    result("m.json", 1e-3, 1e9);
    const auto answer = run("compare --predict --layers layers.csv m.json --gpu v100 --match layer");
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("1 pair matched by layer"));
    EXPECT_THAT(answer.out, HasSubstr("predicted / measured - 1"));
}

TEST_F(Results, compare_says_what_is_missing_for_layers) {
    result("a.json", 1e-3, 0.8e9);
    EXPECT_THAT(run("compare --predict --simulate").err, HasSubstr("give a network"));
    EXPECT_THAT(run("compare --predict --simulate resnet50").err, HasSubstr("which GPU?"));
    EXPECT_THAT(run("compare --predict resnet50 --gpu v100").err, HasSubstr("nothing to compare"));
    EXPECT_THAT(run("compare a.json a.json --batch 4").err, HasSubstr("are for --predict and --simulate"));
}

TEST_F(Results, compare_takes_several_and_writes_every_kind_of_file) {
    result("a.json", 1e-3, 0.8e9), result("b.json", 0.5e-3, 0.4e9), result("c.json", 2e-3, 0.8e9);
    const auto answer = run("compare a.json b.json c.json -o x.html -o x.svg -o x.csv -q");
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(text_of(path("x.html")), HasSubstr("a.json"));
    EXPECT_THAT(text_of(path("x.svg")), HasSubstr("class=\"arrows\""));
    const std::string csv = text_of(path("x.csv"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST_F(Results, compare_names_what_it_cannot_read) {
    result("a.json", 1e-3, 0.8e9);
    std::ofstream(path("broken.json"))
        << R"({"schema": "gambrel-analysis-1", "rows": [{"name": "x", "time_s": {"value": "soon"}}]})";
    const auto answer = run("compare a.json broken.json");
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr("broken.json: rows[0].time_s.value: \"soon\" found"));
    EXPECT_EQ(run("compare a.json").status, 2);
}

TEST_F(Results, check_gates_by_roof) {
    result("a.json", 1e-3, 0.8e9);
    EXPECT_EQ(run("check a.json --min-roof 85%").status, 0);
    const auto failed = run("check a.json --min-roof 0.95 --markdown m.md --junit j.xml");
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.out, HasSubstr("FAILED: 1 of 1 check"));
    EXPECT_THAT(text_of(path("m.md")), HasSubstr("❌"));
    EXPECT_THAT(text_of(path("j.xml")), HasSubstr("failures=\"1\""));
    EXPECT_EQ(run("check a.json").status, 2);
    EXPECT_THAT(run("check a.json --min-roof 60").err, HasSubstr("such as 60% or 0.6"));
}

TEST_F(Results, a_share_above_all_is_refused) {
    result("a.json", 1e-3, 0.8e9);
    for (const char* flag : {"--min-roof 150%", "--min-roof 90% --min-share 101%"}) {
        const auto answer = run(std::string("check a.json ") + flag);
        EXPECT_EQ(answer.status, 2) << flag;
        EXPECT_THAT(answer.err, HasSubstr("is not a valid share: expected 0% to 100%"));
    }
    EXPECT_EQ(run("check a.json --min-roof 85% --max-time 150%").status, 0) << "twice as slow may be allowed";
}

TEST_F(Results, half_a_profile_does_not_pass_the_gate) {
    result("a.json", 1e-3, 0.8e9);
    auto half = nlohmann::json::parse(text_of(path("a.json")));
    half["partial"] = true;
    std::ofstream(path("half.json")) << half.dump();
    const auto answer = run("check half.json --min-roof 85% -q --json c.json --junit j.xml --markdown m.md");
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr("half.json: was cut short or damaged"));
    EXPECT_EQ(nlohmann::json::parse(text_of(path("c.json")))["partial"], true);
    EXPECT_THAT(text_of(path("j.xml")), HasSubstr("errors=\"1\""));
    EXPECT_THAT(text_of(path("m.md")), HasSubstr("INCOMPLETE"));
    EXPECT_EQ(run("check half.json --write-baseline b.json").status, 2);
    EXPECT_EQ(run("check half.json --min-roof 85% --allow-partial").status, 0);
}

TEST_F(Results, check_gates_by_baseline_and_refuses_another_device) {
    result("a.json", 1e-3, 0.8e9), result("slow.json", 1.2e-3, 0.8e9),
        result("other.json", 1e-3, 0.8e9, "measured", "a100-sxm4-40gb");
    ASSERT_EQ(run("check a.json --write-baseline base.json").status, 0);
    EXPECT_EQ(run("check a.json --baseline base.json").status, 0);
    const auto slow = run("check slow.json --baseline base.json --json");
    EXPECT_EQ(slow.status, 1);
    EXPECT_EQ(nlohmann::json::parse(slow.out)["failures"], 2);  // the kernel, and the time of all
    EXPECT_EQ(run("check slow.json --baseline base.json --max-time 25%").status, 0);
    const auto other = run("check other.json --baseline base.json");
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("devices are not mixed"));
}

TEST_F(Results, an_earlier_run_is_a_baseline_too) {
    result("a.json", 1e-3, 0.8e9), result("slow.json", 1.2e-3, 0.8e9);
    EXPECT_EQ(run("check a.json --baseline slow.json").status, 0);
    EXPECT_EQ(run("check slow.json --baseline a.json").status, 1);
    std::ofstream(path("notes.txt")) << "no profile\n";
    const auto neither = run("check a.json --baseline notes.txt");
    EXPECT_EQ(neither.status, 2);
    EXPECT_THAT(neither.err, HasSubstr("notes.txt: is not a baseline of `gambrel check --write-baseline`"));
    auto half = nlohmann::json::parse(text_of(path("slow.json")));
    half["partial"] = true;
    std::ofstream(path("half.json")) << half.dump();
    EXPECT_EQ(run("check a.json --baseline half.json").status, 2);
    EXPECT_EQ(run("check a.json --baseline half.json --allow-partial").status, 0);
}

TEST_F(Results, every_result_becomes_the_same_page_twice) {
    result("a.json", 1e-3, 0.8e9);
    ASSERT_EQ(run("analyze a.json -o x.html -q").status, 0);
    const std::string first = text_of(path("x.html"));
    ASSERT_EQ(run("analyze a.json -o x.html -q").status, 0);
    EXPECT_EQ(text_of(path("x.html")), first);
    EXPECT_THAT(first, HasSubstr("gambrel analyze a.json -o x.html -q"));
}

}  // namespace
