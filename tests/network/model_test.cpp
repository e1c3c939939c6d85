// Do configurations give the networks that their authors describe? Parameters are those of the models' own pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/network.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

Network model(std::string_view name, const ModelOptions& options = {}) {
    auto network = builtin_model(name, options);
    EXPECT_TRUE(network) << to_text(network ? Errors{} : network.error());
    return network ? *network : Network{};
}

TEST(Models, have_the_parameters_that_their_authors_state) {
    for (const auto& [name, billions] : {std::pair{"llama-2-7b", 6.74},
                                         {"llama-3-8b", 8.03},
                                         {"llama-3-70b", 70.6},
                                         {"llama-3-405b", 405.9},
                                         {"mistral-7b", 7.24},
                                         {"mixtral-8x7b", 46.7},
                                         {"qwen3-30b-a3b", 30.5},
                                         {"deepseek-v3", 671.0},
                                         {"gpt-oss-120b", 116.8},
                                         {"gpt2", 0.124},
                                         {"gpt2-xl", 1.56},
                                         {"opt-13b", 12.9},
                                         {"bert-large", 0.335},
                                         {"vit-large", 0.304}})
        EXPECT_NEAR(model(name).parameters / (billions * 1e9), 1, 0.02) << name;
}

TEST(Models, all_of_the_built_in_ones_give_layers_in_every_phase) {
    for (const BuiltinNetwork& each : builtin_models())
        for (const Phase phase : {Phase::prefill, Phase::decode, Phase::train})
            for (const bool fused : {true, false}) {
                ModelOptions options;
                options.phase = phase;
                options.fused = fused;
                options.batch = 2;
                const auto network = builtin_model(each.name, options);
                const std::string name(each.name);
                const bool encoder = name.starts_with("bert") || name.starts_with("vit");
                ASSERT_EQ(network.has_value(), !(encoder && phase == Phase::decode)) << name;
                if (!network) continue;
                EXPECT_FALSE(network->layers.empty());
                for (const Layer& layer : network->layers) EXPECT_TRUE(faults(layer).empty()) << layer.name;
                ASSERT_TRUE(network->model);
                EXPECT_GT(network->model->memory(), Bytes{});
            }
}

TEST(Models, decode_reads_every_weight_about_once_and_the_cache_grows_with_the_context) {
    ModelOptions options;
    options.phase = Phase::decode;
    options.context = 1000;
    const Network once = model("llama-3-8b", options);
    double read = 0;
    for (const Layer& layer : once.layers)
        if (std::holds_alternative<Gemm>(layer.op)) read += compulsory_bytes(layer).filter.value() * layer.repeat;
    EXPECT_NEAR(read / once.model->weights.value(), 1, 0.08);  // all but the embedding, of which a row is read
    // 32 layers x 2 x 8 heads x 128 x 2 bytes for each position.
    EXPECT_EQ(once.model->kv_cache, Bytes{131072.0 * 1001});
    options.tensor_parallel = 8;
    const Network shared = model("llama-3-8b", options);
    EXPECT_EQ(shared.model->kv_cache * 8, once.model->kv_cache);
    const auto has_sum = [](const Layer& l) { return std::holds_alternative<AllReduce>(l.op); };
    EXPECT_TRUE(std::any_of(shared.layers.begin(), shared.layers.end(), has_sum));
    EXPECT_FALSE(std::any_of(once.layers.begin(), once.layers.end(), has_sum));
}

TEST(Models, prefill_does_two_flop_for_each_parameter_and_token) {
    ModelOptions options;
    options.sequence = 128;
    const Network n = model("llama-3-8b", options);
    const double inside = n.parameters - 2 * 128256.0 * 4096;  // the embedding multiplies nothing, the head one row
    EXPECT_NEAR(totals(n).matrix_flop.value() / (2 * inside * 128), 1, 0.03);
}

