// Are traces of all years read, with times to the nanosecond, and is what is damaged said to be so?
#include <gambrel/trace.hpp>

#include <array>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/json_token.hpp"

namespace gambrel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Timeline timeline_of(const std::string& text) {
    auto timeline = read_timeline(text, "trace.json");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    return timeline ? std::move(*timeline) : Timeline{};
}

// An operator of 10 us, a launch in it, and its kernel of 5 us.
const std::string kEvents =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":100,"dur":10,)"
    R"("args":{"External id":7,"Input Dims":[[4,8],[8,2]],"Input type":["float","float"],"Input Strides":[[8,1],[2,1]],)"
    R"("Concrete Inputs":["",""]}},)"
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":103,"dur":1,"args":{"correlation":9}},)"
    R"({"ph":"X","cat":"kernel","name":"sgemm<\"x\">","pid":0,"tid":7,"ts":120.125,"dur":5.25,)"
    R"("args":{"device":0,"stream":7,"correlation":9,"grid":[3,2,1],"block":[128,1,1],"registers per thread":40,"shared memory":1024}})";
const std::string kDevice =
    R"("deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","computeMajor":9,"computeMinor":0}],)";
const std::string kTrace = "{" + kDevice + "\"traceEvents\":[" + kEvents + "]}";

TEST(Kineto, a_kernel_is_given_to_the_operator_that_encloses_its_launch) {
    const Timeline t = timeline_of(kTrace);
    ASSERT_THAT(t.activities, SizeIs(1));
    const Activity& a = t.activities[0];
    EXPECT_EQ(a.launch, Activity::Launch::operation);
    ASSERT_GE(a.call, 0);
    const OperatorCall& call = t.calls[static_cast<std::size_t>(a.call)];
    EXPECT_EQ(call.name.str(), "aten::mm");
    ASSERT_THAT(call.inputs, SizeIs(2));
    EXPECT_THAT(call.inputs[1].tensors, ElementsAre(ElementsAre(8, 2)));
    EXPECT_THAT(call.inputs[1].strides, ElementsAre(ElementsAre(2, 1)));
    EXPECT_EQ(a.name.str(), "sgemm<\"x\">");
    EXPECT_EQ(a.shape.grid[1], 2u);
    EXPECT_EQ(t.devices.at(a.device).name, "NVIDIA H100 80GB HBM3");
}

TEST(Kineto, times_are_whole_nanoseconds) {
    const Timeline t = timeline_of(kTrace);
    EXPECT_EQ(t.activities.at(0).start_ns, 120125);
    EXPECT_EQ(t.activities.at(0).duration_ns, 5250);
    using trace_detail::nanoseconds;
    EXPECT_EQ(nanoseconds("1751410836123456.789"), 1751410836123456789);
    EXPECT_EQ(nanoseconds("0.0005"), 1);
    EXPECT_EQ(nanoseconds("-2"), -2000);
    EXPECT_EQ(nanoseconds("1.5e3"), 1500000);
    EXPECT_EQ(nanoseconds("99999999999999999999"), std::nullopt);
    EXPECT_EQ(nanoseconds("\"\""), std::nullopt);
}

TEST(Kineto, the_names_of_2021_are_read) {
    const Timeline t = timeline_of(
        R"([{"ph":"X","cat":"Operator","name":"aten::relu_","pid":1,"tid":"1","ts":100,"dur":10,"args":{"Input dims":[[32,64]]}},)"
        R"({"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":"1","ts":103,"dur":1,"args":{"correlation":9}},)"
        R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":120,"dur":5,"args":{"correlation":9}},)"
        R"({"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"tid":"stream 7","ts":130,"dur":2,"args":{"bytes":64}}])");
    ASSERT_THAT(t.activities, SizeIs(2));
    EXPECT_EQ(t.activities[0].launch, Activity::Launch::operation);
    EXPECT_EQ(t.activities[1].kind, Activity::Kind::copy);
    EXPECT_EQ(t.activities[1].bytes, 64);
}

