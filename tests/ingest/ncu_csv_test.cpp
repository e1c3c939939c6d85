#include <gmock/gmock.h>

#include "csv_support.hpp"

namespace gambrel::ingest_detail {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr std::string_view kHead =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::string row(int id, const std::string& kernel, const std::string& metric, const std::string& unit,
                const std::string& v) {
    return "\"" + std::to_string(id) + "\",\"7\",\"" + kernel +
           "\",\"1\",\"7\",\"(128, 1, 1)\",\"(40, 2, 1)\",\"0\",\"8.9\",\"S\",\"" + metric + "\",\"" + unit + "\",\"" +
           v + "\"\n";
}

const MetricSet& two_metrics() {
    static const MetricSet metrics = metric_set({"m1", "m2"});
    return metrics;
}

Profile parsed_csv(const std::string& text, const MetricSet& metrics = two_metrics(), KeepName keep = {}) {
    EXPECT_TRUE(is_ncu_csv(text));
    auto profile = read_ncu_csv(text, {"run.csv", metrics, std::move(keep)});
    if (!profile) ADD_FAILURE() << to_text(profile.error());
    return profile ? *profile : Profile{};
}

TEST(NcuCsv, reads_rows_of_metrics_into_launches) {
    const auto p =
        parsed_csv("program says hello\n" + std::string(kHead) + row(0, "a<int, 4>", "m1", "Kbyte", "1,234.5") +
                   row(0, "a<int, 4>", "m2", "cycle/nsecond", "1.5") + row(0, "a<int, 4>", "unwanted", "", "3") +
                   row(1, "b", "m1", "byte", "7"));
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.source, "run.csv");
    EXPECT_EQ(p.tool, "ncu");
    EXPECT_EQ(p.launches[0].name.str(), "a<int, 4>");
    EXPECT_EQ(value(p, 0, two_metrics(), "m1"), 1234500.0);
    EXPECT_EQ(value(p, 0, two_metrics(), "m2"), 1.5e9);
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 7.0);
    EXPECT_EQ(p.values.size(), 3u);
    EXPECT_EQ(p.launches[0].shape, (LaunchShape{{40, 2, 1}, {128, 1, 1}}));
    EXPECT_EQ(p.launches[0].cc, (ComputeCapability{8, 9}));
    EXPECT_TRUE(p.launches[0].device.empty());  // the Device column is an index, not a name
    EXPECT_TRUE(p.notes.empty());
}

TEST(NcuCsv, gathers_rows_of_a_launch_that_lie_apart) {
    const auto p = parsed_csv(std::string(kHead) + row(0, "a", "m1", "", "1") + row(1, "b", "m1", "", "2") +
                              row(0, "a", "m2", "", "3") + row(1, "b", "m2", "", "4"));
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(value(p, 0, two_metrics(), "m2"), 3.0);
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 2.0);
    EXPECT_EQ(value(p, 1, two_metrics(), "m2"), 4.0);
}

TEST(NcuCsv, passes_over_program_output_between_rows) {
    const auto p =
        parsed_csv(std::string(kHead) + row(0, "a", "m1", "", "1") + "loss = 3, 4\n\n==PROF== Disconnected\n" +
                   row(0, "a", "m2", "", "2") + "progress..." + row(1, "b", "m1", "", "3"));
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(value(p, 0, two_metrics(), "m2"), 2.0);
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 3.0);
    EXPECT_TRUE(p.notes.empty());
}

TEST(NcuCsv, finds_columns_by_name_in_any_order) {
    const auto p = parsed_csv(
        "\"Metric Value\",\"Metric Name\",\"Kernel Name\",\"ID\",\"Metric Unit\"\n"
        "\"5\",\"m1\",\"k\",\"0\",\"us\"\n\"6\",\"m2\",\"k\",\"0\",\"\"\n\"7\",\"m1\",\"k\",\"1\",\"us\"\n");
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(value(p, 0, two_metrics(), "m1"), 5000.0);
    EXPECT_EQ(value(p, 0, two_metrics(), "m2"), 6.0);
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 7000.0);
}

TEST(NcuCsv, reads_tables_that_other_tools_wrote_without_quotes) {
    const auto p = parsed_csv(
        "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\r\n0,\"f(int, int)\",m1,byte,12\r\n1,g,m1,byte,13\r\n");
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.launches[0].name.str(), "f(int, int)");
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 13.0);
}