TEST(Models, a_compiler_joins_element_wise_kernels_and_changes_no_product) {
    for (const std::string name : {"bert-large", "gpt2-large", "llama-3-8b"}) {
        ModelOptions options;
        options.batch = 2, options.sequence = 128, options.fused = false;
        const Network eager = *builtin_model(name, options);
        options.compiled = true;
        const Network compiled = *builtin_model(name, options);
        EXPECT_EQ(totals(compiled).matrix_flop, totals(eager).matrix_flop) << name;
        EXPECT_LT(totals(compiled).bytes, totals(eager).bytes) << name;
        EXPECT_EQ(compiled.parameters, eager.parameters) << name;
    }
}

TEST(ModelConfigs, report_all_that_is_missing_at_once) {
    const auto network = read_model_config(R"({"model_type": "llama", "hidden_size": "wide"})", "config.json");
    ASSERT_FALSE(network);
    const std::string text = to_text(network.error());
    EXPECT_THAT(text, HasSubstr("num_hidden_layers: is missing"));
    EXPECT_THAT(text, HasSubstr("hidden_size: is \"wide\", expected a whole number"));
    EXPECT_THAT(text, HasSubstr("vocab_size: is missing"));
}

TEST(ModelConfigs, say_how_their_weights_are_stored) {
    const std::string start =
        R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
            "vocab_size": 100, "torch_dtype": "bfloat16", "quantization_config": )";
    for (const auto& [config, bytes] : {std::pair{R"({"quant_method": "awq", "bits": 4}})", 0.5625},
                                        {R"({"quant_method": "fp8"}})", 1.0},
                                        {R"({"quant_method": "none of these"}})", 2.0}}) {
        const auto network = read_model_config(start + config, "config.json");
        ASSERT_TRUE(network) << config;
        const auto at = std::find_if(network->layers.begin(), network->layers.end(),
                                     [](const Layer& l) { return l.name == "attention.output"; });
        EXPECT_EQ(compulsory_bytes(*at).filter, Bytes{64 * 64 * bytes}) << config;
    }
}

TEST(ModelConfigs, refuse_what_the_model_cannot_do) {
    ModelOptions options;
    options.phase = Phase::decode;
    EXPECT_THAT(to_text(builtin_model("bert-large", options).error()), HasSubstr("a bert has no cache"));
    options.phase = Phase::prefill;
    options.tensor_parallel = 7;
    EXPECT_THAT(to_text(builtin_model("llama-3-8b", options).error()), HasSubstr("7 does not divide the 32"));
    EXPECT_THAT(to_text(builtin_model("lama-3-8b").error()), HasSubstr("did you mean \"llama-3-8b\"?"));
}

constexpr const char* kSmall = R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
    "num_attention_heads": 4, "vocab_size": 100, "torch_dtype": "bfloat16")";

Result<Network> configured(const std::string& more) {
    return read_model_config("{" + std::string(kSmall) + ", " + more + "}", "config.json");
}

TEST(Models, what_is_no_stack_of_attention_is_an_error_that_says_what_it_is) {
    for (const auto& [more, why] :
         {std::pair{R"("model_type": "t5")", "t5 is an encoder with a decoder"},
          {R"("model_type": "other", "is_encoder_decoder": true)", "an encoder with a decoder"},
          {R"("model_type": "qwen3_next")", "linear attention"},
          {R"("model_type": "other", "mamba_d_state": 16)", "mamba_d_state"},
          {R"("model_type": "clip")", "one tower for text"},
          {R"("model_type": "other", "layer_types": ["full_attention", "linear_attention"])",
           "has \"linear_attention\", which is not modelled"}}) {
        const auto network = configured(more);
        ASSERT_FALSE(network) << more;
        EXPECT_THAT(to_text(network.error()), HasSubstr(why)) << more;
    }
}

TEST(Models, a_family_that_is_not_known_is_noted) {
    const auto known = configured(R"("model_type": "qwen3")"), other = configured(R"("model_type": "new_model")");
    ASSERT_TRUE(known && other);
    const auto notes = [](const Network& n) { return to_text(n.notes); };
    EXPECT_THAT(notes(*known), testing::Not(HasSubstr("is not known")));
    EXPECT_THAT(notes(*other), HasSubstr("model_type \"new_model\" is not known: taken as a decoder of Llama's kind"));
    EXPECT_EQ(known->parameters, other->parameters);
}

