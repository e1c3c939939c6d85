// Is every nanosecond of every real trace in exactly one class, and are spans what they say?
#include <gambrel/trace.hpp>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<std::string> real_traces() {
    std::vector<std::string> out;
    std::error_code ec;
    for (const char* folder : {"/traces", "/nsys"})
        for (fs::recursive_directory_iterator it(std::string(GAMBREL_SHARED_DATA) + folder, ec), end; !ec && it != end;
             it.increment(ec)) {
            const std::string path = it->path().string();
            if (path.find("trex") != std::string::npos || path.find("server_args") != std::string::npos) continue;
            if (path.ends_with(".json.gz") || path.ends_with(".sqlite")) out.push_back(path);
        }
    std::sort(out.begin(), out.end());
    return out;
}

Result<Run> run_of(const Timeline& timeline) {
    auto run = to_run(timeline);
    if (run) return run;
    // A trace that names no GPU is judged by any: the classes do not depend on it.
    TraceOptions options;
    options.machine = *find_in_catalogue("v100-sxm2-16gb");
    return to_run(timeline, options);
}

// The same nanoseconds and events, by stream; each is a launch of that name and class, and streams run one by one.
void expect_lanes(const Run& run, const std::string& path) {
    std::array<TimelineSummary::Class, kTimeClasses> sums{};
    for (std::size_t i = 0; i < run.lanes->events.size(); ++i) {
        const auto& e = run.lanes->events[i];
        auto& sum = sums[static_cast<std::size_t>(e.time_class)];
        sum.ns += static_cast<std::uint64_t>(e.duration_ns), ++sum.events;
        ASSERT_LT(e.lane, run.lanes->lanes.size()) << path;
        ASSERT_GE(e.start_ns, 0) << path;
        ASSERT_EQ(run.kernels.at(e.row.value()).name, e.name) << path;
        ASSERT_EQ(run.kernels[*e.row].time_class.str(), name(e.time_class)) << path;
        ASSERT_EQ(run.kernels[*e.row].rank, run.lanes->lanes[e.lane].rank) << path;
        if (i == 0) continue;
        const auto& before = run.lanes->events[i - 1];
        ASSERT_TRUE(before.lane < e.lane || (before.lane == e.lane && before.start_ns <= e.start_ns)) << path;
    }
    for (std::size_t c = 0; c < kTimeClasses; ++c) {
        EXPECT_EQ(sums[c].ns, run.timeline->classes[c].ns) << path;
        EXPECT_EQ(sums[c].events, run.timeline->classes[c].events) << path;
    }
}

TEST(Classes, every_nanosecond_of_every_real_trace_is_in_one_class) {
    const auto files = real_traces();
    if (files.empty()) GTEST_SKIP() << "no shared data";
    for (const auto& path : files) {
        const auto timeline = read_timeline(std::span(&path, 1));
        ASSERT_TRUE(timeline) << path << ": " << to_text(timeline.error());
        std::uint64_t all = 0;
        for (const Activity& a : timeline->activities) all += static_cast<std::uint64_t>(a.duration_ns);
        const auto run = run_of(*timeline);
        if (timeline->activities.empty()) continue;  // CUPTI ranges only
        ASSERT_TRUE(run) << path << ": " << to_text(run.error());
        const TimelineSummary& t = *run->timeline;
        std::uint64_t sum = 0, events = 0;
        for (const auto& c : t.classes) sum += c.ns, events += c.events;
        EXPECT_EQ(t.gpu_ns, all) << path;
        EXPECT_EQ(sum, all) << path;
        EXPECT_EQ(events, timeline->activities.size()) << path;
        EXPECT_LE(t.idle_ns, t.wall_ns) << path;
        expect_lanes(*run, path);
        EXPECT_LE(t.exposed_communication_ns, t.of(TimeClass::communication).ns) << path;
    }
}

TEST(Classes, several_processes_read_the_same_timeline_as_one) {
    const std::string folder = std::string(GAMBREL_SHARED_DATA) + "/traces/particle_transformer";
    const std::string other = std::string(GAMBREL_SHARED_DATA) + "/nsys/power_iteration__baseline.sqlite";
    if (!fs::exists(folder)) GTEST_SKIP() << "no shared data";
    const std::vector<std::string> paths = {folder, other};
    std::vector<std::string> sent(3);
    for (int rank : {1, 2, 0}) {
        TraceShare share{rank, 3, [&](std::string_view text) { sent[static_cast<std::size_t>(rank)] = text; },
                         [&](int from) { return sent[static_cast<std::size_t>(from)]; }};
        const auto shared = traces_in(paths, share);
        ASSERT_TRUE(shared) << to_text(shared.error());
        ASSERT_EQ(shared->has_value(), rank == 0);
        if (rank > 0) continue;
        const auto alone = read_timeline(paths);
        ASSERT_TRUE(alone) << to_text(alone.error());
        ASSERT_EQ((*shared)->activities.size(), alone->activities.size());
        const auto a = to_run(**shared), b = to_run(*alone);
        ASSERT_TRUE(a && b);
        ASSERT_EQ(a->kernels.size(), b->kernels.size());
        for (std::size_t i = 0; i < a->kernels.size(); ++i) {
            ASSERT_EQ(a->kernels[i].name, b->kernels[i].name);
            ASSERT_EQ(a->kernels[i].op, b->kernels[i].op);
            ASSERT_EQ(a->kernels[i].rank, b->kernels[i].rank);
            ASSERT_EQ(flop(a->kernels[i]).has_value(), flop(b->kernels[i]).has_value());
        }
        EXPECT_EQ(a->timeline->gpu_ns, b->timeline->gpu_ns);
        EXPECT_EQ(a->timeline->of(TimeClass::modelled).ns, b->timeline->of(TimeClass::modelled).ns);
    }
}