TEST(NcuCsv, notes_a_bad_row_with_its_line_and_reads_the_rest) {
    const auto p = parsed_csv(std::string(kHead) + row(0, "a", "m1", "", "1") + "\"too\",\"few\"\n" +
                              row(1, "b", "m1", "", "2") + "\"2\",\"7\",\"cut o");
    ASSERT_EQ(p.launches.size(), 2u);
    ASSERT_EQ(p.notes.size(), 2u);
    EXPECT_EQ(p.notes[0].where, "run.csv: line 3");
    EXPECT_THAT(p.notes[0].what, HasSubstr("2 fields, its header 13"));
    EXPECT_EQ(p.notes[1].where, "run.csv: line 5");
    EXPECT_THAT(p.notes[1].what, HasSubstr("cut off"));
}

TEST(NcuCsv, names_only_the_first_of_many_bad_rows) {
    std::string text(kHead);
    for (int i = 0; i < 5000; ++i) text += "\"too\",\"few\"\n";
    const auto p = parsed_csv(text);
    EXPECT_EQ(p.notes.size(), 11u);
    EXPECT_THAT(p.notes.back().what, HasSubstr("5000 rows"));
}

TEST(NcuCsv, keeps_a_nan_as_a_fault_of_its_launch) {
    const auto p = parsed_csv(std::string(kHead) + row(0, "a", "m1", "", "nan") + row(0, "a", "m2", "", "n/a") +
                              row(1, "b", "m1", "", "") + row(2, "c", "m1", "byte", "737,869,762,948,900,000,000"));
    EXPECT_TRUE(std::isnan(value(p, 0, two_metrics(), "m1").value()));
    EXPECT_EQ(p.launches[0].faults.size(), 2u);
    EXPECT_FALSE(value(p, 1, two_metrics(), "m1").has_value());
    EXPECT_TRUE(std::isnan(value(p, 2, two_metrics(), "m1").value()));  // 40 * 2^64, a wrapped counter
    EXPECT_EQ(p.launches[2].faults.size(), 1u);
}

TEST(NcuCsv, reads_ambiguous_numbers_by_the_convention_of_the_file) {
    const std::string ambiguous = std::string(kHead) + row(0, "a", "m1", "", "5,376");
    EXPECT_EQ(value(parsed_csv(ambiguous), 0, two_metrics(), "m1"), 5376.0);
    EXPECT_EQ(value(parsed_csv(ambiguous + row(0, "a", "m2", "", "0,25")), 0, two_metrics(), "m1"), 5.376);
    // A metric that nobody wants still shows the convention.
    EXPECT_EQ(value(parsed_csv(ambiguous + row(0, "a", "unwanted", "", "1.234.567,5")), 0, two_metrics(), "m1"), 5.376);
}

TEST(NcuCsv, says_once_that_a_unit_is_unknown_and_keeps_the_value) {
    const auto p =
        parsed_csv(std::string(kHead) + row(0, "a", "m1", "furlong", "3") + row(1, "a", "m1", "furlong", "4"));
    EXPECT_EQ(value(p, 1, two_metrics(), "m1"), 4.0);
    ASSERT_EQ(p.notes.size(), 1u);
    EXPECT_THAT(p.notes[0].what, HasSubstr("furlong"));
}

