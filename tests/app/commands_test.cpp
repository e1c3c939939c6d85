// Does the real binary do what docs/cli says: exit status, streams, files, filters, bad input?
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

namespace fs = std::filesystem;
using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kData = GAMBREL_SHARED_DATA;
const std::string kReport = kData + "/ncu_rep/armleth__cuda-mlp-inference--report.ncu-rep";
const std::string kLog = kData + "/ncu_csv/gpp_rtx4060/output.csv";

class Commands : public gambrel::test::CommandFolder {};

#define NEEDS_SHARED_DATA() \
    if (!fs::exists(kReport)) GTEST_SKIP() << "shared data not found at " << kData

TEST_F(Commands, help_is_printed_for_every_command_and_unknown_ones_get_the_nearest_name) {
    for (const char* command : {"analyze", "check", "compare", "machines", "profile", "reproduce"}) {
        const auto help = run(std::string(command) + " --help");
        EXPECT_EQ(help.status, 0);
        EXPECT_THAT(help.out, StartsWith("gambrel " + std::string(command)));
    }
    const auto unknown = run("analyse x");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_EQ(unknown.out, "");
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"analyze\""));
    EXPECT_THAT(run("analyze x --flop-rul paper").err, HasSubstr("--flop-rule"));
}

TEST_F(Commands, bad_input_is_named_on_stderr_with_status_two) {
    std::ofstream(folder_ / "notes.txt") << "hello\n";
    for (const auto& [arguments, words] :
         {std::pair{"analyze none.ncu-rep", "none.ncu-rep"}, std::pair{"analyze notes.txt", "\"hello\""},
          std::pair{"machines v1000", "similar: v100-"}, std::pair{"analyze notes.txt --clock fast", "--clock"},
          std::pair{"analyze notes.txt --kernel '['", "--kernel"}, std::pair{"reproduce deepcam .", "out.METRIC"}}) {
        const auto outcome = run(arguments);
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_THAT(outcome.err, HasSubstr(words)) << arguments;
    }
}

TEST_F(Commands, an_argument_without_a_place_is_named_with_what_was_expected_there) {
    for (const auto& [arguments, words] :
         {std::pair{"analyse x", "\"analyse\" is not a command; expected one of analyze, doctor"},
          {"predict alexnet --gpu v100 --bach 3",
           "--bach: is not an option of `gambrel predict`; did you mean --batch?"},
          {"predict alexnet vgg16 --gpu v100", "\"vgg16\": is one argument more than `gambrel predict` expects"},
          {"predict alexnet --gpu v100 --batch", "--batch: needs a value, and none follows"},
          {"analyze", "FILE: none was given"}}) {
        const auto outcome = run(arguments);
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_THAT(outcome.err, HasSubstr(words)) << arguments;
    }
}

TEST_F(Commands, machines_lists_all_boards_of_a_name_that_several_share) {
    for (const char* name : {"v100", "'Tesla V100'"}) {
        const auto family = run(std::string("machines ") + name);
        EXPECT_EQ(family.status, 0);
        for (const char* id : {"v100-dgxs-32gb", "v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-16gb", "v100-sxm2-32gb",
                               "v100s-pcie-32gb"})
            EXPECT_THAT(family.out, HasSubstr(id));
        EXPECT_THAT(family.out, Not(HasSubstr("a100")));
    }
    EXPECT_THAT(run("machines v100-sxm2-16gb").out, HasSubstr("datasheet"));
    EXPECT_THAT(run("machines v100 --json").out, HasSubstr("\"id\": \"v100-sxm2-16gb\""));
}

TEST_F(Commands, analyze_gives_the_columns_of_the_contract_alone_on_stdout) {
    NEEDS_SHARED_DATA();
    const auto outcome = run("analyze '" + kReport + "' --csv -");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out,
                StartsWith("name,phase,launches,time_s,flop_fp64,flop_fp32,flop_fp16,flop_tensor,flop,l1_bytes,"
                           "l2_bytes,dram_bytes,ai_l1,ai_l2,ai_dram,flop_per_s,bound,percent_of_roof,reason,"
                           "headroom_s,step_speedup,operator,module,rank,origin_time,origin_bytes,nearest_roof,"
                           "roof_basis,why\n"));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
    EXPECT_THAT(outcome.out, HasSubstr(",DRAM,88.39"));
    const auto json = nlohmann::json::parse(run("analyze '" + kReport + "' --json").out);
    EXPECT_EQ(json["schema"], "gambrel-analysis-1");
    EXPECT_EQ(json["machines"][0]["id"], "t4");
    EXPECT_EQ(json["machines"][0]["source"], "catalogue");
    EXPECT_EQ(json["rows"][0]["verdict"]["bound"], "DRAM");
}

