// Does `gambrel measure` keep its promises on the command line: files, exit status, Ctrl-C, ranks?
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/ingest.hpp>
#include <gambrel/machine.hpp>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

namespace fs = std::filesystem;
using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Measure : public gambrel::test::CommandFolder {};

TEST_F(Measure, a_simulated_gpu_gives_table_machine_charts_and_an_ert_file) {
    const Outcome o = run("measure -d sim:v100 -o m.json -o m.svg --sweep-chart s.svg --ert r.json");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("Tensor FP16, mma"));
    EXPECT_THAT(o.out, HasSubstr("roof"));
    EXPECT_THAT(o.err, HasSubstr("wrote m.json"));
    EXPECT_THAT(o.err, Not(HasSubstr("\x1b")));  // no progress bar where there is no terminal
    const auto machine = gambrel::load_machine_file(path("m.json"));
    ASSERT_TRUE(machine) << to_text(machine.error());
    const auto dram = memory_ceiling(*machine, gambrel::Level::dram, {}, gambrel::Roofs::measured);
    ASSERT_TRUE(dram);
    EXPECT_NEAR(dram->value.value(), 828.758e9, 9e9);
    EXPECT_THAT(text_of(path("m.svg")), HasSubstr("Measured Roofline"));
    EXPECT_THAT(text_of(path("s.svg")), HasSubstr("L1 ends, 128 KiB"));
    const auto ert = gambrel::parse_ert_json(text_of(path("r.json")), "r.json");
    ASSERT_TRUE(ert) << to_text(ert.error());
    EXPECT_NEAR(ert->gbytes.back().second, 828.76, 9);
    EXPECT_EQ(run("machines m.json").status, 0);
}

TEST_F(Measure, csv_has_a_row_for_every_ceiling_and_nothing_else_on_stdout) {
    const Outcome o = run("measure -d sim:a100 --csv -");
    EXPECT_EQ(o.status, 0);
    EXPECT_THAT(o.out, testing::StartsWith("title,kind,action,pipe,level,units,"));
    EXPECT_THAT(o.out, HasSubstr("FP64 FMA,compute,fma,fp64,,108,"));
}

TEST_F(Measure, wrong_flags_are_told_before_anything_runs) {
    EXPECT_EQ(run("measure -o m.txt").status, 2);
    EXPECT_THAT(run("measure -o m.txt").err, HasSubstr("expected .html .json .svg .png or .pdf"));
    EXPECT_THAT(run("measure --budget soon").err, HasSubstr("\"soon\" is not a time"));
    // What cannot be written is found out before minutes are spent, and --force is offered only where it exists.
    std::ofstream(path("mine.json")) << "x\n";
    for (const char* file : {"-o mine.json", "-o none/m.json", "--csv none/m.csv", "--ert none/r.json"}) {
        const Outcome o = run(std::string("measure -d sim:v100 ") + file);
        EXPECT_EQ(o.status, 2) << file;
        EXPECT_EQ(o.out, "") << file;
        EXPECT_THAT(o.err, Not(HasSubstr("--force"))) << file;
    }
    EXPECT_THAT(run("measure -d gpu").err, HasSubstr("is not a device"));
    EXPECT_THAT(run("measure --import-ert nowhere").err, HasSubstr("nowhere"));
}

TEST_F(Measure, the_host_in_a_short_run_and_ctrl_c_keeps_what_is_done) {
    const Outcome o = run("measure --quick -o m.json -o m.svg --csv m.csv", "timeout --preserve-status -s INT 3");
    EXPECT_EQ(o.status, 130) << o.err;
    EXPECT_THAT(o.out, HasSubstr("FP64 FMA"));
    EXPECT_THAT(o.out, HasSubstr("Interrupted: these results are partial"));
    EXPECT_THAT(text_of(path("m.csv")), HasSubstr(",partial\n"));
    EXPECT_THAT(text_of(path("m.svg")), HasSubstr("partial result"));
    const auto machine = gambrel::load_machine_file(path("m.json"));
    ASSERT_TRUE(machine) << to_text(machine.error());
    EXPECT_THAT(machine->partial, HasSubstr("interrupted after"));
    EXPECT_THAT(run("predict resnet50 --machine m.json").err, HasSubstr("m.json: is a partial measurement"));
    // Beside other programs a ceiling may be disturbed. Then no machine file has it, and the CSV says why.
    if (!machine->pipes[gambrel::Pipe::fp64].measured) {
        EXPECT_THAT(text_of(path("m.csv")), ContainsRegex("FP64 FMA.*disturbed"));
    }
}

TEST_F(Measure, the_self_test_runs_every_kernel_once_and_writes_one_file) {
    const Outcome o = run("measure --self-test -d sim:h100-sxm -o t.json");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr(" kernels proved, 0 failed"));
    const auto file = nlohmann::json::parse(text_of(path("t.json")));
    EXPECT_EQ(file["schema"], "gambrel-self-test-1");
    EXPECT_GE(file["kernels"].size(), 40U);
    EXPECT_EQ(run("measure --self-test -d sim:v100 -o t.svg").status, 2);
}

TEST_F(Measure, the_doctor_runs_the_same_self_test) {
    const Outcome o = run("doctor --self-test -d sim:h100-sxm -o d.json");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.out, run("measure --self-test -d sim:h100-sxm").out);
    EXPECT_EQ(nlohmann::json::parse(text_of(path("d.json")))["schema"], "gambrel-self-test-1");
    EXPECT_EQ(run("doctor --self-test -d sim:v100 -o t.svg").status, 2);
    EXPECT_EQ(run("doctor -d sim:v100").status, 2);
}

TEST_F(Measure, proof_by_counters_that_a_device_lacks_is_named_and_the_run_goes_on) {
    const Outcome o = run("measure --prove --quick -d sim:v100");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("proof by counters"));
}

TEST_F(Measure, four_ranks_name_the_one_with_slow_memory) {
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun not found";
    ASSERT_EQ(run("machines v100 --json node0.json").status, 0);
    for (const char* other : {"node1.json", "node3.json"}) fs::copy_file(path("node0.json"), path(other));
    auto slow = nlohmann::json::parse(text_of(path("node0.json")));
    for (auto& level : slow["memory"]["levels"])
        if (level["name"] == "DRAM") level["measured"]["value"] = "700 GB/s";
    std::ofstream(path("node2.json")) << slow;
    const Outcome o = run("measure -d 'sim:node{rank}.json,seed={rank}' -o all.json",
                          "mpirun --oversubscribe --allow-run-as-root -np 4");
    if (o.out.find("ranks") == std::string::npos)
        GTEST_SKIP() << "built without MPI, or mpirun cannot start: " << o.err;
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.out, HasSubstr("Outlier: rank 2"));
    for (const char* innocent : {"Outlier: rank 0", "Outlier: rank 1", "Outlier: rank 3"})
        EXPECT_THAT(o.out, Not(HasSubstr(innocent)));
    EXPECT_TRUE(gambrel::load_machine_file(path("all.json")));
}

TEST_F(Measure, doctor_reports_what_it_found_and_what_follows) {
    const Outcome o = run("doctor");
    EXPECT_EQ(o.status, 0);
    for (const char* word : {"NVIDIA driver", "NVRTC", "NVML", "Nsight Compute", "OpenCL", "MPI", "device cpu"})
        EXPECT_THAT(o.out, HasSubstr(word));
    EXPECT_THAT(o.out, Not(HasSubstr("\\n")));  // a line's end that was printed as a letter
}

}  // namespace
