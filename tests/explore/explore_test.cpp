// Does the library do what `gambrel explore` does: alone, on several ranks, resumed, and with files that it must
// refuse?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "explore/thread_world.hpp"
#include "explore/toy.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::test;
using testing::HasSubstr;
namespace fs = std::filesystem;

ExploreRequest request(std::string_view gpu = "titan-xp",
                       std::string_view vary = "sms=1:4,macs=1:2,l2.bandwidth=1:4,dram.bandwidth=1:4") {
    ExploreRequest r;
    r.machine = *find_in_catalogue(gpu);
    r.hardware = *model_inputs(r.machine);
    r.workload.add(*builtin_network("alexnet", {64, 128}));
    r.space = *parse_space(vary, r.machine, r.hardware);
    r.threads = 1;
    return r;
}

std::string text_of(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// What a report says, to compare two of them.
std::string summary(const ExplorationReport& r) {
    std::string text = std::to_string(r.evaluated) + (r.partial ? " partial" : " whole");
    for (const EvaluatedDesign& d : r.designs) text += "\n" + d.name + " " + std::to_string(d.timing.time);
    for (const EvaluatedDesign& d : r.front) text += "\n" + std::to_string(d.cost) + " " + std::to_string(d.speedup);
    return text;
}

class ExploreFiles : public testing::Test {
protected:
    ExploreFiles() { fs::create_directories(folder_); }
    ~ExploreFiles() override { fs::remove_all(folder_); }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    // Until `parts` parts have been recorded.
    [[nodiscard]] ExploreRequest stopped_after(int parts) const {
        ExploreRequest r = recorded();
        r.stop = [left = std::make_shared<int>(parts)] { return --*left <= 0; };
        return r;
    }
    [[nodiscard]] ExploreRequest recorded() const {
        ExploreRequest r = request();
        r.designs = path("designs.csv");
        r.resume = path("state");
        return r;
    }

private:
    fs::path folder_ = fs::path(testing::TempDir()) /
                       ("explore_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST(ExploreRequest, ten_lines_do_what_the_command_does) {
    ExploreRequest r;
    r.machine = *find_in_catalogue("v100");
    r.hardware = *model_inputs(r.machine);
    r.workload.add(*load_layers({.network = "resnet50", .table = "", .batch = 64, .fastest_algorithm = true}));
    r.space = *parse_space("sms=1:2,dram.bandwidth=1:2", r.machine, r.hardware);
    r.search.target = 1.3;
    const auto report = explore(r);
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->evaluated, r.space.size());
    EXPECT_GT(recommended_design(*report)->speedup, 1.29);
    EXPECT_TRUE(found_what_was_asked(*report));
    EXPECT_TRUE(report->map);
}

TEST(ExploreRequest, the_start_with_the_tiles_of_the_library_is_what_predict_reports) {
    for (const char* gpu : {"titan-xp", "v100", "a100-sxm4-40gb", "t4"}) {
        ExploreRequest r = request(gpu);
        r.space = {};
        auto layers = std::make_shared<LayerSet>(*load_layers({.network = "alexnet", .table = "", .batch = 64}));
        EstimatorOptions options;
        options.machine = r.machine;
        double predicted = 0;
        const auto estimates = estimate(layers, options);
        ASSERT_TRUE(estimates) << to_text(estimates.error());
        for (const EstimatedRow& row : estimates->rows)
            for (const Estimate& e : row.estimates) predicted += e.layer->repeat * e.kernel.time->value.value();
        const auto fastest = explore(r);
        ASSERT_TRUE(fastest) << to_text(fastest.error());
        EXPECT_DOUBLE_EQ(fastest->library_time, predicted) << gpu;
        EXPECT_LE(fastest->designs[0].timing.time, predicted) << gpu;
        r.tiles = Tiles::rule;
        EXPECT_DOUBLE_EQ(explore(r)->designs[0].timing.time, predicted) << gpu;
    }
}

// The layers of resnet50 run by four algorithms on V100; which one is a design's choice, as it is predict's.
TEST(ExploreRequest, the_start_takes_the_algorithms_that_predict_takes) {
    const auto layers = std::make_shared<const LayerSet>(
        *load_layers({.network = "resnet50", .table = "", .batch = 4, .fastest_algorithm = true}));
    for (const char* gpu : {"v100", "a100-sxm4-40gb", "t4"}) {
        ExploreRequest r;
        r.machine = *find_in_catalogue(gpu);
        r.hardware = *model_inputs(r.machine);
        r.workload.add(*layers);
        r.tiles = Tiles::rule;
        EstimatorOptions options;
        options.machine = r.machine;
        const auto estimates = estimate(layers, options);
        const auto report = explore(r);
        ASSERT_TRUE(estimates && report) << gpu;
        EXPECT_DOUBLE_EQ(report->designs[0].timing.time, estimates->gpu_time().value()) << gpu;
    }
}

TEST(ExploreRequest, amounts_of_l2_are_those_of_the_datasheet_also_where_its_halves_hold_copies) {
    for (const auto& [gpu, mib] : {std::pair{"a100-sxm4-40gb", 40.0}, {"h100-sxm5-80gb", 50.0}, {"v100", 6.0}}) {
        const Machine& machine = *find_in_catalogue(gpu);
        const ModelInputs inputs = *model_inputs(machine);
        EXPECT_EQ(base_value(machine, inputs, Resource::l2_capacity), mib * 1024 * 1024) << gpu;
        const std::string vary = "l2.capacity={" + std::to_string(mib) + "MiB," + std::to_string(2 * mib) + "MiB}";
        const auto space = parse_space(vary, machine, inputs);
        ASSERT_TRUE(space) << to_text(space.error());
        EXPECT_THAT(space->axes[0].values, testing::ElementsAre(1.0, 2.0)) << gpu;
    }
}

TEST(ExploreRequest, refuses_what_predict_refuses) {
    ExploreRequest r = request("v100", "sms=1:2");
    r.workload = {};
    r.workload.add(with_precision(*builtin_network("alexnet", {64, 128}), Precision::fp8));
    EstimatorOptions options;
    options.machine = r.machine;
    const bool accepted = Estimator(options)(r.workload.items[0].layer).has_value();
    EXPECT_EQ(explore(r).has_value(), accepted);
    r.workload = {};
    EXPECT_FALSE(explore(r));
}

TEST(ExploreRequest, several_ranks_give_the_report_of_one) {
    const auto alone = explore(request());
    ASSERT_TRUE(alone);
    std::array<std::string, 3> seen;
    on_ranks(3, [&](World& world) {
        const auto report = explore(request(), world);
        seen[static_cast<std::size_t>(world.rank())] = report ? summary(*report) : to_text(report.error());
    });
    for (const std::string& text : seen) EXPECT_EQ(text, summary(*alone));
}

TEST(ExploreRequest, ranks_that_were_asked_different_things_are_all_refused) {
    const auto other_gpu = [] { return request("v100"); };
    const auto other_space = [] { return request("titan-xp", "sms=1:3"); };
    const auto other_network = [] {
        ExploreRequest r = request();
        r.workload.add(*builtin_network("vgg16", {1, 128}));
        return r;
    };
    const auto with_designs = [] {
        ExploreRequest r = request();
        r.designs = "/nowhere/designs.csv";
        return r;
    };
    for (const std::function<ExploreRequest()>& other :
         {std::function<ExploreRequest()>(other_gpu), {other_space}, {other_network}, {with_designs}}) {
        std::atomic<int> refused = 0;
        on_ranks(3, [&](World& world) {
            const auto report = explore(world.rank() == 1 ? other() : request(), world);
            if (!report && to_text(report.error()).find("different things") != std::string::npos) ++refused;
        });
        EXPECT_EQ(refused, 3);
    }
}

TEST_F(ExploreFiles, a_fault_of_rank_0_ends_every_rank) {
    std::ofstream(path("designs.csv")) << "name,price\nmine,1\n";
    std::atomic<int> refused = 0;
    on_ranks(2, [&](World& world) {
        if (!explore(recorded(), world)) ++refused;
    });
    EXPECT_EQ(refused, 2);
    EXPECT_EQ(text_of(path("designs.csv")), "name,price\nmine,1\n");
}

TEST_F(ExploreFiles, a_stopped_search_is_partial_and_resumes_to_the_same_bytes) {
    const auto whole = explore(recorded());
    ASSERT_TRUE(whole) << to_text(whole.error());
    const std::string designs = text_of(path("designs.csv"));
    fs::remove(path("state")), fs::remove(path("designs.csv"));
    const auto part = explore(stopped_after(2));
    ASSERT_TRUE(part) << to_text(part.error());
    EXPECT_TRUE(part->partial);
    EXPECT_LT(part->evaluated, whole->evaluated);
    const auto resumed = explore(recorded());
    ASSERT_TRUE(resumed) << to_text(resumed.error());
    EXPECT_EQ(summary(*resumed), summary(*whole));
    EXPECT_EQ(text_of(path("designs.csv")), designs);
    EXPECT_FALSE(fs::exists(path("state.lock")));
}

TEST_F(ExploreFiles, a_rank_that_is_asked_to_stop_stops_all) {
    std::array<bool, 2> partial{};
    on_ranks(2, [&](World& world) {
        ExploreRequest r = request("titan-xp", "sms=1:4:0.1,macs=1:2:0.1,l2.bandwidth=1:4:0.1,dram.bandwidth=1:4:0.1");
        if (world.rank() == 1) r.stop = [] { return true; };
        const auto report = explore(r, world);
        partial[static_cast<std::size_t>(world.rank())] = report && report->partial;
    });
    EXPECT_TRUE(partial[0] && partial[1]);
}

TEST_F(ExploreFiles, a_second_run_on_the_same_checkpoint_or_designs_is_refused_while_the_first_runs) {
    ExploreRequest first = recorded();
    Errors with_both, with_designs;
    first.stop = [&] {
        if (with_both.empty()) {
            if (const auto second = explore(recorded()); !second) with_both = second.error();
            ExploreRequest other = recorded();
            other.resume.clear();
            if (const auto second = explore(other); !second) with_designs = second.error();
        }
        return false;
    };
    ASSERT_TRUE(explore(first));
    EXPECT_THAT(to_text(with_both), HasSubstr("state: is in use by another gambrel explore"));
    EXPECT_THAT(to_text(with_designs), HasSubstr("designs.csv: is in use by another gambrel explore"));
}

TEST_F(ExploreFiles, a_designs_file_that_the_checkpoint_does_not_describe_is_refused_and_kept) {
    ASSERT_TRUE(explore(stopped_after(2)));
    const std::string designs = text_of(path("designs.csv")), half = designs.substr(0, designs.size() / 2);
    std::ofstream(path("designs.csv")) << half;
    const auto resumed = explore(recorded());
    ASSERT_FALSE(resumed);
    EXPECT_THAT(to_text(resumed.error()), HasSubstr("does not hold"));
    EXPECT_EQ(text_of(path("designs.csv")), half);
    std::string edited = designs;
    edited[edited.find('\n', 100)] = ';';
    std::ofstream(path("designs.csv")) << edited;
    EXPECT_FALSE(explore(recorded()));
    std::ofstream(path("designs.csv")) << designs;
    ExploreRequest without = recorded();
    without.designs.clear();
    EXPECT_FALSE(explore(without));
    EXPECT_TRUE(explore(recorded()));
}

TEST_F(ExploreFiles, an_input_is_never_replaced) {
    ExploreRequest r = recorded();
    std::ofstream(path("layers.csv")) << "index,cost,speedup,time_s,sms,macs,l2.bandwidth,dram.bandwidth\n";
    r.inputs = {path("layers.csv")};
    r.designs = path("layers.csv");
    EXPECT_FALSE(explore(r));
}

}  // namespace
