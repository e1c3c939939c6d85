// Are bytes counted right through the whole hierarchy? Compulsory traffic, LRU at its edge, sums between levels, and
// that neither threads nor sampling nor a stop change what is said.
#include <gambrel/sim.hpp>

#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/sample.hpp"

namespace gambrel {
namespace {

using namespace sim_detail;

TEST(Simulate, layer_that_fits_in_l2_moves_its_compulsory_bytes_only) {
    const Convolution v = three_by_three(2, 64, 28, 32, 64);
    for (const Pass pass : {Pass::fwd, Pass::dgrad}) {
        const Layer l = layer(v, pass);
        const Simulation s = simulated(l);
        const OperandBytes expected = compulsory_bytes(l);
        EXPECT_EQ(s.input.dram(), expected.input);
        EXPECT_EQ(s.filter.dram(), expected.filter);
        EXPECT_EQ(s.output.dram(), expected.output);
        EXPECT_EQ(s.total().dram_written, expected.written);
    }
}

TEST(Simulate, streaming_and_depthwise_layers_move_their_compulsory_bytes) {
    Layer relu;
    relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 22, 0, 0, 0}, .written = 1 << 22};
    EXPECT_EQ(simulated(relu).total().dram(), compulsory_bytes(relu).read + compulsory_bytes(relu).written);
    const Convolution v{.n = 4,
                        .c = 32,
                        .h = 32,
                        .w = 32,
                        .k = 32,
                        .r = 3,
                        .s = 3,
                        .pad_top = 1,
                        .pad_bottom = 1,
                        .pad_left = 1,
                        .pad_right = 1,
                        .groups = 32};
    for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
        const Layer l = layer(v, pass);
        const Simulation s = simulated(l);
        EXPECT_EQ(s.input.dram(), compulsory_bytes(l).input) << name(pass);
        EXPECT_EQ(s.output.dram(), compulsory_bytes(l).output) << name(pass);
    }
}

TEST(Simulate, bias_is_read_once_from_dram_and_by_every_cta_before) {
    const Convolution v{.n = 2, .c = 64, .h = 32, .w = 32, .k = 256};
    Layer l = layer(v);
    const Simulation without = simulated(l);
    l.bias = true;
    const Simulation with = simulated(l);
    const Mapping m = mapping_for(l, v100());
    ASSERT_EQ(v.k % m.cta.n, 0);
    const double ctas = static_cast<double>(2 * 32 * 32) / m.cta.m, warps = static_cast<double>(m.cta.m) / m.warp.m;
    EXPECT_EQ(with.bias.dram(), Bytes{256 * 4.0});
    EXPECT_EQ(with.bias.dram(), compulsory_bytes(l).bias);
    EXPECT_EQ(with.bias.l1_read, Bytes{256 * 4 * ctas * warps});
    EXPECT_EQ(with.bias.l1_written + with.bias.dram_written, Bytes{});
    EXPECT_EQ(with.output.dram(), without.output.dram());
    EXPECT_EQ(without.bias.l1(), Bytes{});
    EXPECT_EQ(with.total().l1(), without.total().l1() + with.bias.l1());
    // Split k: one CTA of each output tile adds it.
    Mapping split = m;
    split.split_k = 4;
    for (const SplitSums sums : {SplitSums::atomics, SplitSums::workspace}) {
        split.sums = sums;
        EXPECT_EQ(simulate(l, v100(), split)->bias.l1_read, with.bias.l1_read) << static_cast<int>(sums);
    }
}

// BLAS sees a row-major product transposed, but a warp still loads along what is contiguous in each operand.
TEST(Simulate, every_cta_loads_each_sector_of_a_row_major_product_once) {
    Layer l;
    l.op = Gemm{.m = 512, .n = 256, .k = 128};
    const Mapping mapping = mapping_for(l, v100());
    ASSERT_TRUE(mapping.transposed_view);
    const Tile& tile = mapping.cta;
    const double a = 512 * 128 * 4.0 * 256 / tile.n, b = 256 * 128 * 4.0 * 512 / tile.m, c = 512 * 256 * 4.0;
    EXPECT_EQ(simulated(l).total().l1().value(), a + b + c);
}