TEST(Kineto, arguments_may_stand_before_the_category) {
    const Timeline t = timeline_of(
        R"({"traceEvents":[{"args":{"correlation":3,"grid":[2,1,1],"block":[64,1,1]},"ts":1,"dur":2,"name":"k","cat":"kernel","ph":"X"}]})");
    ASSERT_THAT(t.activities, SizeIs(1));
    EXPECT_EQ(t.activities[0].shape.block[0], 64u);
}

TEST(Kineto, a_file_that_ends_inside_an_event_keeps_the_events_before) {
    const std::string second =
        R"(,{"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":200,"dur":5,"args":{"device":0,"stream":7,"corr)";
    for (const std::size_t lost : {std::size_t{0}, std::size_t{20}, second.size() - 2}) {
        const std::string text = "{" + kDevice + "\"traceEvents\":[" + kEvents + second.substr(0, second.size() - lost);
        const Timeline t = timeline_of(text);
        EXPECT_THAT(t.activities, SizeIs(1)) << lost;
        EXPECT_TRUE(t.partial) << lost;
        ASSERT_FALSE(t.notes.empty());
        EXPECT_THAT(t.notes.back().what, HasSubstr("cut short"));
    }
}

TEST(Kineto, a_file_that_ends_before_anything_ran_is_an_error) {
    const auto timeline = read_timeline(
        R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","ts":1,"dur":1},{"ph":"X","ca)", "t");
    ASSERT_TRUE(timeline) << to_text(timeline.error());
    EXPECT_TRUE(timeline->partial);
    TraceOptions options;
    options.machine = *find_in_catalogue("a100-sxm4-40gb");
    const auto run = to_run(*timeline, options);
    ASSERT_FALSE(run);
    EXPECT_NE(to_text(run.error()).find("holds no kernel"), std::string::npos);
}

TEST(Kineto, a_name_that_is_not_utf8_does_not_lose_the_file) {
    std::string text = kTrace;
    text.replace(text.find("aten::mm"), 8, "aten::m\xff");
    const Timeline t = timeline_of(text);
    ASSERT_THAT(t.activities, SizeIs(1));
    EXPECT_EQ(t.calls.at(0).name.str(), "aten::m?");
}

TEST(Kineto, what_other_tools_do_to_a_file_does_not_lose_it) {
    std::string control = kTrace, broken_and_short = kTrace, numbers = kTrace;
    control.replace(control.find("aten::mm"), 8, "aten::m\n");
    broken_and_short.replace(broken_and_short.find("NVIDIA"), 6, "NVID\xff\xe9");
    broken_and_short.resize(broken_and_short.size() - 1);
    numbers.replace(numbers.find("\"registers per thread\":40"), 25, "\"occupancy\":NaN,\"x\":-Infinity");
    const std::string comma = "{" + kDevice + "\"traceEvents\":[" + kEvents + ",]}";
    for (const std::string& text : {control, broken_and_short, numbers, comma, "\xEF\xBB\xBF" + kTrace})
        EXPECT_THAT(timeline_of(text).activities, SizeIs(1)) << text.substr(0, 60);
    EXPECT_TRUE(timeline_of(broken_and_short).partial);
}

TEST(Kineto, pairs_of_begin_and_end_are_read_like_whole_events) {
    const std::string pairs =
        R"({"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":100,"args":{"Input Dims":[[4,8],[8,2]]}},)"
        R"({"ph":"B","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":103,"args":{"correlation":9}},)"
        R"({"ph":"E","pid":1,"tid":1,"ts":104},{"ph":"E","pid":1,"tid":1,"ts":110},)"
        R"({"ph":"B","args":{"device":0,"correlation":9},"cat":"kernel","name":"k","pid":0,"tid":7,"ts":120.125},)"
        R"({"ph":"E","pid":0,"tid":7,"ts":125.5,"name":"k"},{"ph":"E","pid":0,"tid":7,"ts":126},)"
        R"({"ph":"B","cat":"kernel","name":"open","pid":0,"tid":7,"ts":130})";
    const Timeline t = timeline_of("{" + kDevice + "\"traceEvents\":[" + pairs + "]}");
    ASSERT_THAT(t.activities, SizeIs(1));
    EXPECT_EQ(t.activities[0].duration_ns, 5375);
    EXPECT_EQ(t.activities[0].call, 0);
    EXPECT_EQ(t.calls.at(0).name.str(), "aten::mm");
    ASSERT_THAT(t.notes, SizeIs(2));
    EXPECT_THAT(t.notes[0].what, HasSubstr("1 events have no valid time"));
    EXPECT_THAT(t.notes[1].what, HasSubstr("1 events begin and do not end"));
}

