#include "ingest/join.hpp"

#include <algorithm>
#include <ctime>

#include <gmock/gmock.h>

#include "csv_support.hpp"

namespace gambrel::ingest_detail {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

const MetricSet& joined_metrics() {
    static const MetricSet metrics =
        metric_set({"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11"});
    return metrics;
}

Profile profile(const std::string& source, const std::string& metric,
                const std::vector<std::pair<std::string, double>>& launches, std::uint64_t times = 1) {
    Profile p;
    p.source = source;
    p.tool = "ncu";
    for (const auto& [name, v] : launches) {
        Launch launch;
        launch.name = Symbol(name);
        launch.launches = times;
        add_value(p, launch, joined_metrics(), joined_metrics().find(metric), v);
        p.launches.push_back(launch);
    }
    return p;
}

TEST(Joined, appends_metrics_launch_by_launch) {
    Errors notes;
    const auto out =
        joined({profile("d/a", "m1", {{"x", 1}, {"y", 2}}), profile("d/b", "m2", {{"x", 3}, {"y", 4}})}, notes);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].source, "d");
    ASSERT_EQ(out[0].launches.size(), 2u);
    EXPECT_EQ(value(out[0], 0, joined_metrics(), "m1"), 1.0);
    EXPECT_EQ(value(out[0], 0, joined_metrics(), "m2"), 3.0);
    EXPECT_EQ(value(out[0], 1, joined_metrics(), "m2"), 4.0);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].where, "d");
}

TEST(Joined, names_the_launch_at_which_sequences_part) {
    Errors notes;
    const auto out =
        joined({profile("d/a", "m1", {{"x", 1}, {"y", 2}}), profile("d/b", "m2", {{"x", 3}, {"z", 4}})}, notes);
    EXPECT_EQ(out.size(), 2u);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].where, "d/b");
    EXPECT_THAT(notes[0].what, HasSubstr("launch 1 is \"z\" here and \"y\" in a"));
}

TEST(Joined, pairs_the_nth_launches_of_a_kernel_where_only_the_order_differs) {
    Errors notes;
    const auto out = joined(
        {profile("d/a", "m1", {{"x", 1}, {"y", 2}, {"x", 3}}), profile("d/b", "m2", {{"y", 20}, {"x", 10}, {"x", 30}})},
        notes);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(value(out[0], 0, joined_metrics(), "m2"), 10.0);
    EXPECT_EQ(value(out[0], 1, joined_metrics(), "m2"), 20.0);
    EXPECT_EQ(value(out[0], 2, joined_metrics(), "m2"), 30.0);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes[0].what, HasSubstr("1 of them launch the same kernels in another order"));
    EXPECT_THAT(notes[0].what, HasSubstr("launch 0 is \"y\" here and \"x\" in a"));
    EXPECT_THAT(notes[0].what, HasSubstr("not single launches"));
}

TEST(Joined, does_not_pair_kernels_that_ran_another_number_of_times) {
    Errors notes;
    const auto out = joined(
        {profile("d/a", "m1", {{"x", 1}, {"y", 2}, {"x", 3}}), profile("d/b", "m2", {{"y", 20}, {"x", 10}, {"y", 30}})},
        notes);
    EXPECT_EQ(out.size(), 2u);
}

TEST(Joined, names_the_launch_that_one_file_lacks) {
    Errors notes;
    const auto out = joined({profile("d/a", "m1", {{"x", 1}, {"y", 2}}), profile("d/b", "m2", {{"x", 3}})}, notes);
    EXPECT_EQ(out.size(), 2u);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes[0].what, HasSubstr("no launch 1 (1 in all)"));
}

TEST(Joined, refuses_the_same_kernels_in_other_shapes) {
    auto a = profile("d/a", "m1", {{"x", 1}}), b = profile("d/b", "m2", {{"x", 3}});
    a.launches[0].shape = LaunchShape{{1, 1, 1}, {32, 1, 1}};
    b.launches[0].shape = LaunchShape{{2, 1, 1}, {32, 1, 1}};
    Errors notes;
    EXPECT_EQ(joined({a, b}, notes).size(), 2u);
    EXPECT_THAT(notes.at(0).what, HasSubstr("grid 2x1x1"));
}

TEST(Joined, leaves_runs_with_the_same_metrics_apart) {
    Errors notes;
    const auto out = joined({profile("d/before", "m1", {{"x", 1}}), profile("d/after", "m1", {{"x", 2}}),
                             profile("d/b", "m2", {{"x", 3}}), profile("d/c", "m3", {{"x", 4}})},
                            notes);
    ASSERT_EQ(out.size(), 3u);  // b and c overlap with none
    EXPECT_EQ(out[0].source, "d/before");
    EXPECT_EQ(out[1].source, "d/after");
    EXPECT_EQ(out[2].launches[0].values, 2u);
}

