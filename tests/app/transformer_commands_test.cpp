// Does predict answer for transformers what docs/cli says: a summary, memory, several GPUs, refusals?
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

class TransformerCommands : public gambrel::test::CommandFolder {};

TEST_F(TransformerCommands, predict_of_a_model_has_the_summary_of_the_contract) {
    const Outcome r = run("predict llama-3-8b --phase decode --batch 8 --context 1000 --gpu h100-sxm -q --json -");
    ASSERT_EQ(r.status, 0) << r.err;
    const json summary = json::parse(r.out).at("summary");
    EXPECT_GT(summary.at("time_s").get<double>(), 0);
    EXPECT_NEAR(summary.at("tokens_per_s").get<double>() * summary.at("time_s").get<double>(), 8, 1e-6);
    EXPECT_NEAR(summary.at("memory_bytes").get<double>() / 17.1e9, 1, 0.03);
    EXPECT_TRUE(summary.at("fits").get<bool>());
}

// The experts, the sums over GPUs and the roof that binds had no place in a simulation: the first two were refused, and
// the summary said "compute" of a network that waits for DRAM in every layer.
TEST_F(TransformerCommands, simulate_takes_experts_and_sums_over_gpus_and_names_the_roof_that_binds) {
    const Outcome r = run(
        "simulate mixtral-8x7b --phase decode --batch 1 --context 64 --tensor-parallel 8 --gpu h100-sxm -q --json -");
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(json::parse(r.out).at("summary").at("bound"), "DRAM");
}

TEST_F(TransformerCommands, a_line_of_tokens_is_no_image) {
    EXPECT_THAT(run("predict bert-base --gpu v100 -q --no-chart").out, HasSubstr(" samples/s"));
    EXPECT_THAT(run("predict alexnet --gpu v100 -q --no-chart").out, HasSubstr(" images/s"));
}

// --precision fp8 made everything eight bits wide: norms, attention, embedding and cache took half of their bytes.
TEST_F(TransformerCommands, narrow_precision_is_that_of_linear_layers_as_a_quantized_checkpoint_has_it) {
    const auto summary_of = [&](const std::string& flags) {
        const Outcome r = run("predict llama-3-8b --sequence 128 --gpu b200 --json - " + flags);
        EXPECT_EQ(r.status, 0) << r.err;
        return std::pair{json::parse(r.out), r.err};
    };
    const auto layer_named = [](const json& result, const std::string& name) {
        for (const json& layer : result.at("layers"))
            if (layer.at("name") == name) return layer;
        return json();
    };
    const auto [wide, no_note] = summary_of("");
    for (const char* narrow : {"fp8", "int8", "fp4"}) {
        const auto [result, note] = summary_of(std::string("--precision ") + narrow);
        EXPECT_THAT(note, HasSubstr(std::string("linear layers multiply in ") + narrow +
                                    "; activations and attention are in bf16, the cache in bf16"));
        EXPECT_EQ(result.at("summary").at("kv_cache_bytes"), wide.at("summary").at("kv_cache_bytes"));
        EXPECT_LT(result.at("summary").at("weights_bytes"), 0.6 * wide.at("summary").at("weights_bytes").get<double>());
        for (const char* same : {"embedding", "attention.norm", "attention", "mlp.activation"})
            EXPECT_EQ(layer_named(result, same), layer_named(wide, same)) << narrow << " " << same;
        EXPECT_FALSE(layer_named(result, "mlp.down.quantize").is_null()) << narrow;
    }
    EXPECT_THAT(run("predict resnet50 --precision fp4 --gpu b200").err, HasSubstr("a convolution in fp4"));
}

TEST_F(TransformerCommands, predict_says_what_does_not_fit_and_what_would) {
    EXPECT_THAT(run("predict llama-3-70b --phase decode --gpu h100-sxm -q --no-chart").out,
                HasSubstr("does not fit: 141.8 of 85.9 GB, at any batch"));
    const Outcome large =
        run("predict llama-3-8b --phase decode --batch 4096 --context 2048 --gpu h100-sxm -q --no-chart");
    EXPECT_THAT(large.out, HasSubstr("does not fit"));
    EXPECT_THAT(large.out, HasSubstr("fits at batch "));
}

TEST_F(TransformerCommands, predict_puts_several_gpus_side_by_side) {
    const Outcome r = run("predict gpt2 --sequence 512 --gpu v100,a100-sxm4-80gb -q --csv -");
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out,
                HasSubstr("gpu,time_s,tokens_per_s,memory_bytes,fits,largest_batch,bound,reason,samples_per_s\n"));
    EXPECT_THAT(r.out, HasSubstr("A100"));
    EXPECT_EQ(run("predict gpt2 --gpu v100,nothing").status, 2);
}

TEST_F(TransformerCommands, predict_answers_for_the_gpus_that_can_and_says_why_others_cannot) {
    // V100 has no FP8.
    const std::string asked = "predict gpt2 --sequence 64 --precision fp8 --gpu ";
    const Outcome csv = run(asked + "v100,h100-sxm,b200 -q --csv -");
    ASSERT_EQ(csv.status, 0) << csv.err;
    EXPECT_THAT(csv.out, ContainsRegex("V100[^\n]*,,,,,,,[^\n]*fp8"));
    EXPECT_THAT(csv.out, ContainsRegex("H100[^\n]*,0[.][0-9]+"));
    const Outcome text = run(asked + "v100,h100-sxm,b200 -q");
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("no estimate: "));
    EXPECT_THAT(text.out, HasSubstr("x as fast as")) << "the others are still compared";
    const json made = json::parse(run(asked + "v100,h100-sxm --json - -q").out);
    EXPECT_TRUE(made.at("gpus").at(0).contains("reason"));
    EXPECT_FALSE(made.at("gpus").at(0).contains("time_s"));
    EXPECT_GT(made.at("gpus").at(1).at("time_s").get<double>(), 0);
    const Outcome page = run(asked + "v100,h100-sxm -q -o " + path("one.html"));
    ASSERT_EQ(page.status, 0) << page.err;
    std::ifstream file(path("one.html"));
    const std::string html((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(html, HasSubstr("has no estimate: "));
    const Outcome none = run(asked + "v100,t4");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("V100"));
    EXPECT_THAT(none.err, HasSubstr("T4")) << "the reason of each";
}