TEST(Models, keys_that_falcon_writes_and_does_not_use_are_not_read) {
    const std::string keys = R"(, "num_kv_heads": 4, "multi_query": true)";
    const auto first = configured(R"("model_type": "falcon")" + keys);
    const auto later = configured(R"("model_type": "falcon", "new_decoder_architecture": true)" + keys);
    ASSERT_TRUE(first && later);
    EXPECT_EQ(later->parameters - first->parameters, 4.0 * 2 * 3 * 16 * 64);  // three heads of keys and values more
}

TEST(Models, layers_without_experts_are_those_that_the_configuration_names) {
    const std::string experts = R"("model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32)";
    const auto parameters = [&](const std::string& more) {
        const auto network = configured(experts + more);
        EXPECT_TRUE(network);
        return network ? network->parameters : 0;
    };
    const double all = parameters(""), each = (all - parameters(R"(, "mlp_only_layers": [1])"));
    EXPECT_EQ(each, 64 * 8 + 8.0 * 3 * 64 * 32 - 3.0 * 64 * 128);  // a router and eight experts for one MLP
    EXPECT_EQ(all - parameters(R"(, "decoder_sparse_step": 2)"), 2 * each);
    EXPECT_EQ(all - parameters(R"(, "decoder_sparse_step": 2, "mlp_only_layers": [0, 1])"), 3 * each);
    EXPECT_EQ(all - parameters(R"(, "first_k_dense_replace": 1)"), each);
}

TEST(Models, a_llama_4_has_a_shared_expert_and_larger_layers_without_experts) {
    const auto network = configured(R"("model_type": "llama4_text", "num_local_experts": 8, "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 2, "intermediate_size_mlp": 256)");
    ASSERT_TRUE(network);
    const double attention = 4.0 * 64 * 64, norms = 2 * 64;
    EXPECT_EQ(network->parameters, 2.0 * 100 * 64 + 64 + 4 * (attention + norms) + 2 * (3.0 * 64 * 256) +
                                       2 * (64 * 8 + 9 * (3.0 * 64 * 128)));
}

// The embedding of models that do not tie it to the head was counted whole on every GPU: 2.93 GB of Llama 3 8B on
// eight.
TEST(Models, gpus_share_all_matrices_and_the_embedding) {
    ModelOptions options;
    options.tensor_parallel = 8;
    const double alone = model("llama-3-8b").model->weights.value();
    EXPECT_NEAR(alone / 16.06e9, 1, 0.001);
    EXPECT_NEAR(model("llama-3-8b", options).model->weights.value() * 8 / alone, 1, 0.001);
}

// Where a number of GPUs did not divide the MLP, what was left over was computed by none.
TEST(ModelConfigs, refuse_gpus_that_cannot_share_heads_or_mlps_and_name_those_that_can) {
    const auto refusal = [](const std::string& more, std::int64_t gpus) {
        ModelOptions options;
        options.tensor_parallel = gpus;
        const auto network = read_model_config("{" + std::string(kSmall) + ", " + more + "}", "config.json", options);
        return network ? std::string() : to_text(network.error());
    };
    EXPECT_EQ(refusal(R"("num_key_value_heads": 2)", 4), "");
    EXPECT_THAT(refusal(R"("intermediate_size_mlp": 130)", 4),
                HasSubstr("4 does not divide the intermediate size 130; expected 1, 2"));
    EXPECT_THAT(refusal(R"("head_dim": 16, "num_heads": 12, "num_key_value_heads": 4)", 3), HasSubstr("3 does not"));
    EXPECT_THAT(refusal(R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 30)", 4),
                HasSubstr("4 does not divide the intermediate size 30 of an expert; expected 1, 2"));
    ModelOptions seven;
    seven.tensor_parallel = 7;
    EXPECT_THAT(to_text(builtin_model("qwen2-7b", seven).error()),
                HasSubstr("7 neither divides the 4 heads of keys nor is a multiple of them; expected 1, 2, 4"));
}

