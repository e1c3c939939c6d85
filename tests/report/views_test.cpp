// Does every view of a result carry its figures with the right units, and say where they come from?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/explore_charts.hpp"
#include "report/results.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

TextStyle wide() {
    TextStyle style;
    style.width = 200;
    return style;
}

TEST(MeasureViews, carry_values_units_and_that_they_were_measured) {
    const Measurement m = sample::small_measurement();
    EXPECT_THAT(measurement_text(m, wide()),
                testing::AllOf(HasSubstr("12.5 TFLOP/s"), HasSubstr("83.3 %"), HasSubstr("FAILED")));
    const std::string drawing = sweep_svg(m);
    for (const char* part : {"Toy GPU · toy:0 · measured · 2026-01-02", "L1 10 TB/s", "DRAM 1 TB/s", "L1 ends, 128 KiB",
                             "Bandwidth [B/s]"})
        EXPECT_THAT(drawing, HasSubstr(part));
    ASSERT_EQ(sweep_charts(m).size(), 1u);
    EXPECT_EQ(sweep_charts(m)[0].y.unit, "B/s");
    EXPECT_EQ(sweep_charts(m)[0].series[0].marks[0].y, 10e12);
    Measurement stopped = m;
    stopped.interrupted = true, stopped.device.kind = DeviceKind::simulated;
    EXPECT_THAT(sweep_svg(stopped), HasSubstr("simulated"));
    EXPECT_THAT(sweep_svg(stopped), HasSubstr("partial result"));
    EXPECT_THAT(ert_json(m), HasSubstr("12500"));
}

TEST(MeasureViews, csv_quotes_commas_and_guards_formulas) {
    const std::string csv = measurement_csv(sample::small_measurement());
    EXPECT_THAT(csv, HasSubstr("FP32 FMA,compute"));
    EXPECT_THAT(csv, HasSubstr("12500000000000"));
    EXPECT_THAT(csv, HasSubstr("\n\"'=HYPERLINK(\"\"x\"\"), copy\",bandwidth"));
    EXPECT_THAT(csv, HasSubstr("\"the sum, as read, is wrong\""));
}

// Two layers of resnet50, of which V100 runs the 3x3 one by Winograd's algorithm.
TEST(EstimateViews, name_the_algorithms_that_the_model_chose) {
    LayerSet set;
    set.title = "two";
    set.network.emplace();
    for (const std::int64_t filter : {1, 3}) {
        Convolution v{.n = 64, .c = 64, .h = 56, .w = 56, .k = 64, .r = filter, .s = filter};
        v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = filter / 2;
        set.network->layers.push_back({filter == 1 ? "one" : "three", v});
    }
    take_fastest_algorithms(set.network->layers);
    EstimatorOptions options;
    options.machine = *find_in_catalogue("v100");
    const auto made = estimate(std::make_shared<const LayerSet>(set), options);
    ASSERT_TRUE(made) << to_text(made.error());
    EXPECT_THAT(estimates_text(*made, wide()), HasSubstr("predicted fastest: 1 WINOGRAD, 1 implicit GEMM"));
    TextStyle narrow = wide();
    narrow.width = 24;  // the end of the heading was cut off: "... V100-SXM2-16GB: mod…"
    EXPECT_THAT(estimates_text(*made, narrow), HasSubstr("modelled"));
    // The time is that of one run: without their number, the order by share of the whole looks wrong.
    narrow.width = 44;
    EXPECT_THAT(estimates_text(*made, narrow), HasSubstr("runs"));
    const Json json = Json::parse(estimates_json(*made, analysis(to_run(*made))));
    EXPECT_EQ(json.at("layers").at(0).at("algorithm"), "implicit GEMM");
    EXPECT_EQ(json.at("layers").at(1).at("algorithm"), "WINOGRAD");
    EXPECT_THAT(page_layers(*made).at(1).detail, HasSubstr(", by WINOGRAD, tile 512x32x8"));
    EXPECT_EQ(explanation(made->rows.at(1).estimates.at(0)).front().result, "WINOGRAD");
}

