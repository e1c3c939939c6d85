// Traps of the report format, each set in a report made for it. Damaged reports are in ncu_report_damage_test.cpp, real
// ones in ncu_report_files_test.cpp.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/ncu_report_sample.hpp"

namespace gambrel::ingest_detail {
namespace {

using namespace gambrel::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NcuReport, is_recognised_by_its_first_four_bytes) {
    EXPECT_TRUE(is_ncu_report(ReportBuilder().bytes()));
    EXPECT_FALSE(is_ncu_report("NVR"));
    EXPECT_FALSE(is_ncu_report("\"ID\",\"Process ID\""));
    EXPECT_FALSE(is_ncu_report(""));
}

TEST(NcuReport, gives_wanted_metrics_and_drops_others) {
    const auto profile = parsed_report(one_kernel(kernel()
                                                      .message(13, metric(0, real_value(1)))
                                                      .message(13, metric(1, real_value(2)))
                                                      .message(13, metric(2, u64_value(3)))));
    ASSERT_EQ(profile.launches.size(), 1U);
    EXPECT_EQ(profile.tool, "ncu");
    EXPECT_EQ(profile.tool_version, "2022.3.0.0");
    EXPECT_EQ(profile.source, "r.ncu-rep");
    EXPECT_EQ(profile.values.size(), 2U);
    EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 2.0);
    EXPECT_EQ(value(profile, 0, "dram__bytes.sum"), 3.0);
    EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(NcuReport, reads_every_type_of_value) {
    const std::vector<std::pair<Message, double>> cases = {{real_value(2.5), 2.5},
                                                           {u64_value(1ULL << 40), 1099511627776.0},
                                                           {Message().single(2, 0.5F), 0.5},
                                                           {Message().number(4, 7), 7.0},
                                                           {text_value("12.25"), 12.25}};
    for (const auto& [message, expected] : cases)
        EXPECT_EQ(
            value(parsed_report(one_kernel(kernel().message(13, metric(1, message)))), 0, "gpu__time_duration.sum"),
            expected);
}

TEST(NcuReport, an_absent_value_is_no_value_and_text_is_no_number) {
    const auto profile = parsed_report(
        one_kernel(kernel().message(13, Message().number(1, 1)).message(13, metric(2, text_value("CachePreferNone")))));
    EXPECT_EQ(profile.launches.at(0).values, 0U);
}

TEST(NcuReport, nan_and_wrapped_counters_become_nan_with_a_fault) {
    const auto profile = parsed_report(one_kernel(
        kernel().message(13, metric(1, real_value(std::nan("")))).message(13, metric(2, u64_value(1ULL << 63)))));
    EXPECT_TRUE(std::isnan(value(profile, 0, "gpu__time_duration.sum").value()));
    EXPECT_TRUE(std::isnan(value(profile, 0, "dram__bytes.sum").value()));
    EXPECT_THAT(texts(profile.launches[0].faults),
                ElementsAre(HasSubstr("gpu__time_duration.sum"), HasSubstr("dram__bytes.sum")));
}

TEST(NcuReport, what_cannot_be_negative_becomes_nan_with_a_fault) {
    const auto profile = parsed_report(
        one_kernel(kernel().message(13, metric(1, real_value(-1e-6))).message(13, metric(2, real_value(-5)))));
    EXPECT_TRUE(std::isnan(value(profile, 0, "gpu__time_duration.sum").value()));
    EXPECT_TRUE(std::isnan(value(profile, 0, "dram__bytes.sum").value()));
    EXPECT_THAT(texts(profile.launches[0].faults),
                ElementsAre(HasSubstr("-1e-06 refused: it is negative"), HasSubstr("dram__bytes.sum = -5 refused")));
}

// protozero keeps lengths in 32 bits, where 2^32 is 0.
TEST(NcuReport, the_last_of_duplicates_wins) {
    const auto profile = parsed_report(one_kernel(kernel()
                                                      .message(13, metric(1, real_value(232160)))
                                                      .message(13, metric(2, u64_value(1)))
                                                      .message(13, metric(1, real_value(232800)))
                                                      .message(13, Message().number(1, 1))));
    EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 232800.0);
    EXPECT_EQ(profile.values.size(), 2U);
}

TEST(NcuReport, names_that_arrive_in_a_later_block_are_resolved) {
    Block first, second;
    first.kernels = {kernel().message(13, metric(3, real_value(5)))};
    first.strings = {"unwanted", "other"};
    second.strings = {"third", "dram__bytes.sum"};
    const auto profile = parsed_report(ReportBuilder().block(first).block(second).bytes());
    EXPECT_EQ(value(profile, 0, "dram__bytes.sum"), 5.0);
    EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(NcuReport, a_name_that_never_arrives_is_a_note_and_the_other_values_stand) {
    const auto profile = parsed_report(
        one_kernel(kernel().message(13, metric(99, real_value(5))).message(13, metric(1, real_value(6)))));
    EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 6.0);
    ASSERT_EQ(profile.notes.size(), 1U);
    EXPECT_THAT(profile.notes[0].what, HasSubstr("1 metric values have names beyond the 3"));
}

