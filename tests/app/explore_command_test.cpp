// Does explore do what docs/cli says: answers, errors, the same bytes from any number of ranks, going on after a kill?
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

const std::string kQuestion =
    "explore alexnet --batch 64 --gpu titan-xp --search grid -q --vary "
    "sms=1:4,macs=1:2,l2.bandwidth=1:4,l2.capacity=1:4,dram.bandwidth=1:4 --limit 'cost<=2.5' ";

class ExploreCommand : public gambrel::test::CommandFolder {
protected:
    // As root and with more ranks than cores, which is what test machines have.
    static std::string mpirun(int ranks) {
        return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
               "mpirun -n " +
               std::to_string(ranks) + " ";
    }
    static bool has_mpi() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }
    Outcome shell(const std::string& command) const { return run("--version >/dev/null; " + command); }
    static std::string binary() { return "'" GAMBREL_BINARY "' "; }
};

TEST_F(ExploreCommand, TellsTheFastestDesignTheFrontAndWhatMatters) {
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

TEST_F(ExploreCommand, ATargetThatNoDesignReachesIsAnAnswerOfNo) {
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:1.5 --target 50 --no-chart");
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.out, HasSubstr("No design that was looked at is 50 times as fast"));
}

TEST_F(ExploreCommand, BadInputIsToldAtOnceAndWritesNothing) {
    const Outcome o =
        run("explore alexnet --gpu v100 --vary 'smss=1:2,macs=2:1' --limit 'cost<2' --target fast -o x.gif");
    EXPECT_EQ(o.status, 2);
    for (const char* part : {"did you mean \"sms\"", "ends below its start", "<=", "--target", "x.gif"})
        EXPECT_THAT(o.err, HasSubstr(part));
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(run("explore alexnet").status, 2);
    EXPECT_EQ(run("explore alexnet --gpu v100 --target 2").status, 2);
}

TEST_F(ExploreCommand, WeightsOfNetworksAndPassesCount) {
    const auto time = [&](const std::string& what) {
        const Outcome o = run("explore " + what + " --gpu v100 --json -");
        return nlohmann::json::parse(o.out)["designs"][0]["time_s"].get<double>();
    };
    const double a = time("alexnet"), v = time("vgg16");
    EXPECT_NEAR(time("alexnet=2,vgg16=3"), 2 * a + 3 * v, 1e-9 * v);
    const double fwd = time("alexnet --pass fwd"), all = time("alexnet --training");
    EXPECT_NEAR(time("alexnet --training --pass-weights fwd=2"), all + fwd, 1e-9 * all);
}

TEST_F(ExploreCommand, EveryPictureIsWrittenToAFolder) {
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:2,dram.bandwidth=1:2 -o pictures/ -q");
    ASSERT_EQ(o.status, 0) << o.err;
    for (const char* name : {"designs", "sensitivity", "map", "pareto"})
        EXPECT_THAT(text_of(path(std::string("pictures/") + name + ".svg")), StartsWith("<svg"));
}

TEST_F(ExploreCommand, RanksAndThreadsDoNotChangeAByte) {
    ASSERT_EQ(run(kQuestion + "--threads 1 --designs one.csv --json one.json").status, 0);
    ASSERT_EQ(run(kQuestion + "--threads 3 --designs three.csv --json three.json").status, 0);
    EXPECT_EQ(text_of(path("one.csv")), text_of(path("three.csv")));
    EXPECT_EQ(text_of(path("one.json")), text_of(path("three.json")));
    EXPECT_GT(text_of(path("one.csv")).size(), 10'000u);
    if (!has_mpi()) GTEST_SKIP() << "mpirun not found";
    const Outcome o = shell(mpirun(3) + binary() + kQuestion + "--designs ranks.csv --json ranks.json");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(text_of(path("one.csv")), text_of(path("ranks.csv")));
    EXPECT_EQ(text_of(path("one.json")), text_of(path("ranks.json")));
}

// The state is on disk after a part of the work; then a rank is killed, and with it, as MPI has it, all.
TEST_F(ExploreCommand, AfterARankIsKilledResumeGivesTheSameBytes) {
    if (!has_mpi()) GTEST_SKIP() << "mpirun not found";
    const std::string longer = kQuestion + "--points 14 --samples 1000000 ";
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
    EXPECT_THAT(state, StartsWith("gambrel-explore-checkpoint-1"));
    const Outcome again = shell(mpirun(2) + ours);
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(text_of(path("whole.csv")), text_of(path("part.csv")));
    EXPECT_EQ(text_of(path("whole.json")), text_of(path("part.json")));
}

TEST_F(ExploreCommand, AStateOfAnotherQuestionIsRefused) {
    ASSERT_EQ(run("explore alexnet --gpu v100 --vary sms=1:2 --resume state -q --json a.json").status, 0);
    const Outcome o = run("explore alexnet --gpu v100 --vary sms=1:3 --resume state");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("another question"));
}

TEST_F(ExploreCommand, ReproduceTellsTheNineOptionsAndTheProof) {
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
