// Attention, experts and vector operators: is the work counted right, and does a table's row give the layer it means?
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/network.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

Layer layer_of(const Attention& a, Pass pass = Pass::fwd, Precision precision = Precision::bf16) {
    Layer layer;
    layer.op = a;
    layer.pass = pass;
    layer.precision = precision;
    return layer;
}
Layer layer_of(const Gemm& g) {
    Layer layer;
    layer.op = g;
    layer.precision = Precision::bf16;
    return layer;
}

Attention attention(std::int64_t q_len, std::int64_t kv_len, bool causal, std::int64_t window = 0) {
    Attention a;
    a.q_len = q_len, a.kv_len = kv_len, a.causal = causal, a.window = window;
    return a;
}

// One pair at a time, as the masks are defined.
double counted_pairs(const Attention& a) {
    double pairs = 0;
    for (std::int64_t i = 0; i < a.q_len; ++i)
        for (std::int64_t j = 0; j < a.kv_len; ++j) {
            const std::int64_t behind = a.kv_len - a.q_len + i - j;
            const bool seen = !(a.causal && behind < 0) && !(a.window > 0 && std::abs(behind) >= a.window);
            if (seen) ++pairs;
        }
    return pairs;
}

TEST(AttentionWork, pairs_are_those_that_the_masks_leave) {
    for (const bool causal : {false, true})
        for (const std::int64_t window : {0, 1, 3, 8, 100})
            for (const auto& [q, kv] : {std::pair{1, 1}, {1, 9}, {7, 7}, {3, 10}, {16, 16}}) {
                const Attention a = attention(q, kv, causal, window);
                EXPECT_EQ(a.pairs(), counted_pairs(a)) << q << ' ' << kv << ' ' << causal << ' ' << window;
            }
}

TEST(AttentionWork, of_one_head_without_masks_is_that_of_its_two_gemms) {
    Attention a = attention(96, 160, false);
    a.head_dim = 64, a.head_dim_v = 128;
    const Gemm scores{96, 160, 64}, context{96, 128, 160};
    EXPECT_EQ(flop(layer_of(a)), flop(layer_of(scores)) + flop(layer_of(context)));
}

TEST(AttentionWork, of_a_decode_step_over_one_position_is_that_of_a_matrix_times_a_vector) {
    Attention a = attention(1, 1, true);
    a.heads = a.kv_heads = 1;
    EXPECT_EQ(flop(layer_of(a)), 2 * flop(layer_of(Gemm{1, 1, 64})));
    EXPECT_EQ(compulsory_bytes(layer_of(a)).filter, Bytes{2 * 64 * 2});
}

TEST(AttentionWork, of_sequences_that_decode_beside_a_prompt_is_added_to_its_own) {
    Attention prompt = attention(64, 512, true), decode = attention(1, 300, true), both = prompt;
    decode.batch = both.decode_batch = 7, both.decode_kv_len = 300;
    EXPECT_EQ(flop(layer_of(both)), flop(layer_of(prompt)) + flop(layer_of(decode)));
    const OperandBytes a = compulsory_bytes(layer_of(prompt)), b = compulsory_bytes(layer_of(decode)),
                       sum = compulsory_bytes(layer_of(both));
    EXPECT_EQ(sum.read, a.read + b.read);
    EXPECT_EQ(sum.written, a.written + b.written);
    both.decode_kv_len = 0;
    EXPECT_THAT(faults(both), testing::Contains(HasSubstr("decode_kv_len is needed")));
}

TEST(AttentionWork, of_the_backward_pass_is_five_gemms) {
    const Attention a = attention(128, 128, true);
    EXPECT_EQ(flop(layer_of(a, Pass::dgrad)), flop(layer_of(a)) * 2.5);
}

TEST(AttentionWork, a_mask_never_adds_work_or_bytes) {
    for (const std::int64_t window : {0, 64, 1000}) {
        const Layer masked = layer_of(attention(512, 2048, true, window)), full = layer_of(attention(512, 2048, false));
        EXPECT_LT(flop(masked), flop(full));
        EXPECT_LE(compulsory_bytes(masked).read, compulsory_bytes(full).read);
    }
}

TEST(AttentionWork, keys_of_a_group_are_read_once_and_latent_values_with_their_keys) {
    Attention a = attention(1, 1000, true);
    a.heads = 32, a.kv_heads = 32;
    const Bytes all = compulsory_bytes(layer_of(a)).filter;
    a.kv_heads = 4;
    EXPECT_EQ(compulsory_bytes(layer_of(a)).filter * 8, all);
    a.kv_precision = Precision::fp8;
    EXPECT_EQ(compulsory_bytes(layer_of(a)).filter * 16, all);
    a.kv_heads = 1, a.head_dim = 576, a.head_dim_v = 512, a.latent = true, a.kv_precision = {};
    EXPECT_EQ(compulsory_bytes(layer_of(a)).filter, Bytes{1000 * 576 * 2});
}