TEST(Kineto, a_trace_of_another_framework_says_that_it_is_not_read) {
    const Timeline t =
        timeline_of(R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},)"
                    R"({"ph":"X","pid":1,"tid":13,"ts":5,"dur":2,"name":"loop_add_fusion","args":{"hlo_op":"add"}}]})");
    EXPECT_THAT(t.activities, IsEmpty());
    ASSERT_THAT(t.notes, SizeIs(1));
    EXPECT_THAT(t.notes[0].what, HasSubstr("JAX"));
}

TEST(Kineto, the_profiler_before_kineto_has_processes_instead_of_categories) {
    const Timeline t =
        timeline_of(R"([{"name":"aten::mm","ph":"X","ts":1,"dur":2,"tid":1,"pid":"CPU functions","args":{}},)"
                    R"({"name":"aten::mm","ph":"X","ts":5,"dur":3,"tid":0,"pid":"CUDA functions","args":{}}])");
    ASSERT_THAT(t.activities, SizeIs(1));
    EXPECT_EQ(t.activities[0].duration_ns, 3000);
    EXPECT_EQ(t.operators, 1u);
}

TEST(Kineto, a_gpu_that_is_not_described_is_like_those_that_are) {
    std::string text = kTrace;
    text.replace(text.find("\"device\":0"), 10, "\"device\":3");
    EXPECT_EQ(timeline_of(text).devices.at(0).name, "NVIDIA H100 80GB HBM3");
}

TEST(Kineto, a_gzip_file_that_ends_too_early_gives_the_events_before_and_is_partial) {
    const std::string path = GAMBREL_SHARED_DATA "/traces/kineto_resnet50_old/resnet50_train_2021.pt.trace.json.gz";
    std::ifstream in(path, std::ios::binary);
    if (!in) GTEST_SKIP() << "no shared data";
    std::string bytes(900'000, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto cut =
        std::filesystem::temp_directory_path() / ("gambrel_cut_" + std::to_string(::getpid()) + ".json.gz");
    std::ofstream(cut, std::ios::binary) << bytes;
    const std::string name = cut.string();
    const auto timeline = read_timeline(std::span(&name, 1));
    std::filesystem::remove(cut);
    ASSERT_TRUE(timeline) << to_text(timeline.error());
    EXPECT_TRUE(timeline->partial);
    EXPECT_GT(timeline->activities.size(), 1000u);
}

TEST(Kineto, a_trace_through_a_pipe_is_recognised_and_a_table_is_left_to_its_reader) {
    for (const auto& [text, is_trace] : {std::pair{kTrace, true}, std::pair{std::string("name,phase\n"), false}}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe(ends.data()), 0);
        ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
        const std::string name = "/dev/fd/" + std::to_string(ends[0]);
        const auto found = traces_in(std::span(&name, 1));
        std::string left(100, '\0');
        const ssize_t rest = ::read(ends[0], left.data(), left.size());
        ::close(ends[0]);
        ASSERT_TRUE(found) << to_text(found.error());
        EXPECT_EQ(found->has_value(), is_trace);
        EXPECT_EQ(rest, is_trace ? 0 : static_cast<ssize_t>(text.size()));
    }
}

// It was read as a trace without events, with the question whether the GPU was profiled.
TEST(Kineto, a_list_of_events_that_damage_before_it_hides_is_an_error) {
    std::string text = kTrace;
    text.replace(text.find("\"NVIDIA H100 80GB HBM3\""), 24, "\"NVIDIA\":1");
    const auto timeline = read_timeline(text, "t.json");
    ASSERT_FALSE(timeline);
    EXPECT_THAT(to_text(timeline.error()), HasSubstr("is not a trace that can be read"));
}