TEST(Simulate, bias_of_groups_depthwise_and_transposed_layers_is_read_whole) {
    const Convolution grouped{.n = 2, .c = 64, .h = 16, .w = 16, .k = 128, .groups = 2};
    const Convolution depthwise{.n = 2, .c = 64, .h = 16, .w = 16, .k = 64, .groups = 64};
    const Convolution transposed{
        .n = 2, .c = 96, .h = 16, .w = 16, .k = 64, .r = 2, .s = 2, .stride_h = 2, .stride_w = 2};
    for (const auto& [v, pass] : {std::pair{grouped, Pass::fwd}, {depthwise, Pass::fwd}, {transposed, Pass::dgrad}}) {
        Layer l = layer(v, pass);
        l.bias = true;
        EXPECT_EQ(simulated(l).bias.dram(), Bytes{4.0 * static_cast<double>(pass == Pass::fwd ? v.k : v.c)});
    }
    Layer gemm;
    gemm.op = Gemm{.m = 64, .n = 96, .k = 32, .batch = 3};
    gemm.bias = true;
    EXPECT_EQ(simulated(gemm).bias.dram(), Bytes{4.0 * 96});  // the batch shares it
}

// At least a sixteenth of what a layer streams in, where the catalogue says that check bits lie in the same memory, and
// at most a sector for each line of four. GPUs of this kind read 10 to 20 % more than L2 misses (docs/simulator.md).
TEST(Simulate, ecc_of_gddr_moves_check_bits_and_that_of_hbm_none) {
    Layer relu;
    relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 22, 0, 0, 0}, .written = 1 << 22};
    const OperandBytes once = compulsory_bytes(relu);
    for (const char* name : {"t4", "a40", "a10g"}) {
        const Simulation s = simulated(relu, {}, *find_in_catalogue(name));
        EXPECT_GT(s.check_bits.dram_read, once.read / 10.0) << name;
        EXPECT_LE(s.check_bits.dram_read, once.read / 4.0) << name;
        // Lines leave L2 as its sets fill, seldom beside each other: up to a sector for each line of four.
        EXPECT_GT(s.check_bits.dram_written, once.written / 16.0) << name;
        EXPECT_LT(s.check_bits.dram_written, once.written / 4.0) << name;
        EXPECT_EQ(s.total().dram(), once.read + once.written + s.check_bits.dram()) << name;
        EXPECT_EQ(s.check_bits.l1() + s.check_bits.l2(), Bytes{}) << name;
    }
    EXPECT_EQ(simulated(relu).check_bits.dram(), Bytes{});
    Machine off = *find_in_catalogue("t4");
    off.at(Level::dram).inline_ecc->value = 0;
    EXPECT_EQ(simulated(relu, {}, off).check_bits.dram(), Bytes{});
}

// Reads `lines` lines in order, `rounds` times, in one CTA without L1.
class Cyclic final : public AddressStream {
public:
    Cyclic(std::uint64_t lines, std::int64_t rounds) : lines_(lines), rounds_(rounds) {}
    [[nodiscard]] std::int64_t ctas() const override { return 1; }
    [[nodiscard]] std::int64_t steps(std::int64_t) const override { return rounds_; }
    void open(std::int64_t, CtaState&) const override {}
    void step(CtaState&, std::int64_t, std::vector<Access>& out) const override {
        for (std::uint64_t line = 0; line < lines_; ++line) out.emplace_back(line, kAllSectors, Action::read);
    }
    void close(CtaState&, std::vector<Access>&) const override {}
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    std::uint64_t lines_;
    std::int64_t rounds_;
};