TEST(NcuReport, an_empty_demangled_name_falls_back_to_the_function_name) {
    EXPECT_EQ(parsed_report(one_kernel(kernel("void f<int>(int)"))).launches.at(0).name.str(), "void f<int>(int)");
    EXPECT_EQ(parsed_report(one_kernel(kernel("", "triton_mm"))).launches.at(0).name.str(), "triton_mm");
    EXPECT_EQ(parsed_report(one_kernel(kernel("", ""))).launches.at(0).name.str(), "_Z1ki");
    EXPECT_EQ(parsed_report(one_kernel(Message().number(1, 1))).launches.at(0).name.str(), "kernel 0");
}

TEST(NcuReport, unknown_fields_and_wire_types_are_skipped) {
    const auto profile =
        parsed_report(one_kernel(kernel()
                                     .single(35, 550.54F)
                                     .message(31, Message())
                                     .number(21, 5)   // NVTX state as a number
                                     .number(13, 5)   // a metric as a number
                                     .text(1, "tid")  // the thread as text
                                     .real(200, 1)
                                     .message(13, metric(1, real_value(4)).text(77, "new").number(4, 1))));
    EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 4.0);
    EXPECT_THAT(profile.notes, IsEmpty());
}

LaunchShape shape_of(const std::string& report) { return parsed_report(report).launches.at(0).shape.value(); }
const LaunchShape kTenByTwo{{10, 2, 1}, {256, 1, 1}};

TEST(NcuReport, grid_size_is_blocks_in_reports_that_name_their_version) {
    EXPECT_EQ(shape_of(one_kernel(kernel())), kTenByTwo);
}

TEST(NcuReport, grid_size_is_threads_in_reports_that_do_not) {
    Block old;
    old.kernels = {kernel("k(int)", "k", dim3(2560, 2, 1))};
    EXPECT_EQ(shape_of(ReportBuilder().block(old).bytes()), kTenByTwo);
}

TEST(NcuReport, grid_metrics_go_before_the_version) {
    // A truncated report has lost its version: the metric tells that 2560 is blocks.
    Block lost;
    lost.kernels = {kernel("k(int)", "k", dim3(2560, 2, 1)).message(13, metric(0, u64_value(5120)))};
    lost.strings = {"launch__grid_size"};
    EXPECT_EQ(shape_of(ReportBuilder().block(lost).bytes()), (LaunchShape{{2560, 2, 1}, {256, 1, 1}}));
    lost.kernels = {kernel("k(int)", "k", dim3(2560, 2, 1)).message(13, metric(0, real_value(20)))};
    EXPECT_EQ(shape_of(ReportBuilder().block(lost).bytes()), kTenByTwo);
    lost.kernels = {kernel("k(int)", "k", dim3(999, 9, 9))
                        .message(13, metric(0, real_value(10)))
                        .message(13, metric(1, real_value(2)))
                        .message(13, metric(2, u64_value(1)))};
    lost.strings = {"launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z"};
    EXPECT_EQ(shape_of(ReportBuilder().block(lost).bytes()), kTenByTwo);
}

TEST(NcuReport, a_shape_that_cannot_be_is_left_out) {
    EXPECT_FALSE(parsed_report(one_kernel(kernel("k", "k", dim3(0, 1, 1)))).launches.at(0).shape);
    EXPECT_FALSE(parsed_report(one_kernel(kernel("k", "k", dim3(1ULL << 40, 1, 1)))).launches.at(0).shape);
    Block old;
    old.kernels = {kernel("k(int)", "k", dim3(2561, 2, 1))};
    EXPECT_FALSE(parsed_report(ReportBuilder().block(old).bytes()).launches.at(0).shape);
}

Message push_pop(std::uint64_t thread, std::initializer_list<const char*> names) {
    Message domain;
    domain.number(1, 0);
    for (const char* name : names) domain.message(3, Message().text(1, name).number(3, 9));
    return Message().number(1, thread).message(2, domain);
}

