// Does explore do what docs/cli says: answers, errors, the same bytes from any number of ranks, resuming after a kill?
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

const std::string kRequest =
    "explore alexnet --batch 64 --gpu titan-xp --search grid -q --vary "
    "sms=1:4,macs=1:2,l2.bandwidth=1:4,l2.capacity=1:4,dram.bandwidth=1:4 --limit 'cost<=2.5' ";

class ExploreCommand : public gambrel::test::CommandFolder {
protected:
    // As root and with more ranks than cores, which is what test machines have.
    static std::string mpirun(const std::string& what) {
        return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
               "mpirun " +
               what;
    }
    static std::string mpirun(int ranks) { return mpirun("-n " + std::to_string(ranks) + " "); }
    static bool has_mpi() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }
    Outcome shell(const std::string& command) const { return run("--version >/dev/null; { " + command + "; }"); }
    static std::string binary() { return "'" GAMBREL_BINARY "' "; }
};

TEST_F(ExploreCommand, reports_the_fastest_design_the_front_and_what_matters) {
    const Outcome o =
        run("explore alexnet --batch 32 --gpu v100 --vary 'sms=1:2,dram.bandwidth={1,2}' --target 1.3x --json -");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto json = nlohmann::json::parse(o.out);
    EXPECT_EQ(json["schema"], "gambrel-explore-1");
    EXPECT_EQ(json["designs"][0]["speedup"], 1.0);
    EXPECT_GE(json["designs"].back()["speedup"].get<double>(), 1.3);
    EXPECT_GT(json["front"].size(), 1u);
    EXPECT_EQ(json["sensitivities"].size(), 11u);
    EXPECT_EQ(json["search"]["space"], json["search"]["evaluated"]);
}

TEST_F(ExploreCommand, a_target_that_no_design_reaches_is_an_answer_of_no) {
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:1.5 --target 50 --no-chart");
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.out, HasSubstr("No design that was evaluated is 50 times as fast"));
}

TEST_F(ExploreCommand, bad_input_is_reported_at_once_and_writes_nothing) {
    const Outcome o =
        run("explore alexnet --gpu v100 --vary 'smss=1:2,macs=2:1' --limit 'cost<2' --target fast -o x.gif");
    EXPECT_EQ(o.status, 2);
    for (const char* part : {"did you mean \"sms\"", "ends below its start", "<=", "--target", "x.gif"})
        EXPECT_THAT(o.err, HasSubstr(part));
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(run("explore alexnet").status, 2);
    EXPECT_EQ(run("explore alexnet --gpu v100 --target 2").status, 2);
}

TEST_F(ExploreCommand, weights_of_networks_and_passes_count) {
    const auto time = [&](const std::string& what) {
        const Outcome o = run("explore " + what + " --gpu v100 --json -");
        return nlohmann::json::parse(o.out)["designs"][0]["time_s"].get<double>();
    };
    const double a = time("alexnet"), v = time("vgg16");
    EXPECT_NEAR(time("alexnet=2,vgg16=3"), 2 * a + 3 * v, 1e-9 * v);
    const double fwd = time("alexnet --pass fwd"), all = time("alexnet --training");
    EXPECT_NEAR(time("alexnet --training --pass-weights fwd=2"), all + fwd, 1e-9 * all);
}

TEST_F(ExploreCommand, every_picture_is_written_to_a_folder) {
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:2,dram.bandwidth=1:2 -o pictures/ -q");
    ASSERT_EQ(o.status, 0) << o.err;
    for (const char* name : {"designs", "sensitivity", "map", "pareto"})
        EXPECT_THAT(text_of(path(std::string("pictures/") + name + ".svg")), StartsWith("<svg"));
}