TEST(NcuCsv, takes_the_first_of_a_metric_that_a_details_page_repeats) {
    const std::string head =
        "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule "
        "Type\"\n";
    const auto p =
        parsed_csv(head +
                   "\"0\",\"k\",\"A\",\"m1\",\"\",\"1\",\n\"0\",\"k\",\"A\",\"\",\"\",\"\",\"Rule\",\"OPT\"\n"
                   "\"0\",\"k\",\"B\",\"m1\",\"%\",\"9\",\n\"0\",\"k\",\"B\",\"m2\",\"\",\"2\",\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.values.size(), 2u);
    EXPECT_EQ(value(p, 0, two_metrics(), "m1"), 1.0);
    EXPECT_TRUE(p.notes.empty());  // rows without the rule columns are not short
}

// Found by fuzzing: rows may end before the rule columns only if nothing of a launch stands behind those.
TEST(NcuCsv, does_not_read_a_device_behind_the_end_of_a_short_row) {
    const auto p = parsed_csv(
        "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\","
        "\"device__attribute_display_name\"\n"
        "\"0\",\"k\",\"m1\",\"byte\",\"7\"\n"
        "\"1\",\"k\",\"m1\",\"byte\",\"8\",\"\",\"Tesla T4\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.launches[0].device.str(), "Tesla T4");
    ASSERT_EQ(p.notes.size(), 1u);
    EXPECT_THAT(p.notes[0].what, HasSubstr("5 fields"));
}

TEST(NcuCsv, does_not_merge_launches_of_two_tables_in_one_file) {
    const std::string one = std::string(kHead) + row(0, "a", "m1", "", "1");
    const auto p = parsed_csv(one + one);
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.launches[1].values, 1u);
}

TEST(NcuCsv, reads_summaries_as_averages) {
    const auto p = parsed_csv(
        "\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Invocations\",\"Metric Name\",\"Metric "
        "Unit\",\"Minimum\",\"Maximum\","
        "\"Average\"\n\"k\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"1,100\",\"m1\",\"inst\",\"1.00\",\"3.00\",\"2.00\"\n"
        "\"k\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"1,100\",\"m2\",\"inst\",\"1.00\",\"5.00\",\"3.00\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.launches[0].launches, 1100u);
    EXPECT_EQ(value(p, 0, two_metrics(), "m1"), 2.0);
    EXPECT_EQ(value(p, 0, two_metrics(), "m2"), 3.0);
}

TEST(NcuCsv, reads_raw_pages_by_their_line_of_units) {
    const std::string text =
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
        "Size\",\"CC\",\"device__attribute_display_name\",\"m1\",\"x__y\",\"m2\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"\",\"us\"\n"
        "\"0\",\"k\",\"8, 1, 1\",\"2, 1, 1\",\"10.0\",\"NVIDIA B200\",\"1.5\",\"No-CC\",\"2\"\n"
        "\"1\",\"k\",\"8, 1, 1\",\"2, 1, 1\",\"10.0\",\"NVIDIA B200\",\"\",\"No-CC\",\"3\"\n";
    const auto p = parsed_csv(text);
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.launches[0].device.str(), "NVIDIA B200");
    EXPECT_EQ(value(p, 0, two_metrics(), "m1"), 1.5e6);
    EXPECT_EQ(value(p, 1, two_metrics(), "m2"), 3000.0);
    EXPECT_FALSE(value(p, 1, two_metrics(), "m1").has_value());
    EXPECT_EQ(p.launches[1].shape, (LaunchShape{{2, 1, 1}, {8, 1, 1}}));
}

TEST(NcuCsv, filters_launches_by_name) {
    const auto p = parsed_csv(
        std::string(kHead) + row(0, "a", "m1", "", "1") + row(0, "a", "m2", "", "1") + row(1, "b", "m1", "", "2"),
        two_metrics(), [](const std::string& name) { return name == "b"; });
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.launches[0].name.str(), "b");
    EXPECT_EQ(p.filtered_launches, 1u);
}

TEST(NcuCsv, reads_nvtx_ranges_outermost_first) {
    const auto p = parsed_csv(
        "\"ID\",\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\",\"Metric "
        "Name\",\"Metric Unit\",\"Metric Value\"\n"
        "\"0\",\"1  \"\"<default domain>:forward:none:none:none:none:none:none\"\"  \"\"<default "
        "domain>:gemm: m=8:none:none:none:none:none:none\"\" \",\"k\",\"m1\",\"\",\"1\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    ASSERT_EQ(p.launches[0].nvtx.size(), 2u);
    EXPECT_EQ(p.launches[0].nvtx[0].str(), "forward");
    EXPECT_EQ(p.launches[0].nvtx[1].str(), "gemm: m=8");
}

TEST(NcuCsv, says_what_a_file_without_a_table_holds) {
    const std::string text = "==PROF== Connected\n==ERROR== The application returned an error code (1).\n";
    EXPECT_TRUE(is_ncu_csv(text));
    const auto profile = read_ncu_csv(text, {"dir/run.csv", two_metrics(), {}});
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error()[0].where, "dir/run.csv");
    EXPECT_THAT(profile.error()[0].what, HasSubstr("==ERROR== The application returned an error code (1)."));
    EXPECT_THAT(profile.error()[0].what, HasSubstr("Kernel Name"));
    EXPECT_FALSE(read_ncu_csv("", {"x", two_metrics(), {}}));
    EXPECT_FALSE(read_ncu_csv("hello\n", {"x", two_metrics(), {}}));
}

TEST(NcuCsv, is_not_any_table_with_a_kernel_name_in_it) {
    EXPECT_FALSE(is_ncu_csv("Kernel Name,Count,Time\nk,1,2\n"));
    EXPECT_FALSE(is_ncu_csv(
        "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"));
    EXPECT_FALSE(is_ncu_csv(""));
}

}  // namespace
}  // namespace gambrel::ingest_detail