TEST(AttentionFaults, name_the_numbers_that_do_not_fit) {
    Attention a;
    a.heads = 12, a.kv_heads = 5;
    ASSERT_EQ(faults(a).size(), 1U);
    EXPECT_EQ(faults(a).front(), "heads 12 is not divisible by kv_heads 5");
}

MixtureOfExperts experts(std::int64_t tokens, std::int64_t count, std::int64_t topk) {
    MixtureOfExperts m;
    m.tokens = tokens, m.hidden = 64, m.intermediate = 256, m.experts = count, m.topk = topk;
    return m;
}
Layer layer_of(const MixtureOfExperts& m) {
    Layer layer;
    layer.op = m;
    layer.precision = Precision::bf16;
    return layer;
}

TEST(Experts, one_expert_is_the_dense_layer) {
    const Layer one = layer_of(experts(100, 1, 1));
    const Layer up = layer_of(Gemm{100, 512, 64}), down = layer_of(Gemm{100, 64, 256});
    EXPECT_EQ(flop(one), flop(up) + flop(down));
    EXPECT_EQ(compulsory_bytes(one).filter, compulsory_bytes(up).filter + compulsory_bytes(down).filter);
}

TEST(Experts, loads_add_up_to_the_tokens_and_few_tokens_touch_few_experts) {
    for (const double imbalance : {0.0, 1.01, 1.2})
        for (const std::int64_t tokens : {1, 7, 100, 4096}) {
            MixtureOfExperts m = experts(tokens, 64, 4);
            m.imbalance = imbalance;
            const RoutedWork work = routed_work(m);
            EXPECT_EQ(work.assignments, 4.0 * static_cast<double>(tokens)) << imbalance << ' ' << tokens;
            EXPECT_LE(work.experts_touched, std::min(64.0, work.assignments));
            const auto loads = expert_loads(m);
            EXPECT_LE(loads.front(), static_cast<double>(tokens));
            EXPECT_TRUE(std::is_sorted(loads.rbegin(), loads.rend()));
        }
}

TEST(Experts, an_uneven_load_makes_the_busiest_gpu_busier) {
    MixtureOfExperts m = experts(4096, 64, 4);
    m.expert_parallel = 8;
    const double even = routed_work(m).assignments;
    EXPECT_EQ(even, 4096 * 4 / 8);
    m.imbalance = 1.2, m.busiest_gpu = true;
    EXPECT_GT(routed_work(m).assignments, even);
}

LayerTable table_of(const std::string& text) {
    auto table = read_layer_table(text, "t.csv");
    EXPECT_TRUE(table);
    return table ? *table : LayerTable{};
}

TEST(TransformerRows, of_attention_say_phase_and_heads) {
    const LayerTable t = table_of(
        "op,phase,kind,precision,kv_precision,batch,q_len,kv_len,heads,kv_heads,head_dim,causal,window\n"
        "attention,prefill,gqa,bf16,fp8,2,512,512,32,8,128,1,\n"
        "attention,decode,mla,bf16,,4,,2048,128,1,576,1,\n"
        "attention,bwd,mha,bf16,,1,64,64,4,,64,0,16\n"
        "attention,sideways,mha,bf16,,1,64,64,4,,64,0,\n");
    const auto& prefill = std::get<Attention>(t.rows.at(0).layers.at(0).op);
    EXPECT_EQ(prefill.kv_precision, Precision::fp8);
    EXPECT_TRUE(prefill.causal && prefill.paged);
    const auto& decode = std::get<Attention>(t.rows.at(1).layers.at(0).op);
    EXPECT_EQ(decode.q_len, 1);
    EXPECT_TRUE(decode.latent);
    EXPECT_EQ(t.rows.at(2).layers.at(0).pass, Pass::dgrad);
    EXPECT_EQ(std::get<Attention>(t.rows.at(2).layers.at(0).op).kv_heads, 4);
    EXPECT_THAT(t.rows.at(3).reason, HasSubstr("phase \"sideways\": expected prefill, decode"));
}