TEST_F(ExploreCommand, ranks_and_threads_do_not_change_a_byte) {
    ASSERT_EQ(run(kRequest + "--threads 1 --designs one.csv --json one.json").status, 0);
    ASSERT_EQ(run(kRequest + "--threads 3 --designs three.csv --json three.json").status, 0);
    EXPECT_EQ(text_of(path("one.csv")), text_of(path("three.csv")));
    EXPECT_EQ(text_of(path("one.json")), text_of(path("three.json")));
    EXPECT_GT(text_of(path("one.csv")).size(), 10'000u);
    if (!has_mpi()) GTEST_SKIP() << "mpirun not found";
    const Outcome o = shell(mpirun(3) + binary() + kRequest + "--designs ranks.csv --json ranks.json");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(text_of(path("one.csv")), text_of(path("ranks.csv")));
    EXPECT_EQ(text_of(path("one.json")), text_of(path("ranks.json")));
}

// The state is on disk after a part of the work; then a rank is killed, and MPI ends the others.
TEST_F(ExploreCommand, after_a_rank_is_killed_resume_gives_the_same_bytes) {
    if (!has_mpi()) GTEST_SKIP() << "mpirun not found";
    const std::string longer = kRequest + "--points 11 --samples 1000000 ";
    ASSERT_EQ(run(longer + "--designs whole.csv --json whole.json").status, 0);
    const std::string ours = binary() + longer + "--designs part.csv --json part.json --resume state";
    // Each rank leaves its process id, so that only a process of this test is killed.
    std::ofstream(path("rank.sh")) << "echo $$ > pid.$OMPI_COMM_WORLD_RANK\nexec " << ours << "\n";
    const Outcome killed =
        shell(mpirun(2) +
              "sh rank.sh & for i in $(seq 600); do [ -s state ] && [ -s pid.1 ] && break; sleep 0.05; "
              "done; kill -9 $(cat pid.1); wait");
    ASSERT_TRUE(fs::exists(path("state"))) << killed.err;
    ASSERT_FALSE(fs::exists(path("part.json"))) << "the run ended before it was killed";
    const std::string state = text_of(path("state"));
    EXPECT_THAT(state, StartsWith("gambrel-explore-checkpoint-2"));
    const Outcome again = shell(mpirun(2) + ours);
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(text_of(path("whole.csv")), text_of(path("part.csv")));
    EXPECT_EQ(text_of(path("whole.json")), text_of(path("part.json")));
}

TEST_F(ExploreCommand, a_checkpoint_of_another_request_is_refused) {
    ASSERT_EQ(run("explore alexnet --gpu v100 --vary sms=1:2 --resume state -q --json a.json").status, 0);
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:3 --resume state");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("another request"));
}

TEST_F(ExploreCommand, the_start_is_what_predict_reports_and_the_output_says_how_it_differs) {
    const Outcome o = run("explore alexnet --batch 64 --gpu v100 --json e.json --no-chart");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("as `gambrel predict` reports"));
    const auto explored = nlohmann::json::parse(text_of(path("e.json")));
    ASSERT_EQ(run("predict alexnet --batch 64 --gpu v100 --json p.json -q").status, 0);
    const auto predicted = nlohmann::json::parse(text_of(path("p.json")));
    const double time = predicted["total"]["time_s"];
    EXPECT_NEAR(explored["library_tiles_time_s"].get<double>() / time, 1, 1e-12);
    const Outcome rule = run("explore alexnet --batch 64 --gpu v100 --tiles rule --json -");
    EXPECT_NEAR(nlohmann::json::parse(rule.out)["designs"][0]["time_s"].get<double>() / time, 1, 1e-12);
}

TEST_F(ExploreCommand, the_l2_of_an_a100_is_40_mib) {
    const Outcome o =
        run("explore alexnet --gpu a100-sxm4-40gb --vary 'l2.capacity={40MiB,80MiB}' --designs d.csv --json e.json "
            "--no-chart");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("40 MiB"));
    EXPECT_EQ(nlohmann::json::parse(text_of(path("e.json")))["start"]["l2.capacity"], 40.0 * 1024 * 1024);
    EXPECT_THAT(text_of(path("d.csv")), testing::ContainsRegex("\n0,1,1,[^\n]*,1\n1,[^\n]*,2\n"));
}

TEST_F(ExploreCommand, ranks_with_different_commands_are_refused_and_do_not_wait_for_each_other) {
    if (!has_mpi()) GTEST_SKIP() << "mpirun not found";
    const std::string one = "-n 1 " + binary(), first = one + "explore alexnet --gpu v100 --vary sms=1:2 -q ";
    const std::string others[] = {
        one + "explore alexnet --gpu a100 --vary sms=1:2 -q", one + "explore vgg16 --gpu v100 --vary sms=1:2 -q",
        one + "explore alexnet --gpu v100 --vary sms=1:3 -q", first + "--designs d.csv", one + "measure --quick -q"};
    for (const std::string& other : others) {
        const Outcome o = shell("timeout 120 " + mpirun(first) + " : " + other);
        EXPECT_EQ(o.status, 2) << other << "\n" << o.err;
        EXPECT_THAT(o.err, HasSubstr("different things")) << other;
        EXPECT_EQ(o.out, "") << other;
    }
    EXPECT_FALSE(fs::exists(path("d.csv")));
}