TEST(Simulate, one_line_more_than_the_cache_hits_nothing_under_lru) {
    // An L1 of one set, so that hashing does not blur the edge.
    Device device;
    device.caches = {.sms = 1, .l1_lines = 16, .l1_ways = 16, .l2_lines = 4096};
    const auto counts = [&](std::uint64_t lines) {
        const Cyclic stream(lines, 10);
        return sim_detail::run(stream, device, {.threads = 1}).counts[0];
    };
    const Counts fits = counts(16), over = counts(17);
    EXPECT_EQ(fits.l1_hit, 9U * 16 * 4);
    EXPECT_EQ(fits.l2_read, 16U * 4);
    EXPECT_EQ(over.l1_hit, 0U);
    EXPECT_EQ(over.l2_read, 10U * 17 * 4);
    EXPECT_EQ(over.dram_read, 17U * 4);
}

// Two kernels that read the same line, one CTA each.
class Twice final : public AddressStream {
public:
    explicit Twice(std::int64_t kernels) : kernels_(kernels) {}
    [[nodiscard]] std::int64_t ctas() const override { return 2; }
    [[nodiscard]] std::int64_t kernels() const override { return kernels_; }
    [[nodiscard]] std::int64_t steps(std::int64_t) const override { return 1; }
    void open(std::int64_t, CtaState&) const override {}
    void step(CtaState&, std::int64_t, std::vector<Access>& out) const override {
        out.emplace_back(7, kAllSectors, Action::read);
    }
    void close(CtaState&, std::vector<Access>&) const override {}
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    std::int64_t kernels_;
};

TEST(Simulate, l1_does_not_outlive_a_kernel_and_l2_does) {
    Device device;
    device.caches = {.sms = 1, .l1_lines = 16, .l2_lines = 4096};
    const Counts one = sim_detail::run(Twice(1), device, {.threads = 1}).counts[0];
    EXPECT_EQ(one.l1_hit, 4U);
    EXPECT_EQ(one.l2_read, 4U);
    const Counts two = sim_detail::run(Twice(2), device, {.threads = 1}).counts[0];
    EXPECT_EQ(two.l1_hit, 0U);
    EXPECT_EQ(two.l2_read, 8U);
    EXPECT_EQ(two.l2_hit, 4U);
    EXPECT_EQ(two.dram_read, 4U);
}

TEST(Simulate, zeros_of_a_strided_dgrad_are_written_once_beside_the_gradients) {
    // Far more than L2 holds: a sector whose halves were written at different times would be written twice. A few leave
    // L2 between the stores of a CTA, because others store at the same time.
    const Layer l = layer({.n = 4, .c = 64, .h = 96, .w = 144, .k = 32, .stride_h = 2, .stride_w = 2}, Pass::dgrad);
    const Simulation s = simulated(l);
    const double once = 4.0 * 4 * 64 * 96 * 144;
    EXPECT_NEAR(s.input.dram_written.value(), once, once / 1000);
    EXPECT_NEAR(s.input.dram_read.value(), 0, once / 1000);
}

TEST(Simulate, zeros_that_another_kernel_writes_are_not_written) {
    Layer l = layer({.n = 4, .c = 64, .h = 96, .w = 144, .k = 32, .stride_h = 2, .stride_w = 2}, Pass::dgrad);
    l.precision = Precision::fp16;
    l.hints.kernel = "dgrad_1x1_stride_2x2";
    const double gradients = 2.0 * 4 * 64 * 48 * 72;
    EXPECT_NEAR(simulated(l).input.dram_written.value(), gradients, gradients / 1000);
}

TEST(Simulate, totals_are_conserved_between_levels) {
    const Convolution v{.n = 8,
                        .c = 96,
                        .h = 30,
                        .w = 30,
                        .k = 200,
                        .r = 3,
                        .s = 3,
                        .pad_top = 1,
                        .pad_bottom = 1,
                        .pad_left = 1,
                        .pad_right = 1,
                        .stride_h = 2,
                        .stride_w = 2};
    for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
        const Simulation s = simulated(layer(v, pass));
        for (const SimulatedTraffic& t : {s.input, s.filter, s.output, s.workspace}) {
            EXPECT_EQ(t.l2_read, t.l1_read - t.l1_hits);
            EXPECT_EQ(t.l2_written, t.l1_written);
            if (t.l2_written == Bytes{}) {
                EXPECT_EQ(t.dram_read, t.l2_read - t.l2_hits);
            }
            EXPECT_LE(t.dram_written, t.l2_written);
        }
    }
}