const std::string kHead =
    R"({"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","computeMajor":9,"computeMinor":0}],"traceEvents":[)";
std::string gpu_event(const char* cat, const char* name, int stream, int ts, int dur, int correlation) {
    return std::string(R"({"ph":"X","cat":")") + cat + R"(","name":")" + name + R"(","pid":0,"tid":)" +
           std::to_string(stream) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) +
           R"(,"args":{"device":0,"stream":)" + std::to_string(stream) + R"(,"correlation":)" +
           std::to_string(correlation) + "}}";
}
std::string call(const char* name, int ts, int correlation) {
    return std::string(R"({"ph":"X","cat":"cuda_runtime","name":")") + name + R"(","pid":1,"tid":1,"ts":)" +
           std::to_string(ts) + R"(,"dur":1,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}

TEST(Classes, communication_that_no_kernel_hides_is_exposed) {
    const auto timeline = read_timeline(kHead + call("cudaLaunchKernel", 1, 1) + "," +
                                            gpu_event("kernel", "ncclDevKernel_AllReduce", 8, 100, 100, 1) + "," +
                                            gpu_event("kernel", "work", 7, 150, 20, 2) + "," +
                                            gpu_event("gpu_memcpy", "Memcpy DtoH", 9, 240, 10, 3) + "]}",
                                        "t");
    ASSERT_TRUE(timeline) << to_text(timeline.error());
    const auto run = to_run(*timeline);
    ASSERT_TRUE(run) << to_text(run.error());
    const TimelineSummary& t = *run->timeline;
    EXPECT_EQ(t.of(TimeClass::communication).ns, 100000u);
    EXPECT_EQ(t.exposed_communication_ns, 80000u);
    EXPECT_EQ(t.of(TimeClass::before_capture).ns, 20000u);
    EXPECT_EQ(t.of(TimeClass::copy).ns, 10000u);
    EXPECT_EQ(t.wall_ns, 150000u);
    EXPECT_EQ(t.idle_ns, 40000u);
    ASSERT_EQ(run->lanes->lanes.size(), 3u);
    EXPECT_EQ(run->lanes->lanes[1].stream, 8);
    ASSERT_EQ(run->lanes->events.size(), 3u);
    EXPECT_EQ(run->lanes->events[0].start_ns, 50000);  // since the first event of the rank, which is on another stream
    EXPECT_EQ(run->lanes->events[1].start_ns, 0);
    EXPECT_EQ(run->lanes->events[1].duration_ns, 100000);
    TraceOptions options;
    options.keep = [](const std::string& name) { return name == "work"; };
    const auto some = to_run(*timeline, options);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->lanes->events.size(), 3u);
    EXPECT_EQ(some->lanes->events[0].row, 0u);
    EXPECT_FALSE(some->lanes->events[1].row);
}

TEST(Classes, a_kernel_of_a_graph_is_of_the_graph) {
    const auto timeline = read_timeline(
        kHead + call("cudaGraphLaunch", 1, 1) + "," + gpu_event("kernel", "gemm", 7, 100, 100, 1) + "]}", "t");
    const auto run = to_run(*timeline);
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_EQ(run->timeline->of(TimeClass::graph).ns, 100000u);
    ASSERT_FALSE(run->kernels.at(0).reasons.empty());
    EXPECT_THAT(run->kernels[0].reasons[0].str(), HasSubstr("CUDA graph"));
}

TEST(Classes, a_gpu_that_the_trace_does_not_name_is_asked_for) {
    const auto unnamed = read_timeline("[" + gpu_event("kernel", "gemm", 7, 100, 100, 1) + "]", "t");
    const auto refused = to_run(*unnamed);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().front().what, HasSubstr("--machine"));
    const auto described = read_timeline(
        R"({"deviceProperties":[{"id":0,"name":"NVIDIA XX999","computeMajor":8,"computeMinor":0,"totalGlobalMem":85174583296}],"traceEvents":[)" +
            gpu_event("kernel", "gemm", 7, 100, 100, 1) + "]}",
        "t");
    const auto candidates = to_run(*described);
    ASSERT_FALSE(candidates);
    EXPECT_THAT(candidates.error().front().what, HasSubstr("a100-sxm4-80gb"));
}

TEST(Classes, a_board_number_is_the_gpu_with_that_much_memory) {
    for (const auto& [memory, expected] :
         {std::pair{"42505273344", "a100-sxm4-40gb"}, std::pair{"85174583296", "a100-sxm4-80gb"}}) {
        const auto t = read_timeline(
            std::string(
                R"({"deviceProperties":[{"id":0,"name":"NVIDIA PG509-210","computeMajor":8,"computeMinor":0,"totalGlobalMem":)") +
                memory + R"(}],"traceEvents":[)" + gpu_event("kernel", "gemm", 7, 100, 100, 1) + "]}",
            "t");
        const auto run = to_run(*t);
        ASSERT_TRUE(run) << to_text(run.error());
        EXPECT_EQ(run->machines.at(0).id, expected);
    }
}

}  // namespace
}  // namespace gambrel