// The details page rounds, so 100 and 100.4 are one measurement; 100 and 110 are two runs.
TEST(Joined, takes_pages_of_one_report_as_one_run) {
    Errors notes;
    EXPECT_EQ(joined({profile("d/details", "m1", {{"x", 100}}), profile("d/raw", "m1", {{"x", 100.4}})}, notes).size(),
              1u);
    EXPECT_EQ(joined({profile("d/before", "m1", {{"x", 100}}), profile("d/after", "m1", {{"x", 110}})}, notes).size(),
              2u);
    EXPECT_EQ(joined({profile("d/a", "m1", {{"x", 100}}), profile("d/b", "m1", {{"y", 100}})}, notes).size(), 2u);
}

TEST(Joined, leaves_other_folders_and_tools_apart) {
    Errors notes;
    auto other_tool = profile("d/c", "m3", {{"x", 1}});
    other_tool.tool = "nvprof";
    const auto out = joined({profile("d/a", "m1", {{"x", 1}}), profile("e/b", "m2", {{"x", 2}}), other_tool}, notes);
    EXPECT_EQ(out.size(), 3u);
    EXPECT_TRUE(notes.empty());
}

TEST(Joined, passes_a_single_profile_through) {
    Errors notes;
    const auto out = joined({profile("a", "m1", {{"x", 1}})}, notes);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].source, "a");
    EXPECT_TRUE(notes.empty());
    EXPECT_TRUE(joined({}, notes).empty());
}

TEST(Joined, joins_summaries_by_kernel_name_in_any_order) {
    Errors notes;
    const auto out = joined(
        {profile("d/a", "m1", {{"x", 1}, {"y", 2}}, 100), profile("d/b", "m2", {{"z", 5}, {"y", 4}, {"x", 3}}, 100)},
        notes);
    ASSERT_EQ(out.size(), 1u);
    ASSERT_EQ(out[0].launches.size(), 3u);
    EXPECT_EQ(out[0].launches[0].name.str(), "x");
    EXPECT_EQ(value(out[0], 0, joined_metrics(), "m2"), 3.0);
    EXPECT_EQ(value(out[0], 1, joined_metrics(), "m2"), 4.0);
    EXPECT_EQ(out[0].launches[2].name.str(), "z");
    EXPECT_FALSE(value(out[0], 2, joined_metrics(), "m1").has_value());
    EXPECT_EQ(out[0].launches[2].launches, 100u);
}

TEST(Joined, keeps_faults_shape_and_device_of_any_member) {
    auto a = profile("d/a", "m1", {{"x", NAN}}), b = profile("d/b", "m2", {{"x", NAN}});
    b.launches[0].device = Symbol("G");
    b.launches[0].shape = LaunchShape{{2, 1, 1}, {32, 1, 1}};
    Errors notes;
    const auto out = joined({a, b}, notes);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].launches[0].faults.size(), 2u);
    EXPECT_EQ(out[0].launches[0].device.str(), "G");
    EXPECT_TRUE(out[0].launches[0].shape.has_value());
}

// Twelve files of n launches: eight times the launches may cost about eight times the time, not sixty-four.
TEST(Joined, cost_grows_with_the_launches_and_no_faster) {
    const auto once = [](std::size_t n) {
        std::vector<Profile> profiles;
        for (std::size_t m = 0; m < 12; ++m) {
            std::vector<std::pair<std::string, double>> launches;
            for (std::size_t i = 0; i < n; ++i)
                launches.emplace_back("kernel " + std::to_string((i + m % 2) % 50), 1.0);
            profiles.push_back(
                profile("d/" + std::to_string(m), joined_metrics().name(static_cast<MetricId>(m)), launches));
        }
        Errors notes;
        const std::clock_t begin = std::clock();
        const auto out = joined(std::move(profiles), notes);
        const std::clock_t end = std::clock();
        EXPECT_EQ(out.size(), 1u);
        EXPECT_EQ(out.at(0).values.size(), 12 * n);
        return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
    };
    // CPU time, and the best of three: other work on the machine must not fail the test.
    const auto seconds = [&](std::size_t n) { return std::min({once(n), once(n), once(n)}); };
    EXPECT_LT(seconds(32000), 24 * std::max(seconds(4000), 1e-3));
}