TEST(Simulate, same_result_for_any_number_of_threads) {
    const Layer l = layer({.n = 4, .c = 128, .h = 56, .w = 56, .k = 256});
    const Simulation one = simulated(l, {.threads = 1}), three = simulated(l, {.threads = 3});
    EXPECT_EQ(one.total().l1(), three.total().l1());
    EXPECT_EQ(one.total().l2(), three.total().l2());
    EXPECT_EQ(one.total().dram(), three.total().dram());
    EXPECT_EQ(one.input.l2_hits, three.input.l2_hits);
}

TEST(Simulate, warm_caches_read_less_from_dram) {
    const Layer l = layer({.n = 1, .c = 64, .h = 32, .w = 32, .k = 64});
    const Simulation cold = simulated(l), warm = simulated(l, {.warm = true});
    EXPECT_EQ(cold.input.dram_read, compulsory_bytes(l).input);
    EXPECT_EQ(warm.input.dram_read, Bytes{});
    EXPECT_EQ(warm.total().l2(), cold.total().l2());
    EXPECT_EQ(warm.output.dram_written, compulsory_bytes(l).output);
}

TEST(Simulate, what_a_first_run_left_dirty_is_not_of_the_second) {
    // More than L2 holds: the second run drives out lines that the first has written.
    Layer relu;
    relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 22, 0, 0, 0}, .written = 1 << 22};
    EXPECT_EQ(simulated(relu, {.warm = true}).output.dram_written, compulsory_bytes(relu).written);
}

TEST(Simulate, tensors_of_a_streaming_layer_share_no_line) {
    Layer sum;
    sum.op = Streaming{.read = {25, 25, 0, 0}, .written = 25};  // 100 bytes each: four sectors
    const Simulation s = simulated(sum);
    EXPECT_EQ(s.input.dram_read, Bytes{2 * 4 * 32.0});
    EXPECT_EQ(s.input.l1_hits + s.input.l2_hits, Bytes{});
}

// Copies for the other half drive out lines that were written: none of these may be lost.
TEST(Simulate, halves_of_l2_write_all_that_was_written) {
    Layer relu;
    relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 24, 0, 0, 0}, .written = 1 << 24};
    const Simulation s = simulated(relu, {}, *find_in_catalogue("a100-sxm4-40gb"));
    EXPECT_EQ(s.output.dram_written, compulsory_bytes(relu).written);
    EXPECT_EQ(s.input.dram_read, compulsory_bytes(relu).read);
}

TEST(Simulate, partitions_of_l2_hold_copies_and_pass_them_on) {
    const Layer l = layer({.n = 8, .c = 64, .h = 56, .w = 56, .k = 64});
    EXPECT_EQ(simulated(l).total().l2_fabric, Bytes{});
    const Simulation a100 = simulated(l, {}, *find_in_catalogue("a100-sxm4-40gb"));
    EXPECT_GT(a100.total().l2_fabric, Bytes{});
    // 40 MB hold even two copies: nothing is read twice.
    EXPECT_EQ(a100.input.dram_read, compulsory_bytes(l).input);
}

TEST(Simulate, cta_that_does_not_fit_is_an_error_with_numbers) {
    const Layer l = layer({.n = 1, .c = 32, .h = 14, .w = 14, .k = 32});
    Mapping mapping = mapping_for(l, v100());
    mapping.shared_memory = Bytes{200.0 * 1024};
    const Result<Simulation> result = simulate(l, v100(), mapping);
    ASSERT_FALSE(result.has_value());
    EXPECT_NE(result.error()[0].what.find("200 KiB of shared memory"), std::string::npos) << result.error()[0].what;
}

}  // namespace
}  // namespace gambrel
