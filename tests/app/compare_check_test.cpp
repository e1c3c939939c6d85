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

TEST_F(Results, CompareTellsTheChangeAndWhatExplainsIt) {
    result("a.json", 1e-3, 0.8e9), result("b.json", 0.5e-3, 0.4e9);
    const auto answer = run("compare a.json b.json");
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("a.json -> b.json"));
    EXPECT_THAT(answer.out, HasSubstr("-50.0 %"));
    EXPECT_THAT(answer.out, HasSubstr("DRAM (100 %)"));
}

TEST_F(Results, CompareOfAPredictionGivesItsErrors) {
    result("p.json", 0.8e-3, 0.8e9, "modelled"), result("m.json", 1e-3, 1e9);
    const auto answer = run("compare p.json m.json");
    EXPECT_THAT(answer.out, HasSubstr("errors of the prediction"));
    EXPECT_THAT(answer.out, HasSubstr("-20.0 %"));
    const auto json = nlohmann::json::parse(run("compare p.json m.json --json").out);
    EXPECT_TRUE(json["comparisons"][0]["is_prediction"]);
    EXPECT_EQ(json["comparisons"][0]["pairs"][0]["explained_by"], "DRAM");
}

TEST_F(Results, CompareTakesSeveralAndWritesEveryKindOfFile) {
    result("a.json", 1e-3, 0.8e9), result("b.json", 0.5e-3, 0.4e9), result("c.json", 2e-3, 0.8e9);
    const auto answer = run("compare a.json b.json c.json -o x.html -o x.svg -o x.csv -q");
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(text_of(path("x.html")), HasSubstr("a.json"));
    EXPECT_THAT(text_of(path("x.svg")), HasSubstr("class=\"arrows\""));
    const std::string csv = text_of(path("x.csv"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST_F(Results, CompareNamesWhatItCannotRead) {
    result("a.json", 1e-3, 0.8e9);
    std::ofstream(path("broken.json"))
        << R"({"schema": "gambrel-analysis-1", "rows": [{"name": "x", "time_s": {"value": "soon"}}]})";
    const auto answer = run("compare a.json broken.json");
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr("broken.json: rows[0].time_s.value: \"soon\" found"));
    EXPECT_EQ(run("compare a.json").status, 2);
}

TEST_F(Results, CheckGatesByRoof) {
    result("a.json", 1e-3, 0.8e9);
    EXPECT_EQ(run("check a.json --min-roof 85%").status, 0);
    const auto failed = run("check a.json --min-roof 0.95 --markdown m.md --junit j.xml");
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.out, HasSubstr("FAILED: 1 of 1 checks failed"));
    EXPECT_THAT(text_of(path("m.md")), HasSubstr("❌"));
    EXPECT_THAT(text_of(path("j.xml")), HasSubstr("failures=\"1\""));
    EXPECT_EQ(run("check a.json").status, 2);
    EXPECT_THAT(run("check a.json --min-roof 60").err, HasSubstr("write 60% or 0.6"));
}

TEST_F(Results, CheckGatesByBaselineAndRefusesAnotherDevice) {
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

TEST_F(Results, EveryResultBecomesTheSamePageTwice) {
    result("a.json", 1e-3, 0.8e9);
    ASSERT_EQ(run("analyze a.json -o x.html -q").status, 0);
    const std::string first = text_of(path("x.html"));
    ASSERT_EQ(run("analyze a.json -o x.html -q").status, 0);
    EXPECT_EQ(text_of(path("x.html")), first);
    EXPECT_THAT(first, HasSubstr("gambrel analyze a.json -o x.html -q"));
}

}  // namespace