TEST(Kineto, what_is_not_a_trace_is_an_error) {
    for (const char* text : {"", "{", "[]", "{\"a\":1}", "{\"traceEvents\":3}", "name,phase\n"})
        EXPECT_TRUE(!read_timeline(text, "x") || read_timeline(text, "x")->activities.empty()) << text;
    EXPECT_FALSE(is_trace("{\"schema\":\"gambrel-analysis-1\"}"));
    EXPECT_FALSE(is_trace("\"ID\",\"Kernel Name\"\n"));
    EXPECT_TRUE(is_trace(kTrace));
}

TEST(Kineto, a_kernel_without_a_launch_was_launched_before_the_capture) {
    std::string text = kTrace;
    text.replace(text.find("\"correlation\":9,\"grid\""), 15, "\"correlation\":8");
    EXPECT_EQ(timeline_of(text).activities.at(0).launch, Activity::Launch::before_capture);
}

TEST(Kineto, an_external_id_names_an_operator_only_while_that_is_open) {
    // The launch is called on a thread without operators.
    std::string text = kTrace;
    text.replace(text.find("\"tid\":1,\"ts\":103"), 8, "\"tid\":2,");
    text.replace(text.find("\"device\":0,\"stream\""), 11, "\"External id\":7,\"device\":0,");
    EXPECT_EQ(timeline_of(text).activities.at(0).launch, Activity::Launch::operation);
    text.replace(text.find("\"ts\":103"), 8, "\"ts\":113");
    EXPECT_EQ(timeline_of(text).activities.at(0).launch, Activity::Launch::no_operation);
}

TEST(Kineto, module_phase_and_step_are_found) {
    const auto event = [](const char* cat, const char* name, int tid, int ts, int dur, const char* args) {
        return std::string(R"(,{"ph":"X","cat":")") + cat + R"(","name":")" + name + R"(","pid":1,"tid":)" +
               std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) +
               R"(,"args":{)" + args + "}}";
    };
    const std::string text =
        "[" +
        (event("user_annotation", "ProfilerStep#4", 1, 0, 1000, "") +
         event("python_function", "nn.Module: Net_0", 1, 10, 90, "") +
         event("python_function", "nn.Module: Linear_1", 1, 20, 50, "") +
         event("cpu_op", "aten::addmm", 1, 30, 20, "\"Sequence number\":5") +
         event("cuda_runtime", "cudaLaunchKernel", 1, 35, 1, "\"correlation\":1") +
         event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, 200, 50, "\"Sequence number\":5") +
         event("cuda_runtime", "cudaLaunchKernel", 2, 210, 1, "\"correlation\":2") +
         event("cpu_op", "Optimizer.step#SGD.step", 1, 300, 50, "") +
         event("cuda_runtime", "cudaLaunchKernel", 1, 310, 1, "\"correlation\":3") +
         event("kernel", "a", 7, 40, 5, "\"correlation\":1") + event("kernel", "b", 7, 220, 5, "\"correlation\":2") +
         event("kernel", "c", 7, 320, 5, "\"correlation\":3"))
            .substr(1) +
        "]";
    const Timeline t = timeline_of(text);
    ASSERT_THAT(t.activities, SizeIs(3));
    EXPECT_EQ(t.activities[0].phase.str(), "forward");
    EXPECT_EQ(t.activities[1].phase.str(), "backward");
    EXPECT_EQ(t.activities[2].phase.str(), "optimizer");
    EXPECT_EQ(t.activities[0].module.str(), "Net_0/Linear_1");
    EXPECT_EQ(t.activities[1].module.str(), "Net_0/Linear_1");  // by the sequence number
    EXPECT_EQ(t.activities[2].module.str(), "");
    EXPECT_EQ(t.activities[1].step, 0);
    EXPECT_EQ(t.steps, 1u);
}

}  // namespace
}  // namespace gambrel
