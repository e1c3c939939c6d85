// Do predict and validate do what docs/cli says: columns of the contract, nothing lost, errors, both models?
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

class ModelCommands : public gambrel::test::CommandFolder {
protected:
    std::string table(const std::string& text) {
        std::ofstream(path("t.csv")) << text;
        return path("t.csv");
    }
};

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}
std::vector<std::string> cells_of(const std::string& line) {
    std::istringstream in(line + ",");
    std::vector<std::string> cells;
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    return cells;
}

// All of these were taken, and what they asked for was not done.
TEST_F(ModelCommands, what_would_change_nothing_or_cannot_be_meant_is_refused) {
    table("N,C,H,W,K,R,S\n16,64,56,56,64,3,3\n");
    for (const auto& [command, why] :
         {std::pair{"predict --layers t.csv --gpu v100 --csv - --batch 4",
                    "--batch: is for a network; rows of a table"},
          {"predict --layers t.csv --gpu v100 --training", "--training: is for a network; rows of a table"},
          {"explore --layers t.csv --gpu v100 --pass dgrad", "--pass: is for a network; rows of a table"},
          {"predict --layers t.csv --gpu v100 --algorithm implicit", "--algorithm: is for a network; rows of a table"},
          {"predict alexnet --gpu v100 --sequence 4", "--sequence: is for bert-base"},
          {"predict alexnet --gpu v100 --clock 1.41", "\"1.41\" is not a valid clock"},
          {"predict alexnet --gpu v100,", "\"v100,\" has an empty name"},
          {"predict alexnet --gpu v100 --tile 128x64x0", "K of 1 to 256"},
          {"predict alexnet --gpu v100 --tile 128x64x", "K of 1 to 256"},
          {"predict alexnet --gpu v100 --tile 128", "expected MxN or MxNxK"},
          {"predict alexnet --gpu v100 --top -3", "--top"},
          {"predict alexnet --gpu v100 --explain 1", "expected a layer's name, such as \"conv1\""},
          {"predict llama3-8b --gpu v100", "did you mean \"llama-3-8b\""},
          {"explore alexnet=x --gpu v100", "\"x\": expected a positive number"}}) {
        const Outcome o = run(command);
        EXPECT_EQ(o.status, 2) << command;
        EXPECT_THAT(o.err, HasSubstr(why)) << command;
    }
}

TEST_F(ModelCommands, a_clock_beyond_the_board_is_noted) {
    EXPECT_THAT(run("predict alexnet --gpu v100 --clock 5GHz --top 1 --no-chart").err,
                HasSubstr("--clock: 5 GHz is above the boost clock of v100-sxm2-16gb"));
    EXPECT_THAT(run("predict alexnet --gpu v100 --clock 1600 --top 1 --no-chart").err, Not(HasSubstr("--clock")));
}

TEST_F(ModelCommands, fp64_products_say_that_libraries_may_use_tensor_cores) {
    table("op,precision,M,N,K,gpu\ngemm,fp64,512,512,512,a100-sxm4-80gb\ngemm,fp64,512,512,512,v100-sxm2-16gb\n");
    const auto lines = lines_of(run("predict --layers t.csv --csv -").out);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines[1], HasSubstr("FP64 Tensor Cores of a100-sxm4-80gb, up to twice as fast"));
    EXPECT_THAT(lines[2], Not(HasSubstr("Tensor Cores")));
}

TEST_F(ModelCommands, a_table_without_rows_is_named_once) {
    table("N,C,H,W,K,R,S\n");
    EXPECT_EQ(run("predict --layers t.csv --gpu t4 --csv -").err, "error: t.csv: holds no layer\n");
}

