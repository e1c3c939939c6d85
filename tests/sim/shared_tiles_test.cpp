// Tiles that several CTAs share: clusters, whose CTAs send each other what they load, and stream-K, whose CTAs take
// pieces of the last tiles. Sectors are counted by hand.
#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/sample.hpp"

namespace gambrel::sim_detail {
namespace {

// Products of FP32 in tiles of 32 x 32 and steps of 8: a step of A is 32 rows of one sector, a step of B 8 rows of
// four.
constexpr std::uint64_t kStepOfA = 32, kStepOfB = 32, kTile = 128;

Layer product(std::int64_t m, std::int64_t n, std::int64_t k) {
    Layer l;
    l.op = Gemm{.m = m, .n = n, .k = k};
    return l;
}
Mapping tile32() {
    Mapping mapping = tile(32, 32, 8);
    mapping.a = {.lanes = 4, .vector = 1, .k_major = true};
    mapping.b = {.lanes = 32};
    return mapping;
}
TensorCounts counted(const Layer& l, const Mapping& mapping, std::uint32_t sms) {
    // Caches that hold everything, and an L1 that keeps nothing from step to step.
    const CacheShape shape{.sms = sms, .l1_lines = 4096, .l2_lines = 1 << 17};
    const SectorCache l1(shape.l1_lines, shape.l1_ways);
    const auto stream = make_stream(l, mapping, {{l1.sets(), l1.ways()}, true, sms});
    SimulationOptions options;
    options.threads = 1;
    return run(*stream, Device{shape, 1, {}}, options).counts;
}
const Counts& of(const TensorCounts& counts, Tensor tensor) { return counts[static_cast<std::size_t>(tensor)]; }

TEST(Cluster, loads_what_its_ctas_have_in_common_once) {
    // 4 x 4 tiles on 16 SMs, 4 steps each. Alone, a row of A is loaded by 4 CTAs and a column of B, too.
    const Layer l = product(128, 128, 32);
    Mapping mapping = tile32();
    mapping.a.through_l1 = mapping.b.through_l1 = false;
    const TensorCounts alone = counted(l, mapping, 16);
    EXPECT_EQ(of(alone, Tensor::input).l2_read, 16 * 4 * kStepOfA);
    EXPECT_EQ(of(alone, Tensor::filter).l2_read, 16 * 4 * kStepOfB);
    // Two CTAs along the columns share rows of A: half of it each. What they send each other does not pass L2.
    mapping.cluster = Cluster{.rows = 1, .columns = 2};
    TensorCounts counts = counted(l, mapping, 16);
    EXPECT_EQ(of(counts, Tensor::input).l2_read, 16 * 4 * kStepOfA / 2);
    EXPECT_EQ(of(counts, Tensor::input).l1_read, 16 * 4 * kStepOfA);
    EXPECT_EQ(of(counts, Tensor::filter).l2_read, 16 * 4 * kStepOfB);
    // 2 x 2: half of both.
    mapping.cluster = Cluster{.rows = 2, .columns = 2};
    counts = counted(l, mapping, 16);
    EXPECT_EQ(of(counts, Tensor::input).l2_read, 16 * 4 * kStepOfA / 2);
    EXPECT_EQ(of(counts, Tensor::filter).l2_read, 16 * 4 * kStepOfB / 2);
    EXPECT_EQ(of(counts, Tensor::filter).l1_read, 16 * 4 * kStepOfB);
    for (const Tensor tensor : {Tensor::input, Tensor::filter, Tensor::output}) {
        EXPECT_EQ(of(counts, tensor).dram_read, of(alone, tensor).dram_read);
        EXPECT_EQ(of(counts, tensor).dram_write, of(alone, tensor).dram_write);
    }
}

TEST(Cluster, that_reaches_over_the_edge_has_ctas_without_work) {
    // 3 x 3 tiles in clusters of 2 x 2: a grid of 4 x 4, of which 7 CTAs lie outside.
    Mapping mapping = tile32();
    const Layer l = product(96, 96, 32);
    const auto whole = requested(l, mapping);
    mapping.cluster = Cluster{.rows = 2, .columns = 2};
    EXPECT_EQ(make_stream(l, mapping)->ctas(), 16);
    const auto stores = requested(l, mapping);
    EXPECT_EQ(stores.at(Tensor::output), whole.at(Tensor::output));
}

TEST(StreamK, shares_out_the_last_tiles_evenly) {
    // 7 tiles of 4 steps on 4 SMs. The last 3 tiles have 12 steps, 3 for each CTA: tile 4 falls into 3 + 1 steps, tile
    // 5 into 2 + 2, tile 6 into 1 + 3.
    const Layer l = product(7 * 32, 32, 32);
    Mapping mapping = tile32();
    mapping.stream_k = true;
    const auto stream = make_stream(l, mapping, {{}, false, 4});
    EXPECT_EQ(stream->ctas(), 8);
    // Those that add up what others leave wait a step for them.
    for (std::int64_t cta = 0; cta < 8; ++cta) EXPECT_EQ(stream->steps(cta), cta < 7 ? 4 : 3);
    const TensorCounts counts = counted(l, mapping, 4);
    // Every step of every tile once, and a tile of partial sums written and read for each of three.
    EXPECT_EQ(of(counts, Tensor::input).l1_read, 7 * 4 * kStepOfA);
    EXPECT_EQ(of(counts, Tensor::filter).l1_read, 7 * 4 * kStepOfB);
    EXPECT_EQ(of(counts, Tensor::workspace).l1_write, 3 * kTile);
    EXPECT_EQ(of(counts, Tensor::workspace).l1_read, 3 * kTile);
    EXPECT_EQ(of(counts, Tensor::output).l1_write, 7 * kTile);
    // Sums are read after they have been written: from L2.
    EXPECT_EQ(of(counts, Tensor::workspace).dram_read, 0U);
}

TEST(StreamK, leaves_whole_waves_as_they_are) {
    const Layer l = product(8 * 32, 32, 32);
    Mapping mapping = tile32();
    const TensorCounts plain = counted(l, mapping, 4);
    mapping.stream_k = true;
    const TensorCounts shared = counted(l, mapping, 4);
    for (unsigned t = 0; t < kTensors; ++t) expect_same(plain[t], shared[t]);
}

TEST(StreamK, gives_one_tile_to_all_sms) {
    // One tile of 8 steps on 4 SMs: four pieces of two steps, three of which leave partial sums.
    const Layer l = product(32, 32, 64);
    Mapping mapping = tile32();
    mapping.stream_k = true;
    const TensorCounts counts = counted(l, mapping, 4);
    EXPECT_EQ(of(counts, Tensor::input).l1_read, 8 * kStepOfA);
    EXPECT_EQ(of(counts, Tensor::workspace).l1_write, 3 * kTile);
    EXPECT_EQ(of(counts, Tensor::workspace).l1_read, 3 * kTile);
    EXPECT_EQ(of(counts, Tensor::output).l1_write, kTile);
}

}  // namespace
}  // namespace gambrel::sim_detail
