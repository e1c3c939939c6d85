#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/report.hpp>

#include "ingest/result_json.hpp"
#include "report/sample.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::HasSubstr;

Analysis again(const Analysis& a) {
    auto read = read_result_json(json(a), "a.json", {});
    EXPECT_TRUE(read.has_value()) << (read ? "" : to_text(read.error()));
    if (!read) return {};
    return analysis(std::move(read->run));
}

std::string faults_of(const std::string& text) {
    const auto read = read_result_json(text, "r.json", {});
    return read ? "" : to_text(read.error());
}

TEST(ResultJson, kernels_and_machine_survive_the_trip) {
    auto kernels = sample::training_step();
    kernels[0].phase = Symbol("forward"), kernels[0].shape = LaunchShape{{1, 2, 3}, {4, 5, 6}};
    kernels[0].level_peaks = {{Level::dram, {Bandwidth{9e11}, Origin::derived, Symbol("dram__peak")}}};
    kernels[0].pipe_peaks = {{Pipe::fp32, {FlopRate{1.5e13}, Origin::derived, Symbol("sm__peak")}}};
    kernels[1].has_uncounted_work = true, kernels[1].reasons = {Symbol("a reason")};
    kernels[2].time->origin = Origin::modelled;
    const Analysis first = analysis({"", kernels, {sample::v100_like()}}), second = again(first);
    ASSERT_EQ(second.rows.size(), first.rows.size());
    EXPECT_EQ(csv(second), csv(first));
    EXPECT_EQ(to_json(second.machines[0]), to_json(first.machines[0]));
    EXPECT_EQ(second.rows[0].kernel.shape, first.rows[0].kernel.shape);
    EXPECT_EQ(second.rows[0].verdict.levels.back().ceiling.value(), 9e11);
    for (std::size_t i = 0; i < first.rows.size(); ++i)
        EXPECT_EQ(second.rows[i].kernel.time->origin, first.rows[i].kernel.time->origin);
}

TEST(ResultJson, is_recognised_by_its_schema) {
    EXPECT_TRUE(is_result_json(json(sample::toy())));
    EXPECT_FALSE(is_result_json(R"({"schema": 1, "id": "v100"})"));
    EXPECT_FALSE(is_result_json("\"ID\",\"gambrel-analysis-1\""));
}

TEST(ResultJson, the_roofs_that_judged_survive_the_trip) {
    Analysis a = sample::toy();
    for (const Roofs roofs : {Roofs::measured, Roofs::theoretical}) {
        a.roofs = roofs;
        EXPECT_EQ(read_result_json(json(a), "a.json", {})->run.roofs, roofs);
    }
    EXPECT_THAT(faults_of(R"({"schema": "gambrel-analysis-1", "rows": [], "roofs": "tiled"})"),
                HasSubstr("roofs: \"tiled\" found, expected"));
}

TEST(ResultJson, layers_are_read_by_their_roofline) {
    const std::string layers =
        R"({"schema": "gambrel-layers-1", "layers": [], "roofline": )" + json(sample::toy()) + "}";
    EXPECT_TRUE(is_result_json(layers));
    const auto read = read_result_json(layers, "l.json", {});
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(read->run.kernels.size(), sample::toy().rows.size());
    EXPECT_THAT(faults_of(R"({"schema": "gambrel-layers-1", "layers": []})"), HasSubstr("roofline: missing"));
    EXPECT_THAT(
        faults_of(R"({"schema": "gambrel-layers-1", "roofline": {"schema": "gambrel-analysis-1", "rows": [1]}})"),
        HasSubstr("roofline.rows[0]."));
}

TEST(ResultJson, says_where_and_what_is_wrong) {
    EXPECT_THAT(faults_of("{"), HasSubstr("is not valid JSON"));
    EXPECT_THAT(faults_of(R"({"schema": "gambrel-analysis-9", "rows": []})"),
                HasSubstr("expected \"gambrel-analysis-1\""));
    EXPECT_THAT(faults_of(R"({"schema": "gambrel-analysis-1"})"), HasSubstr("rows: missing"));
    const std::string bad = faults_of(
        R"({"schema": "gambrel-analysis-1", "rows": [{"name": 7, "time_s": {"value": -1, "origin": "measured"}},
            {"name": "a", "traffic": {"l1_bytes": {"value": 1, "origin": "guessed"}}}, 3]})");
    EXPECT_THAT(bad, HasSubstr("r.json: rows[0].name: 7 found, expected a text"));
    EXPECT_THAT(bad, HasSubstr("rows[0].time_s.value: -1 found"));
    EXPECT_THAT(bad, HasSubstr("rows[1].traffic.l1_bytes.origin: \"guessed\" is not a valid origin"));
    EXPECT_THAT(bad, HasSubstr("rows[2]"));
}

TEST(ResultJson, keeps_only_what_is_asked_for) {
    const auto read = read_result_json(json(sample::toy()), "a.json", [](const std::string& n) { return n == "gemm"; });
    ASSERT_TRUE(read);
    EXPECT_EQ(read->run.kernels.size(), 1u);
    EXPECT_EQ(read->filtered_launches, 14u);
}

}  // namespace
}  // namespace gambrel::ingest_detail