TEST_F(ModelCommands, predict_keeps_the_inputs_columns_and_adds_those_of_the_contract) {
    table("note,N,C,H,W,K,R,S,gpu\nfirst,16,64,56,56,64,3,3,v100\n\"a, b\",1,8,8,8,8,1,1,t4\n");
    const Outcome o = run("predict --layers t.csv --csv -");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto lines = lines_of(o.out);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0],
              "note,N,C,H,W,K,R,S,gpu,pred_tile_m,pred_tile_n,pred_tile_k,pred_flop,pred_l1_bytes,pred_l2_bytes,"
              "pred_dram_bytes,pred_time_us,pred_bound,pred_reason,pred_origin");
    const auto cells = cells_of(lines[1]);
    ASSERT_EQ(cells.size(), 20U);
    EXPECT_EQ(cells[9] + "x" + cells[10] + "x" + cells[11], "128x64x8");
    EXPECT_EQ(std::stod(cells[12]), 2.0 * 16 * 54 * 54 * 64 * 64 * 9);
    EXPECT_GT(std::stod(cells[13]), std::stod(cells[14]));
    EXPECT_GT(std::stod(cells[14]), std::stod(cells[15]));
    EXPECT_GT(std::stod(cells[16]), 0);
    EXPECT_THAT(lines[2], StartsWith("\"a, b\",1,8"));
}

TEST_F(ModelCommands, a_row_that_cannot_be_read_is_a_row_with_a_reason) {
    table("N,C,H,W,K,R,S,gpu\n16,64,56,56,64,3,3,v100\n16,64,x,56,64,3,3,v100\n16,64,56,56,64,3,3,v9000\n");
    const Outcome o = run("predict --layers t.csv --csv -");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto lines = lines_of(o.out);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_THAT(lines[2], HasSubstr("H \"\"x\"\""));
    EXPECT_THAT(lines[2], StartsWith("16,64,x,56"));
    EXPECT_THAT(lines[3], HasSubstr("v9000"));
    EXPECT_THAT(lines[3], HasSubstr("not in the catalogue"));
}

TEST_F(ModelCommands, a_machine_a_clock_and_a_tile_change_the_answer) {
    const auto time = [&](const std::string& flags) {
        const Outcome o = run("predict vgg16 --batch 8 --json - " + flags);
        EXPECT_EQ(o.status, 0) << o.err;
        return nlohmann::json::parse(o.out)["total"]["time_s"].get<double>();
    };
    const double v100 = time("--gpu v100");
    EXPECT_LT(time("--gpu a100-sxm4-80gb"), v100);
    EXPECT_GT(time("--gpu v100 --clock 800"), 1.3 * v100);
    EXPECT_NE(time("--gpu v100 --tile 32x32x8"), v100);
    EXPECT_LE(time("--gpu v100 --best-mapping"), v100);
    EXPECT_NE(time("--gpu v100 --model paper"), v100);
    EXPECT_GT(time("--gpu v100 --training"), 2 * v100);
    EXPECT_LT(time("--gpu v100 --precision fp16"), v100);
}

TEST_F(ModelCommands, totals_count_repeated_layers_as_often_as_they_run) {
    const Outcome o = run("predict resnet50 --gpu v100 --json -");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto result = nlohmann::json::parse(o.out);
    double time = 0, once = 0;
    for (const auto& layer : result["layers"]) {
        time += layer["time_s"].get<double>() * layer["repeat"].get<double>();
        once += layer["time_s"].get<double>();
    }
    EXPECT_NEAR(result["total"]["time_s"].get<double>(), time, 1e-12);
    EXPECT_GT(time, 1.5 * once);
    EXPECT_EQ(result["origin"], "modelled");
}

TEST_F(ModelCommands, explain_gives_each_term_of_one_layer_and_only_that) {
    const Outcome o = run("predict resnet50 --gpu v100 --explain conv1");
    ASSERT_EQ(o.status, 0) << o.err;
    for (const char* part : {"M, N, K", "12544, 64, 147", "L1 bytes of A", "DRAM bytes of B", "t issue", "bound = "})
        EXPECT_THAT(o.out, HasSubstr(part));
    EXPECT_THAT(o.out, Not(HasSubstr("total of")));
    const Outcome wrong = run("predict resnet50 --gpu v100 --explain conv1x");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("did you mean \"conv1\""));
}

TEST_F(ModelCommands, predict_says_what_is_missing) {
    EXPECT_EQ(run("predict").status, 2);
    EXPECT_THAT(run("predict resnet50").err, HasSubstr("which GPU?"));
    EXPECT_THAT(run("predict resnet5 --gpu v100").err, HasSubstr("did you mean \"resnet50\""));
    EXPECT_THAT(run("predict resnet50 --gpu v100 --tile 3").err, HasSubstr("expected MxN or MxNxK"));
    EXPECT_THAT(run("predict resnet50 --gpu v100 --precision fp17").err, HasSubstr("expected fp64"));
    EXPECT_THAT(run("predict --layers none.csv --gpu v100").err, HasSubstr("none.csv"));
    table("N,C,H,W,K,R,S\n16,64,56,56,64,3,3\n");
    const Outcome none = run("predict --layers t.csv --csv -");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("no GPU is given"));
}