TEST_F(ExploreCommand, a_signal_ends_the_search_and_its_results_are_marked_partial) {
    const std::string longer = kRequest + "--points 11 --samples 1000000 --designs d.csv --resume state ";
    for (const auto& [signal, status] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 129}}) {
        fs::remove(path("state")), fs::remove(path("d.csv"));
        // sh starts background jobs with SIGINT ignored, and a program that ignores it from the start must not catch
        // it.
        const Outcome o = shell(
            "env --default-signal=INT " + binary() + longer + "--json p.json --csv p.csv -o p.svg -o p.html & p=$!; " +
            "for i in $(seq 600); do [ -s state ] && break; sleep 0.05; done; kill -" + signal + " $p; wait $p");
        EXPECT_EQ(o.status, status) << o.err;
        EXPECT_EQ(nlohmann::json::parse(text_of(path("p.json")))["search"]["partial"], true);
        EXPECT_THAT(text_of(path("p.csv")), HasSubstr(",1\n"));
        EXPECT_THAT(text_of(path("p.svg")), HasSubstr("partial"));
        EXPECT_THAT(text_of(path("p.html")), HasSubstr("partial: stopped early"));
    }
}

TEST_F(ExploreCommand, a_second_run_on_the_same_files_is_refused_and_the_first_is_not_harmed) {
    const std::string longer = kRequest + "--points 11 --samples 1000000 --designs d.csv ";
    const Outcome o = shell(binary() + longer + "--resume state --json a.json & p=$!; " +
                            "for i in $(seq 600); do [ -s state ] && break; sleep 0.05; done; " + binary() + longer +
                            "--resume state --json b.json; echo \"second $?\"; wait $p; echo \"first $?\"");
    EXPECT_THAT(o.out, HasSubstr("second 2"));
    EXPECT_THAT(o.out, HasSubstr("first 0"));
    EXPECT_THAT(o.err, HasSubstr("state: is in use by another gambrel explore"));
    EXPECT_FALSE(fs::exists(path("b.json")));
}

TEST_F(ExploreCommand, files_of_others_and_inputs_are_kept) {
    std::ofstream(path("mine.csv")) << "name,price\nx,1\n";
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:2 --designs mine.csv");
    EXPECT_EQ(o.status, 2);
    EXPECT_EQ(text_of(path("mine.csv")), "name,price\nx,1\n");
}

TEST_F(ExploreCommand, a_pipe_or_a_device_cannot_be_continued_and_is_refused_at_once) {
    const std::string request = "timeout 20 " + binary() + "explore alexnet --gpu v100 --vary sms=1:2 ";
    for (const char* flag : {"--designs fifo", "--resume fifo", "--designs /dev/null"}) {
        const Outcome o = shell("[ -p fifo ] || mkfifo fifo; " + request + flag);
        EXPECT_EQ(o.status, 2) << flag;
        EXPECT_THAT(o.err, HasSubstr("is not a regular file; expected one, or a new name")) << flag;
    }
}

TEST_F(ExploreCommand, a_machine_without_numbers_is_refused) {
    std::ofstream(path("tiny.json"))
        << R"({"schema": 1, "id": "tiny", "name": "Tiny", "compute_capability": "7.0", "memory": {"levels": []}})";
    const Outcome o = run("explore alexnet --gpu tiny.json --vary sms=1:2");
    EXPECT_EQ(o.status, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_THAT(o.err, HasSubstr("missing"));
}

TEST_F(ExploreCommand, reproduce_reports_the_nine_designs_and_the_proof) {
    const Outcome o = run("reproduce delta-scaling --csv -");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 11);
    EXPECT_EQ(run("reproduce scaling-proof").status, 2);
    if (!fs::exists(GAMBREL_SHARED_DATA "/measured")) GTEST_SKIP() << "shared data not found at " GAMBREL_SHARED_DATA;
    const Outcome proof = run("reproduce scaling-proof '" GAMBREL_SHARED_DATA "/measured'");
    EXPECT_EQ(proof.status, 0) << proof.err;
    EXPECT_THAT(proof.out, HasSubstr("Tesla V100-PCIE-32GB"));
}

}  // namespace