TEST(ClusterText, names_the_outlier_with_its_rank) {
    ClusterSummary s;
    CeilingSpread spread;
    spread.typical = sample::small_measurement().ceilings[0];
    spread.ranks = 3, spread.lowest = 10e12, spread.highest = 12.5e12, spread.lowest_rank = 2;
    spread.outliers = {{2, "gpu-2", -0.2, true}};
    s.ceilings = {spread};
    s.failed = {{1, "no device"}};
    const std::string text = cluster_text(s, wide());
    for (const char* part :
         {"FP32 FMA", "10 TFLOP/s", "20.0 %", "rank 2 (gpu-2)", "-20.0 %, worse", "Failed: rank 1: no device"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(ExploreViews, say_modelled_in_every_picture) {
    const ExplorationReport r = sample::small_exploration();
    for (std::size_t i = 0; i < kExploreCharts; ++i) {
        const auto chart = static_cast<ExploreChart>(i);
        EXPECT_EQ(explore_chart_from(name(chart)), chart);
        EXPECT_THAT(explore_svg(r, chart), HasSubstr("modelled")) << name(chart);
        EXPECT_THAT(explore_terminal(r, chart, wide()), HasSubstr("modelled")) << name(chart);
        EXPECT_TRUE(svg_to_png(explore_svg(r, chart), 0.2)) << name(chart);
    }
    ExplorationReport stopped = r;
    stopped.partial = true;
    EXPECT_THAT(explore_svg(stopped, ExploreChart::designs), HasSubstr("partial result"));
    const PageView view = explore_view(r, nullptr);
    ASSERT_EQ(view.charts.size(), 2u);
    ASSERT_EQ(view.bars.size(), 2u);
    for (const Chart& chart : view.charts) EXPECT_THAT(chart.subtitle, HasSubstr("modelled"));
    for (const BarChart& chart : view.bars) EXPECT_THAT(chart.subtitle, HasSubstr("modelled"));
}

TEST(ExploreViews, draw_the_figures_of_the_report) {
    const ExplorationReport r = sample::small_exploration();
    const PageView view = explore_view(r, nullptr);
    const BarChart& times = view.bars[1];
    EXPECT_EQ(times.x.unit, "s");
    ASSERT_EQ(times.bars.size(), r.designs.size());
    double sum = 0;
    for (const double part : times.bars[0].parts) sum += part;
    EXPECT_NEAR(sum, r.designs[0].timing.time, 1e-12) << "the parts of a bar are its time";
    const Chart& front = view.charts[0];
    EXPECT_EQ(front.series[0].marks.size(), r.front.size());
    EXPECT_EQ(front.series[0].marks.back().x, r.front.back().cost);
    EXPECT_EQ(front.series[0].marks.back().y, r.front.back().speedup);
    // A contour of speed-up 1 or more lies within the map, and every point of it between the grid's ends.
    const Chart& map = view.charts[1];
    ASSERT_FALSE(map.series.empty());
    for (const ChartSeries& line : map.series)
        for (const ChartMark& m : line.marks) {
            EXPECT_GE(m.x, r.map->x.values.front() * 0.999);
            EXPECT_LE(m.x, r.map->x.values.back() * 1.001);
            EXPECT_GE(m.y, r.map->y.values.front() * 0.999);
        }
    const std::string text = explore_text(r, wide(), true), answer = report_detail::explore_answer(r);
    EXPECT_THAT(text, testing::StartsWith("alexnet on "));
    EXPECT_LT(text.find(answer), text.find("speed-up")) << "the answer stands before the tables";
    EXPECT_THAT(text, testing::EndsWith(answer + "\n")) << "and after the charts";
    EXPECT_THAT(explore_csv(r), testing::StartsWith("kind,name,cost,speedup,time_s,"));
    const Json json = Json::parse(explore_json(r));
    EXPECT_EQ(json["origin"], "modelled");
    EXPECT_DOUBLE_EQ(json["designs"][0]["time_s"].get<double>(), r.designs[0].timing.time);
}

TEST(ExploreViews, without_a_search_there_is_no_front_and_no_map) {
    ExplorationReport r = sample::small_exploration();
    r.front.clear(), r.map.reset(), r.designs.resize(1), r.search.clear(), r.target.reset();
    EXPECT_EQ(explore_svg(r, ExploreChart::map), "");
    EXPECT_EQ(explore_terminal(r, ExploreChart::pareto, wide()), "");
    EXPECT_NE(explore_svg(r, ExploreChart::designs), "");
}

TEST(ProofViews, carry_ratios_and_errors) {
    RatioProof proof;
    proof.from = "V100";
    proof.rows = {{"A100", "conv, 1", "conv", 2.0, 1.8, 1.7, 1.9, 2.0}};
    EXPECT_THAT(proof_text(proof, wide()), testing::AllOf(HasSubstr("A100"), HasSubstr("10.0 %")));
    EXPECT_THAT(proof_csv(proof), HasSubstr("A100,\"conv, 1\",2,1.8,1.7,1.9,2"));
}

TEST(ValidationViews, draw_predicted_against_measured_with_units) {
    const Validation v = sample::small_validation();
    const auto charts = validation_charts(v);
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[0].x.unit, "B");
    EXPECT_EQ(charts[1].x.unit, "s");
    EXPECT_EQ(charts[0].series[0].marks[0].x, 1e7);
    EXPECT_EQ(charts[0].series[0].marks[0].y, 1.1e7);
    EXPECT_THAT(charts[0].title, HasSubstr("3 rows, mean error 10.0 %, bias +10.0 %"));
    const std::string drawing = validation_svg(v, "toy.csv", Theme::light);
    for (const char* part :
         {"predicted (modelled) against measured", "Measured [B]", "Predicted [s]", "10 MB", "+10 %"})
        EXPECT_THAT(drawing, HasSubstr(part));
    EXPECT_TRUE(svg_to_png(drawing, 0.2));
}

TEST(ValidationViews, carry_the_errors_as_text_csv_json_and_markdown) {
    Validation v = sample::small_validation();
    EXPECT_THAT(validation_text(v, "toy.csv", wide(), 1), testing::AllOf(HasSubstr("10.0 %"), HasSubstr("+10.0 %")));
    v.unread = {{"line 4", "no such op"}, {"line 5", "no rows"}, {"line 6", "no rows"}};
    EXPECT_THAT(validation_text(v, "toy.csv", wide(), 1),
                HasSubstr("3 rows could not be judged:\n  2 x line 5: no rows\n  1 x line 4: no such op\n"));
    EXPECT_THAT(validation_csv(v), HasSubstr("2,layer|1,toy,fwd,fp32,,,,DRAM_bytes,10000000,11000000"));
    EXPECT_NEAR(Json::parse(validation_json(v))["errors"][0]["mean_absolute"].get<double>(), 0.1, 1e-9);
    constexpr auto kPaper = static_cast<std::size_t>(EstimateSource::paper);
    for (ValidationRow& row : v.rows)
        row.predicted[kPaper] = row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)];
    const std::string markdown = validation_markdown(v, "toy", "gambrel validate toy.csv");
    EXPECT_THAT(markdown, HasSubstr("| layer\\|1 |"));
    EXPECT_THAT(markdown, HasSubstr("| model, ours | model, paper |\n"));  // each source once
    v.partial = true;
    EXPECT_THAT(validation_markdown(v, "toy", ""), HasSubstr("Partial result"));
    EXPECT_THAT(validation_text(v, "toy", wide(), 1), HasSubstr("Partial result"));
    EXPECT_TRUE(Json::parse(validation_json(v))["partial"].get<bool>());
    EXPECT_THAT(validation_svg(v, "toy", Theme::dark), HasSubstr("partial result"));
}