TEST_F(Commands, analyze_reads_gzip_and_pipes_like_plain_files) {
    NEEDS_SHARED_DATA();
    const auto plain = run("analyze '" + kReport + "' --csv - -q");
    ASSERT_EQ(std::system(("gzip -c '" + kReport + "' > '" + path("r.gz") + "'").c_str()), 0);
    EXPECT_EQ(run("analyze r.gz --csv - -q").out, plain.out);
    EXPECT_EQ(run("analyze /dev/stdin --csv - -q < '" + kReport + "'").out, plain.out);
    ASSERT_EQ(
        std::system(("mkfifo '" + path("pipe") + "' && (cat '" + kReport + "' > '" + path("pipe") + "' &)").c_str()),
        0);
    EXPECT_EQ(run("analyze pipe --csv - -q").out, plain.out);
}

TEST_F(Commands, analyze_writes_every_kind_of_file_by_its_extension) {
    NEEDS_SHARED_DATA();
    const auto outcome = run("analyze '" + kReport + "' -q -o a.svg -o a.png -o a.pdf -o a.csv -o a.json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(text_of(folder_ / "a.svg"), StartsWith("<svg"));
    EXPECT_THAT(text_of(folder_ / "a.png"), StartsWith("\x89PNG"));
    EXPECT_THAT(text_of(folder_ / "a.pdf"), StartsWith("%PDF"));
    EXPECT_THAT(text_of(folder_ / "a.csv"), StartsWith("name,"));
    EXPECT_TRUE(nlohmann::json::accept(text_of(folder_ / "a.json")));
    EXPECT_EQ(run("analyze '" + kReport + "' -o a.bmp").status, 2);
}

TEST_F(Commands, csv_does_not_replace_a_file_that_gambrel_did_not_write) {
    NEEDS_SHARED_DATA();
    std::ofstream(folder_ / "precious.csv") << "\"ID\",\"Kernel Name\"\n";
    const auto refused = run("analyze '" + kReport + "' --csv precious.csv");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("not replaced"));
    EXPECT_EQ(text_of(folder_ / "precious.csv"), "\"ID\",\"Kernel Name\"\n");
    EXPECT_EQ(run("analyze '" + kReport + "' --csv own.csv -q").status, 0);
    EXPECT_EQ(run("analyze '" + kReport + "' --csv own.csv -q").status, 0);
}

TEST_F(Commands, text_of_a_file_reaches_the_terminal_without_escape_sequences) {
    const std::string escape = "\x1b]0;owned\x07\x1b[31m";
    std::ofstream(path("a.csv")) << escape << "\n";
    std::ofstream(path("m.json")) << "{\"schema\": 1, \""
                                  << "\\u001b]0;owned\\u0007"
                                  << "\": 1}";
    std::ofstream(path("t.csv")) << "M,N,K," << escape << "\n1,1,1,\"" << escape << "\n";
    std::ofstream(path("deep.json")) << "{\"schema\": \"gambrel-analysis-1\", \"rows\": " << std::string(300'000, '[');
    for (const char* command :
         {"analyze a.csv", "machines m.json", "predict --layers t.csv --gpu v100", "analyze deep.json",
          "check deep.json --min-roof 1%", "check a.csv --baseline deep.json"}) {
        const auto answer = run(command);
        EXPECT_EQ(answer.status, 2) << command << answer.err;
        EXPECT_THAT(answer.err + answer.out, Not(HasSubstr("\x1b"))) << command;
        EXPECT_THAT(answer.err + answer.out, Not(HasSubstr("\x07"))) << command;
    }
}

TEST_F(Commands, filters_and_machines_change_the_answer) {
    NEEDS_SHARED_DATA();
    const auto none = run("analyze '" + kLog + "' --csv - --kernel no_such");
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("matches none of the 1 launches"));
    const auto unnamed = run("analyze '" + kLog + "' --csv -");
    EXPECT_THAT(unnamed.err, HasSubstr("--machine"));
    EXPECT_THAT(unnamed.out, Not(HasSubstr(",fp64,")));
    const auto named = run("analyze '" + kLog + "' --csv - --gpu rtx-4060");
    EXPECT_THAT(named.out, HasSubstr(",fp64,"));
}

TEST_F(Commands, reproduce_gives_the_papers_shares_of_kernels_without_flop) {
    NEEDS_SHARED_DATA();
    const auto outcome = run("reproduce deepcam '" + kData + "/deepcam' -q");
    EXPECT_EQ(outcome.status, 0);
    // reference/roofline.md 4.2: TensorFlow forward 54.8 %, PyTorch forward 54.7 % and backward 38.6 % in the paper.
    for (const char* share : {"54.7 %", "55.1 %", "38.7 %"}) EXPECT_THAT(outcome.out, HasSubstr(share));
    EXPECT_THAT(outcome.out,
                HasSubstr("PyTorch fp32 O1 and TensorFlow fp16 amp have 5 kernel names in common, of 45 and 49"));
    const auto csv = run("reproduce deepcam '" + kData + "/deepcam' -q --csv");
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 6);
    EXPECT_THAT(csv.out, StartsWith("framework,run,phase,precision,names,launches,time_s,"));
}

}  // namespace