TEST_F(ModelCommands, predict_draws_the_roofline) {
    ASSERT_EQ(run("predict alexnet --gpu v100 -q -o r.svg -o r.png -o r.csv").status, 0);
    EXPECT_THAT(text_of(path("r.svg")), StartsWith("<svg"));
    EXPECT_THAT(text_of(path("r.png")).substr(1, 3), "PNG");
    EXPECT_THAT(text_of(path("r.csv")), StartsWith("name,pass,precision,repeat,pred_tile_m"));
}

TEST_F(ModelCommands, validate_judges_both_models_and_filters_rows) {
    table(
        "N,C,H,W,K,R,S,gpu,algorithm,time_us\n16,64,56,56,64,3,3,v100,A,500\n32,64,56,56,64,3,3,v100,A,900\n"
        "1,8,8,8,8,1,1,v100,B,10\n");
    const Outcome all = run("validate t.csv --json -");
    ASSERT_EQ(all.status, 0) << all.err;
    EXPECT_EQ(nlohmann::json::parse(all.out)["rows"], 3);
    const Outcome some = run("validate t.csv --json - --min-time 100us");
    EXPECT_EQ(nlohmann::json::parse(some.out)["rows"], 2);
    EXPECT_EQ(nlohmann::json::parse(run("validate t.csv --json - --where algorithm=B").out)["rows"], 1);
    const auto errors = nlohmann::json::parse(some.out)["errors"];
    EXPECT_EQ(errors[0]["model"], "gambrel");
    EXPECT_EQ(errors[1]["model"], "paper");
    EXPECT_NE(errors[0]["mean_absolute"], errors[1]["mean_absolute"]);
    EXPECT_THAT(run("validate t.csv --where nothing=B").err, HasSubstr("no column \"nothing\""));
    EXPECT_THAT(run("validate t.csv --min-time 5kg").err, HasSubstr("--min-time"));
    const Outcome none = run("validate t.csv --where algorithm=nothing");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("t.csv: no row is left to judge"));
}

TEST_F(ModelCommands, validate_also_simulates_and_publishes_a_table) {
    table(
        "name,N,C,H,W,K,R,S,gpu,algorithm,time_us,dram_bytes\na|b,2,32,14,14,32,1,1,v100,A,50,100352\n"
        "x,2,32,14,14,32,3,3,v100,B,,\n");
    const Outcome csv = run("validate t.csv --simulate --csv -");
    ASSERT_EQ(csv.status, 0) << csv.err;
    EXPECT_THAT(csv.out, HasSubstr("predicted_paper,simulated,fitted_roofline\n"));
    // 2 x 32 x 14 x 14 inputs and outputs and 32 x 32 filters of 4 bytes, all once.
    EXPECT_THAT(csv.out, HasSubstr("DRAM_bytes,100352,104448,104448,104448,\n"));
    const Outcome made = run("validate t.csv --simulate -o acc.md");
    EXPECT_THAT(made.out, HasSubstr("simulated: mean"));
    const std::string page = gambrel::test::text_of(path("acc.md"));
    EXPECT_THAT(page, HasSubstr("| all | 1 | DRAM | 4.1 | 4.1 | 4.1 |"));
    EXPECT_THAT(page, HasSubstr("| 2 | a\\|b | fp32 fwd | 0.10 | +4.1 | +4.1 | +4.1 |"));
    EXPECT_THAT(run("validate t.csv --csv -").out, HasSubstr(",104448,,\n"));  // not asked for: not there
    EXPECT_THAT(run("validate t.csv --sample").err, HasSubstr("is for --simulate"));
}

TEST_F(ModelCommands, validate_needs_something_measured) {
    table("N,C,H,W,K,R,S,gpu\n16,64,56,56,64,3,3,v100\n");
    const Outcome o = run("validate t.csv");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("no measured column"));
    EXPECT_THAT(o.err, HasSubstr("t.csv"));
}

}  // namespace