// --precision bf16 of a checkpoint in FP8 was computed in FP8, and nothing said so.
TEST(Models, of_a_quantized_checkpoint_are_widened_where_more_bits_are_asked_for) {
    ModelOptions wide;
    wide.precision = Precision::bf16;
    const Network stored = model("deepseek-v3"), widened = model("deepseek-v3", wide),
                  four = model("gpt-oss-20b", wide);
    EXPECT_NEAR(widened.model->weights / stored.model->weights, 2, 0.02);
    for (const Layer& layer : widened.layers) EXPECT_NE(layer.precision, Precision::fp8) << layer.name;
    EXPECT_THAT(to_text(widened.notes), HasSubstr("weights are in bf16 as --precision asks, not in fp8"));
    EXPECT_EQ(four.model->weights, model("gpt-oss-20b").model->weights);
    EXPECT_THAT(to_text(four.notes), HasSubstr("weights stay in fp4"));
}

TEST(Models, training_holds_16_bytes_for_each_parameter_in_fp32_and_in_mixed_precision) {
    for (const auto& [name, precision, bytes] : {std::tuple{"gpt2", Precision::fp32, 16.0},
                                                 {"gpt2", Precision::bf16, 16.0},
                                                 {"llama-3-8b", Precision::fp8, 2.0 + 12}}) {
        ModelOptions options;
        options.phase = Phase::train;
        options.precision = precision;
        const Network n = model(name, options);
        // Of FP8 the embedding and the head stay in 16 bits.
        EXPECT_NEAR(n.model->weights.value() / n.parameters, bytes, precision == Precision::fp8 ? 0.3 : 0.01) << name;
    }
}

TEST(Models, positions_that_a_model_does_not_have_are_noted) {
    ModelOptions options;
    options.phase = Phase::decode;
    EXPECT_EQ(model("gpt2", options).model->context, 1023) << "and the new position";
    EXPECT_THAT(to_text(model("gpt2", options).notes), testing::Not(HasSubstr("more than")));
    options.context = 5000;
    EXPECT_THAT(to_text(model("gpt2", options).notes), HasSubstr("5001 positions are more than the 1024"));
}

TEST(ModelConfigs, refuse_heads_that_do_not_divide_the_hidden_size) {
    const auto network = configured(R"("n_head": 5, "num_heads": 5)");
    EXPECT_TRUE(network) << "num_attention_heads is read first";
    const auto odd = read_model_config(
        R"({"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 5,
            "vocab_size": 100})",
        "config.json");
    ASSERT_FALSE(odd);
    EXPECT_THAT(to_text(odd.error()), HasSubstr("hidden_size: is 64, which 5 heads do not divide"));
}

TEST(ModelConfigs, say_of_a_field_that_is_wrong_what_it_has_and_not_that_it_is_missing) {
    const auto text = [](const std::string& more) {
        const auto network = configured(more);
        return network ? to_text(network->notes) : to_text(network.error());
    };
    EXPECT_THAT(text(R"("dtype": "float99")"), testing::Not(HasSubstr("float99"))) << "torch_dtype is read first";
    const std::string sizes = R"({"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4)";
    const auto of = [&](const std::string& more) {
        const auto network = read_model_config(sizes + more + "}", "config.json");
        return network ? to_text(network->notes) : to_text(network.error());
    };
    EXPECT_THAT(of(R"(, "vocab_size": 9)"), HasSubstr("intermediate_size: is missing"));
    const std::string rest = R"(, "vocab_size": 9, "intermediate_size": 8)";
    EXPECT_THAT(of(rest + R"(, "torch_dtype": "float99")"),
                HasSubstr("torch_dtype \"float99\" is not known: taken as"));
    EXPECT_THAT(of(rest + R"(, "torch_dtype": "torch.float16")"), testing::Not(HasSubstr("torch_dtype")));
    EXPECT_THAT(text(R"("quantization_config": "fp8")"), HasSubstr("is \"fp8\", expected an object"));
    EXPECT_THAT(text(R"("quantization_config": {"quant_method": "gptq", "bits": 3})"),
                HasSubstr("\"gptq\" with 3 bits is not known"));
    EXPECT_THAT(text(R"("sliding_window": 8, "layer_types": ["full_attention"])"),
                HasSubstr("layer_types: has 1 layers, but num_hidden_layers is 4"));
}

}  // namespace
}  // namespace gambrel