TEST(NcuReport, nvtx_ranges_are_those_of_the_launching_thread_outermost_first) {
    const Message start_end = Message().number(1, 0).message(3, Message().number(1, 4).text(2, "epoch"));
    const Message state = Message()
                              .message(1, Message().number(1, 0).text(2, "<default domain>"))
                              .message(2, push_pop(5, {"other thread"}))
                              .message(2, push_pop(77, {"step", "forward", "conv"}))
                              .message(3, start_end);
    EXPECT_THAT(texts(parsed_report(one_kernel(kernel().message(21, state))).launches.at(0).nvtx),
                ElementsAre("step", "forward", "conv"));
    const Message only_start_end = Message().message(2, push_pop(5, {"other thread"})).message(3, start_end);
    EXPECT_THAT(texts(parsed_report(one_kernel(kernel().message(21, only_start_end))).launches.at(0).nvtx),
                ElementsAre("epoch"));
    EXPECT_THAT(parsed_report(one_kernel(kernel().message(21, Message()))).launches.at(0).nvtx, IsEmpty());
}

TEST(NcuReport, session_details_come_in_pieces_and_tell_of_the_device_where_the_result_is_silent) {
    const auto attribute = [](const char* name, std::uint64_t v) {
        return Message().text(1, name).message(2, u64_value(v));
    };
    Block device, command, result, other;
    device.session.message(6, Message()
                                  .number(1, 0)
                                  .text(2, "Tesla V100")
                                  .message(3, attribute("device__attribute_compute_capability_major", 7))
                                  .message(3, attribute("device__attribute_compute_capability_minor", 0))
                                  .message(3, attribute("device__attribute_multiprocessor_count", 80)));
    command.session.text(11, "ncu --set full ./app");
    result.kernels = {kernel()};
    const auto profile =
        parsed_report(ReportBuilder().block(device).block(result).block(command).version("2021.1").bytes());
    EXPECT_EQ(profile.tool_version, "2021.1");
    EXPECT_EQ(profile.command_line, "ncu --set full ./app");
    EXPECT_EQ(profile.launches.at(0).device.str(), "Tesla V100");
    EXPECT_EQ(profile.launches[0].cc, (ComputeCapability{7, 0}));
    EXPECT_EQ(value(profile, 0, "device__attribute_multiprocessor_count"), 80.0);

    other.session.message(6, Message().number(1, 1).text(2, "A100"));
    EXPECT_TRUE(
        parsed_report(ReportBuilder().block(device).block(other).block(result).bytes()).launches.at(0).device.empty());
    result.kernels = {kernel().message(13, metric(0, u64_value(1)))};
    result.strings = {"launch__device_id"};
    EXPECT_EQ(
        parsed_report(ReportBuilder().block(device).block(other).block(result).bytes()).launches.at(0).device.str(),
        "A100");
}

TEST(NcuReport, what_a_result_says_of_its_device_goes_before_the_session) {
    Block device;
    device.session.message(6, Message().number(1, 0).text(2, "Tesla V100"));
    Block result;
    result.kernels = {kernel()
                          .message(13, metric(0, text_value("NVIDIA A40")))
                          .message(13, metric(1, real_value(8)))
                          .message(13, metric(2, u64_value(6)))};
    result.strings = {"device__attribute_display_name", "device__attribute_compute_capability_major",
                      "device__attribute_compute_capability_minor"};
    const auto profile = parsed_report(ReportBuilder().block(device).block(result).bytes());
    EXPECT_EQ(profile.launches.at(0).device.str(), "NVIDIA A40");
    EXPECT_EQ(profile.launches[0].cc, (ComputeCapability{8, 6}));
}

TEST(NcuReport, ranges_command_lists_and_graphs_are_launches_too) {
    const Message range = Message()
                              .number(1, 77)
                              .message(4, metric(1, real_value(9)))
                              .message(10, Message().message(2, push_pop(77, {"step"})));
    Message list = range;
    Block block;
    block.sources = {Message().text(2, "source code")};
    block.kernels = {kernel()};
    block.ranges = {range, range};
    block.cmdlists = {list.text(18, "my list")};
    block.graphs = {range};
    block.strings = kNames;
    const auto profile = parsed_report(ReportBuilder().block(block).bytes());
    std::vector<std::string> names;
    for (const Launch& launch : profile.launches) names.push_back(launch.name.str());
    EXPECT_THAT(names, ElementsAre("k(int)", "range 0", "range 1", "my list", "graph 0"));
    for (std::size_t i = 1; i < 5; ++i) {
        EXPECT_EQ(value(profile, i, "gpu__time_duration.sum"), 9.0);
        EXPECT_THAT(texts(profile.launches[i].nvtx), ElementsAre("step"));
    }
    EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(NcuReport, filtered_launches_are_counted_and_the_filter_is_asked_once_per_name) {
    Block block;
    block.kernels = {kernel("a"), kernel("b"), kernel("a"), kernel("", "a"), kernel("b")};
    int asked = 0;
    const auto profile = parsed_report(ReportBuilder().block(block).bytes(),
                                       [&](const std::string& name) { return ++asked, name == "b"; });
    EXPECT_EQ(profile.launches.size(), 2U);
    EXPECT_EQ(profile.filtered_launches, 3U);
    EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace gambrel::ingest_detail