TEST(TransformerRows, of_prompts_before_pages_are_unmasked_kernels) {
    const LayerTable t = table_of(
        "op,phase,kind,precision,framework,batch,q_len,kv_len,heads,kv_heads,head_dim,causal\n"
        "attention,prefill,gqa,bf16,vllm flash-attention,1,512,512,32,8,128,1\n"
        "attention,prefill,gqa,bf16,vllm,1,512,512,32,8,128,1\n");
    const Layer& early = t.rows.at(0).layers.at(0);
    EXPECT_FALSE(std::get<Attention>(early.op).paged || std::get<Attention>(early.op).causal);
    EXPECT_EQ(early.hints.timing, Timing::kernel);
    const Layer& late = t.rows.at(1).layers.at(0);
    EXPECT_TRUE(std::get<Attention>(late.op).paged && std::get<Attention>(late.op).causal);
    EXPECT_FALSE(late.hints.timing);
}

TEST(TransformerRows, of_experts_and_vector_operators_are_read) {
    const LayerTable t = table_of(
        "op,precision,tokens,hidden,intermediate,topk,experts,tp,ep,distribution,rows,cols,pass,provider,timing\n"
        "moe,int4_wo,16,4096,14336,2,8,2,1,power_law_1.2,,,,,\n"
        "rms_norm,bf16,,,,,,,,,128,4096,fwd,liger,graph\n"
        "rms_norm,bf16,,,,,,,,,128,4096,fwd,huggingface,\n"
        "silu_mul,bf16,,,,,,,,,128,4096,fwd+bwd,vllm,\n"
        "moe,bf16,16,4096,14336,2,8,2,1,zipf,,,,,\n");
    const Layer& moe = t.rows.at(0).layers.at(0);
    EXPECT_EQ(moe.weights, Precision::int4);
    EXPECT_EQ(std::get<MixtureOfExperts>(moe.op).local_intermediate(), 7168);
    ASSERT_EQ(t.rows.at(1).layers.size(), 1U);
    EXPECT_EQ(t.rows.at(1).layers[0].hints.timing, Timing::graph);
    EXPECT_EQ(t.rows.at(2).layers.size(), 8U);  // cast, square, mean, sum, root, product, cast, product
    ASSERT_EQ(t.rows.at(3).layers.size(), 2U);
    EXPECT_EQ(t.rows.at(3).layers[1].pass, Pass::dgrad);
    EXPECT_THAT(t.rows.at(4).reason, HasSubstr("distribution \"zipf\": expected balanced or power_law_1.2"));
}

// Words that were not known were taken for another kernel, up to three times as slow, and nothing said so.
TEST(TransformerRows, with_words_that_contradict_or_are_not_known_are_refused) {
    const LayerTable t = table_of(
        "op,phase,kind,precision,quant,batch,q_len,kv_len,heads,kv_heads,head_dim,tokens,hidden,intermediate,topk,"
        "experts,tp\n"
        "attention,decode,mlaa,bf16,,1,1,2048,128,1,576,,,,,,\n"
        "attention,decode,mha,bf16,,1,1,2048,32,8,128,,,,,,\n"
        "moe,,,fp8,blok,,,,,,,16,4096,14336,2,8,1\n"
        "moe,,,fp8,Block,,,,,,,16,4096,14336,2,8,1\n"
        "moe,,,bf16,,,,,,,,16,4096,14336,2,8,3\n"
        "attention,decode,gqa,bf16,,1,64,32,32,8,128,,,,,,\n");
    EXPECT_THAT(t.rows.at(0).reason, HasSubstr("kind \"mlaa\": expected mha, gqa, mqa or mla"));
    EXPECT_THAT(t.rows.at(1).reason, HasSubstr("kv_heads is 8 and heads 32; expected gqa"));
    EXPECT_THAT(t.rows.at(2).reason, HasSubstr("quant \"blok\": expected tensor, block or none"));
    EXPECT_EQ(t.rows.at(3).layers.at(0).hints.quantizes_input, InputScales::blocks);
    EXPECT_THAT(t.rows.at(4).reason, HasSubstr("intermediate 14336 is not divisible by tp 3"));
    EXPECT_THAT(t.rows.at(5).reason, HasSubstr("q_len 64 is more than kv_len 32"));
}

TEST(TransformerRows, of_vector_operators_have_sizes_that_agree) {
    const LayerTable t = table_of(
        "op,precision,rows,cols,elements\nadd,bf16,4,8,32\nadd,bf16,4,8,33\nadd,bf16,-4,8,\nadd,bf16,0,8,\n"
        "add,bf16,4,,\n");
    EXPECT_EQ(t.rows.at(0).reason, "");
    EXPECT_EQ(t.rows.at(1).reason, "elements 33 is not rows 4 x cols 8");
    EXPECT_THAT(t.rows.at(2).reason, HasSubstr("rows is -4, expected at least 1"));
    EXPECT_EQ(t.rows.at(3).reason, "rows is 0, expected at least 1");
    EXPECT_THAT(t.rows.at(4).reason, HasSubstr("neither elements nor rows and cols are given"));
}

}  // namespace
}  // namespace gambrel