// The authors' own sums over launches, for each kernel and each counter. Counters are whole numbers and must agree
// exactly.
void expect_deepcam(const std::string& folder, const std::string& expected, std::size_t launches) {
    const MetricSet metrics = nersc_metrics();
    std::vector<Profile> profiles;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string path = entry.path().string();
        const std::string text = text_of(path);
        ASSERT_TRUE(is_ncu_csv(text));
        auto p = read_ncu_csv(text, {path, metrics, {}});
        ASSERT_TRUE(p) << to_text(p.error());
        EXPECT_EQ(p->launches.size(), launches) << path;
        profiles.push_back(std::move(*p));
    }
    ASSERT_EQ(profiles.size(), 12u);
    Errors notes;
    const auto out = joined(std::move(profiles), notes);
    ASSERT_EQ(out.size(), 1u) << to_text(notes);
    const Profile& p = out[0];
    EXPECT_EQ(p.launches.size(), launches);
    std::map<std::string, std::map<std::string, double>> by_metric;
    for (std::size_t m = 0; m < metrics.size(); ++m) {
        const std::string& name = metrics.name(static_cast<MetricId>(m));
        by_metric[name] = sums(p, metrics, name);
    }
    const auto rows = table(expected);
    EXPECT_EQ(rows.size(), by_metric["dram__bytes.sum"].size());
    std::size_t counted = 0;
    for (const auto& row : rows) {
        const std::string& kernel = row.at("Kernel Name");
        counted += std::stoul(row.at("Count"));
        for (const auto& [metric, kernels] : by_metric) {
            if (!row.contains(metric)) continue;
            ASSERT_TRUE(kernels.contains(kernel)) << kernel;
            const double want = std::stod(row.at(metric));
            if (metric.starts_with("sm__cycles"))
                EXPECT_NEAR(kernels.at(kernel) / want, 1, 1e-12) << metric << " of " << kernel;
            else
                EXPECT_EQ(kernels.at(kernel), want) << metric << " of " << kernel;
        }
    }
    EXPECT_EQ(counted, launches);
}

TEST(JoinedFiles, deepcam_pytorch_adds_up_to_the_authors_tables) {
    const std::string base = shared("deepcam/pytorch");
    GAMBREL_NEEDS(base);
    expect_deepcam(base + "/PT-fp32-O0-Adam-fw-733726", base + "/expected/fp32-O0-Adam-fw.csv", 633);
    expect_deepcam(base + "/PT-fp32-O1-Adam-bw-733727", base + "/expected/fp32-O1-Adam-bw.csv", 1575);
    expect_deepcam(base + "/PT-fp32-O1-Adam-fw-733728", base + "/expected/fp32-O1-Adam-fw.csv", 797);
}

TEST(JoinedFiles, deepcam_tensorflow_adds_up_to_the_authors_tables) {
    const std::string base = shared("deepcam/tensorflow");
    GAMBREL_NEEDS(base);
    expect_deepcam(base + "/TF-fp16-batch2-fw-amp-732365", base + "/expected/fp16-batch2-fw-amp.csv", 559);
    expect_deepcam(base + "/TF-fp32-batch1-fw-noamp-732370", base + "/expected/fp32-batch1-fw-noamp.csv", 465);
}

TEST(JoinedFiles, nvprof_and_ncu_summaries_of_one_folder_join_each_with_its_like) {
    const std::string folder = shared("nvprof_csv");
    GAMBREL_NEEDS(folder);
    const MetricSet metrics =
        metric_set({"nvprof:time", "nvprof:dram_read_transactions", "nvprof:thread_inst_executed",
                    "dram__sectors_read.sum", "gpu__time_active.avg", "smsp__thread_inst_executed.sum"});
    std::vector<Profile> profiles;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string path = entry.path().string();
        const std::string text = text_of(path);
        auto p =
            is_ncu_csv(text) ? read_ncu_csv(text, {path, metrics, {}}) : read_nvprof_csv(text, {path, metrics, {}});
        ASSERT_TRUE(p) << to_text(p.error());
        profiles.push_back(std::move(*p));
    }
    Errors notes;
    auto out = joined(std::move(profiles), notes);
    ASSERT_EQ(out.size(), 2u) << to_text(notes);
    if (out[0].tool == "nvprof") std::swap(out[0], out[1]);
    ASSERT_EQ(out[0].launches.size(), 2u);
    for (const Launch& launch : out[0].launches) EXPECT_EQ(launch.values, 3u);
    ASSERT_EQ(out[1].launches.size(), 1u);
    EXPECT_EQ(out[1].launches[0].values, 3u);
    EXPECT_EQ(out[1].launches[0].device.str(), "Tesla V100S-PCIE-32GB");
    EXPECT_DOUBLE_EQ(value(out[1], 0, metrics, "nvprof:time").value(), 26445.0);
}

}  // namespace
}  // namespace gambrel::ingest_detail