TEST(CheckViews, failures_come_first_and_any_name_gives_valid_xml) {
    const CheckResult r = sample::small_check();
    const std::string text = check_text(r, wide()), markdown = check_markdown(r, "<run>"),
                      junit = check_junit(r, "run");
    EXPECT_LT(text.find("copy"), text.find("gemm"));
    EXPECT_THAT(text, testing::AllOf(HasSubstr("1.2 ms"), HasSubstr("75.0 %"), HasSubstr("FAILED: 1 of 2 checks")));
    EXPECT_THAT(markdown, testing::AllOf(HasSubstr("&lt;run&gt;"), HasSubstr("copy"), HasSubstr("partial result")));
    EXPECT_THAT(junit, testing::AllOf(HasSubstr("failures=\"1\""), HasSubstr("time 1.2 ms, at most 1 ms"),
                                      HasSubstr("partial result")));
    // U+FFFE and U+FFFF are valid UTF-8 and not characters of XML.
    EXPECT_THAT(junit, Not(HasSubstr("\xEF\xBF\xBE")));
    EXPECT_THAT(junit, Not(HasSubstr("\xEF\xBF\xBF")));
    EXPECT_EQ(Json::parse(check_json(r, "run"))["failures"], 1);
}

TEST(ComparisonViews, carry_changes_in_text_csv_and_picture) {
    Analysis before = sample::training(), after = sample::training();
    after.rows[0].kernel.time->value = before.rows[0].kernel.time->value / 2;
    before.title = "before.ncu-rep", after.title = "after.ncu-rep";
    const std::vector<Comparison> all{comparison(before, after)};
    EXPECT_THAT(comparison_text(all, wide()),
                testing::AllOf(HasSubstr("before.ncu-rep -> after.ncu-rep"), HasSubstr("-50.0 %")));
    EXPECT_THAT(comparison_csv(all), HasSubstr(",0.5,"));
    EXPECT_THAT(comparison_svg(all[0]), HasSubstr("before.ncu-rep -&gt; after.ncu-rep"));
}

TEST(ComparisonViews, mark_the_side_whose_source_was_cut_short) {
    Analysis before = sample::training(), after = sample::training();
    after.title = "after.ncu-rep", after.partial = true;
    const std::vector<Comparison> all{comparison(before, after)};
    EXPECT_THAT(comparison_text(all, wide()), HasSubstr("Partial result: the source of after.ncu-rep was cut short"));
    EXPECT_THAT(comparison_csv(all), ContainsRegex(",after,[0-9.e+-]*,"));
    EXPECT_THAT(comparison_json(all), HasSubstr("\"partial\": true"));
    after.partial = false;
    EXPECT_THAT(comparison_csv(std::vector{comparison(before, after)}), Not(ContainsRegex(",after,[0-9.e+-]*,")));
}

TEST(StudyViews, put_runs_side_by_side_with_units) {
    const std::vector<StudyRun> runs{{"PyTorch", "a,b", "forward", "fp16", sample::training()}};
    EXPECT_THAT(study_text(runs, wide(), 3),
                testing::AllOf(HasSubstr("PyTorch"), HasSubstr("FLOP/s"), HasSubstr("ms")));
    EXPECT_THAT(study_csv(runs), HasSubstr("PyTorch,\"a,b\",forward,fp16,12,"));
}

}  // namespace
}  // namespace gambrel
