// Does attention ask memory for what its kernels ask? Sectors that can be counted by hand, and compulsory bytes
// where all fits into L2. tests/estimate has the closed-form model beside it.
#include <gtest/gtest.h>

#include <map>

#include <gambrel/sim.hpp>

#include "sim/sample.hpp"

namespace gambrel {
namespace {

using namespace sim_detail;

Layer attention_layer(const Attention& a, Pass pass = Pass::fwd) {
    Layer l;
    l.name = "attention";
    l.op = a;
    l.pass = pass;
    l.precision = Precision::fp16;
    return l;
}

Attention heads_of(std::int64_t batch, std::int64_t q_len, std::int64_t kv_len, std::int64_t heads = 1,
                   std::int64_t kv_heads = 1, std::int64_t dim = 64) {
    Attention a;
    a.batch = batch, a.q_len = q_len, a.kv_len = kv_len, a.heads = heads, a.kv_heads = kv_heads;
    a.head_dim = a.head_dim_v = dim;
    return a;
}

Mapping square_tiles(std::int32_t side, std::int32_t parts = 1, std::int32_t packed = 1) {
    Mapping m;
    m.family = KernelFamily::attention;
    m.cta = {side, side, 64};
    m.threads = 128;
    m.registers = 128;
    m.split_k = parts;
    m.packed_heads = packed;
    return m;
}

const Machine& gpu_of(const std::string& name) { return *find_in_catalogue(name); }

Simulation simulated_on(const Layer& l, const std::string& gpu) {
    const Result<Simulation> result = simulate(l, gpu_of(gpu), mapping_for(l, gpu_of(gpu)));
    EXPECT_TRUE(result.has_value());
    return result.value_or(Simulation{});
}

constexpr std::uint64_t kTileSectors = 64 * 4;  // 64 rows of 64 FP16

TEST(AttentionStream, a_cta_reads_its_queries_once_and_every_tile_of_keys) {
    auto sectors = requested(attention_layer(heads_of(1, 128, 256)), square_tiles(64));
    EXPECT_EQ(sectors[Tensor::input], 2 * kTileSectors);
    EXPECT_EQ(sectors[Tensor::filter], 2U * 4 * 2 * kTileSectors);  // two CTAs, four tiles, K and V
    EXPECT_EQ(sectors[Tensor::output], 2 * kTileSectors);
}

TEST(AttentionStream, masked_tiles_are_not_visited) {
    Attention a = heads_of(1, 256, 256);
    a.causal = true;
    EXPECT_EQ(requested(attention_layer(a), square_tiles(64))[Tensor::filter], 10 * 2 * kTileSectors);
    a.window = 64;  // the first row of a tile sees one tile back
    EXPECT_EQ(requested(attention_layer(a), square_tiles(64))[Tensor::filter], 7 * 2 * kTileSectors);
}

TEST(AttentionStream, packed_heads_share_their_keys_and_rows_beyond_the_end_have_no_address) {
    const Layer l = attention_layer(heads_of(1, 1, 100, 8, 2));
    auto apart = requested(l, square_tiles(64)), packed = requested(l, square_tiles(64, 1, 4));
    EXPECT_EQ(packed[Tensor::filter], 2U * 2 * 100 * 4);  // two heads of keys, K and V, 100 rows of four sectors
    EXPECT_EQ(apart[Tensor::filter], 4 * packed[Tensor::filter]);
    EXPECT_EQ(packed[Tensor::input], 8U * 4);
    EXPECT_EQ(packed[Tensor::output], 8U * 4);
}

TEST(AttentionStream, parts_of_a_split_leave_sums_that_a_second_kernel_joins) {
    const Layer l = attention_layer(heads_of(1, 1, 256, 4, 1));
    const Mapping split = square_tiles(64, 4, 4);
    auto sectors = requested(l, split);
    EXPECT_EQ(sectors[Tensor::filter], 4 * 2 * kTileSectors);
    EXPECT_EQ(sectors[Tensor::workspace], 2U * 4 * 4 * 8);  // written and read, four parts, four heads of 256 bytes
    EXPECT_EQ(sectors[Tensor::output], 4U * 4);
    EXPECT_EQ(make_stream(l, split)->kernels(), 2);
}

TEST(AttentionStream, a_latent_cache_has_its_values_in_its_keys) {
    Attention a = heads_of(1, 1, 64, 16, 1, 576);
    a.head_dim_v = 512;
    a.latent = true;
    EXPECT_EQ(requested(attention_layer(a), square_tiles(64, 1, 16))[Tensor::filter], 64U * 576 * 2 / 32);
}

TEST(AttentionStream, sequences_that_decode_beside_a_prompt_read_their_own_keys) {
    Attention a = heads_of(1, 64, 64);
    const std::uint64_t alone = requested(attention_layer(a), square_tiles(64))[Tensor::filter];
    a.decode_batch = 3, a.decode_kv_len = 128;
    auto sectors = requested(attention_layer(a), square_tiles(64));
    EXPECT_EQ(sectors[Tensor::filter] - alone, 3U * 2 * 128 * 4);
    EXPECT_EQ(sectors[Tensor::input], (64U + 3) * 4);
}

TEST(AttentionStream, backward_walks_along_the_queries_of_each_tile_of_keys) {
    Attention a = heads_of(1, 256, 256);
    a.causal = true;
    auto sectors = requested(attention_layer(a, Pass::dgrad), square_tiles(64));
    // Q of ten tiles, and dQ.
    EXPECT_EQ(sectors[Tensor::input], (10U + 4) * kTileSectors);
    // K and V, dK and dV.
    EXPECT_EQ(sectors[Tensor::filter], 4U * 4 * kTileSectors);
    // O and dO before, dO of ten tiles with 64 sums each.
    EXPECT_EQ(sectors[Tensor::output], (2U * 4 + 10) * kTileSectors + 10 * 8);
    // Sums of dQ in FP32: cleared, ten times added to, and read; products of rows written once and read ten times.
    EXPECT_EQ(sectors[Tensor::workspace], (1U + 1) * 4 * 2 * kTileSectors + 10 * 2 * kTileSectors + (4 + 10) * 8);
}

TEST(AttentionSimulation, what_fits_into_l2_moves_its_compulsory_bytes_only) {
    for (const std::string gpu : {"a100-sxm4-80gb", "rtx-4090", "h100-sxm"})
        for (const Attention& a : {heads_of(2, 512, 512, 8, 2, 128), heads_of(8, 1, 1024, 8, 2, 128)}) {
            const Layer l = attention_layer(a);
            const Simulation s = simulated_on(l, gpu);
            const OperandBytes once = compulsory_bytes(l);
            EXPECT_EQ(s.input.dram(), once.input) << gpu;
            EXPECT_EQ(s.filter.dram(), once.filter) << gpu;
            EXPECT_EQ(s.output.dram(), once.output) << gpu;
            EXPECT_EQ(s.workspace.dram_read, Bytes{}) << gpu;
        }
}

TEST(AttentionSimulation, more_sequences_never_move_less_and_a_mask_never_moves_more) {
    Attention a = heads_of(1, 1024, 1024, 8, 2, 128);
    const Simulation full = simulated_on(attention_layer(a), "h100-sxm");
    a.causal = true;
    const Simulation masked = simulated_on(attention_layer(a), "h100-sxm");
    EXPECT_LT(masked.total().l2(), full.total().l2());
    EXPECT_LE(masked.total().dram(), full.total().dram());
    a.batch = 2;
    EXPECT_GE(simulated_on(attention_layer(a), "h100-sxm").total().dram(), 1.99 * masked.total().dram());
}

}  // namespace
}  // namespace gambrel