TEST_F(TransformerCommands, predict_of_several_gpus_ends_with_the_answer) {
    const Outcome text = run("predict resnet50 --batch 64 --precision fp16 --gpu l40s,a100-sxm4-80gb -q");
    ASSERT_EQ(text.status, 0) << text.err;
    std::string one_line = text.out;
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    EXPECT_THAT(one_line,
                ContainsRegex("A100-SXM4-80GB is [0-9.]+x as fast as .*L40S .*, which waits .* longer for DRAM "
                              "\\([0-9.]+ [GT]B/s against [0-9.]+ [GT]B/s\\)\\."));
    const json answered = json::parse(run("predict gpt2 --gpu v100,a100 --json - -q").out);
    EXPECT_THAT(answered.at("answer").get<std::string>(), HasSubstr("x as fast as"));
    // 16 GB of weights.
    const json held =
        json::parse(run("predict llama-3-8b --precision fp16 --batch 16 --gpu t4,a100-sxm4-80gb --json - -q").out);
    EXPECT_THAT(held.at("answer").get<std::string>(), HasSubstr("whose memory is too small for the network"));
    const Outcome page = run("predict gpt2 --sequence 64 --gpu v100,a100 -q -o " + path("gpus.html"));
    ASSERT_EQ(page.status, 0) << page.err;
    std::ifstream file(path("gpus.html"));
    const std::string html((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(html, HasSubstr("x as fast as"));
}

TEST_F(TransformerCommands, predict_reads_a_configuration_file_or_its_folder) {
    std::ofstream(path("config.json"))
        << R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
               "intermediate_size": 512, "vocab_size": 1000, "torch_dtype": "float16"})";
    const Outcome file = run("predict " + path("config.json") + " --gpu a100 -q --no-chart");
    EXPECT_EQ(file.status, 0) << file.err;
    EXPECT_THAT(file.out, HasSubstr("time to first token"));
    std::ofstream(path("broken.json")) << R"({"model_type": "llama"})";
    const Outcome broken = run("predict " + path("broken.json") + " --gpu a100");
    EXPECT_EQ(broken.status, 2);
    EXPECT_THAT(broken.err, HasSubstr("num_hidden_layers: is missing"));
}

TEST_F(TransformerCommands, flags_of_transformers_are_refused_elsewhere) {
    const Outcome r = run("predict resnet50 --phase decode --gpu v100");
    EXPECT_EQ(r.status, 2);
    EXPECT_THAT(r.err, HasSubstr("--phase: is for transformers"));
}

TEST_F(TransformerCommands, simulate_takes_attention_and_experts) {
    for (const char* rows : {"op,precision,batch,q_len,kv_len,heads,head_dim\nattention,fp16,1,64,64,4,64\n",
                             "op,precision,tokens,hidden,intermediate,topk,experts\nmoe,fp16,64,256,512,2,8\n"}) {
        std::ofstream(path("t.csv")) << rows;
        const Outcome r = run("simulate --layers " + path("t.csv") + " --gpu a100 --csv - -q");
        ASSERT_EQ(r.status, 0) << r.err;
        EXPECT_THAT(r.out, HasSubstr(",simulated"));
    }
}

TEST_F(TransformerCommands, a_host_that_launches_slowly_bounds_a_network) {
    const auto rate = [&](const std::string& flags) {
        const Outcome r = run("predict alexnet --gpu v100 --batch 1 -q --json - " + flags);
        EXPECT_EQ(r.status, 0) << r.err;
        return nlohmann::json::parse(r.out).at("total");
    };
    const auto free = rate(""), slow = rate("--host-gap 1ms"), quick = rate("--host-gap 1ns");
    EXPECT_FALSE(free.contains("host_time_s"));
    EXPECT_EQ(quick.at("samples_per_s"), free.at("samples_per_s"));
    EXPECT_NEAR(slow.at("samples_per_s").get<double>() * slow.at("host_time_s").get<double>(), 1, 1e-9);
    EXPECT_EQ(slow.at("time_s"), free.at("time_s"));
    EXPECT_EQ(run("predict alexnet --gpu v100 --host-gap fast").status, 2);
}

TEST_F(TransformerCommands, a_training_step_of_any_network_has_its_optimizer) {
    EXPECT_THAT(run("predict alexnet --gpu v100 --phase train --csv - -q").out, HasSubstr("optimizer,"));
    EXPECT_THAT(run("predict alexnet --gpu v100 --training --csv - -q").out, testing::Not(HasSubstr("optimizer,")));
}

TEST_F(TransformerCommands, tensors_kept_as_nchw_are_turned_over_for_tensor_cores_alone) {
    const auto bytes = [&](const std::string& flags) {
        const Outcome r = run("predict alexnet --gpu a100 --batch 8 -q --json - " + flags);
        return nlohmann::json::parse(r.out).at("total").at("dram_bytes").get<double>();
    };
    EXPECT_GT(bytes("--precision tf32 --layout nchw"), 1.1 * bytes("--precision tf32"));
    EXPECT_EQ(bytes("--precision fp32 --layout nchw"), bytes("--precision fp32"));
}

}  // namespace
