// Does every kind of layer that the library can map have its addresses? Products with a vector had none and came out
// with no bytes at all, four-bit elements divided by zero, and stored weights were taken for as wide as what
// multiplies.
#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/sample.hpp"

namespace gambrel {
namespace {

Layer product(const Gemm& gemm, Precision precision = Precision::fp32) {
    Layer l;
    l.name = "product";
    l.op = gemm;
    l.precision = precision;
    return l;
}

const Machine& gpu(const char* name) { return *find_in_catalogue(name); }

void expect_near(Bytes is, Bytes expected, double part, const std::string& what) {
    EXPECT_NEAR(is / expected, 1, part) << what << ": " << is.value() << " instead of " << expected.value();
}

TEST(MatrixVector, reads_the_matrix_once_however_it_lies) {
    for (const bool row : {true, false})
        for (const bool a_transposed : {false, true})
            for (const bool b_transposed : {false, true}) {
                Gemm g{.m = row ? 1 : 3000, .n = row ? 3000 : 1, .k = 2048};
                g.a_transposed = a_transposed, g.b_transposed = b_transposed;
                const Layer l = product(g);
                ASSERT_EQ(mapping_for(l, v100()).family, KernelFamily::streaming);
                const Simulation s = simulated(l);
                const OperandBytes once = compulsory_bytes(l);
                const std::string what = std::string(row ? "row" : "column") + (a_transposed ? " A^T" : " A") +
                                         (b_transposed ? " B^T" : " B");
                const Bytes matrix = row ? once.filter : once.input;
                expect_near(s.total().dram(), once.read + once.written, 0.01, what);
                expect_near(row ? s.filter.l2_read : s.input.l2_read, matrix, 0.01, what);
                EXPECT_GE(s.total().l1(), matrix) << what;
                EXPECT_EQ(s.shared_memory, Bytes{}) << what;
            }
}

TEST(MatrixVector, of_few_columns_by_a_kernel_without_tiles_has_all_its_bytes) {
    for (const std::int64_t columns : {40, 100}) {  // CTAs take 64 of them; the second finds most of the matrix in L2
        Layer l = product({.m = 4096, .n = columns, .k = 1024});
        l.hints.kernel = "gemvNSP_kernel";
        const OperandBytes once = compulsory_bytes(l);
        expect_near(simulated(l).total().dram(), once.read + once.written, columns > 64 ? 0.15 : 0.01, "few columns");
    }
}

TEST(DirectConvolution, of_one_channel_has_its_bytes_and_of_several_an_error) {
    Layer l = layer(three_by_three(4, 1, 64, 64, 1));
    Mapping direct = mapping_for(l, v100());
    direct.family = KernelFamily::streaming, direct.cta = {};
    const auto one = simulate(l, v100(), direct);
    ASSERT_TRUE(one);
    expect_near(one->total().dram(), compulsory_bytes(l).read + compulsory_bytes(l).written, 0.01, "direct");
    l = layer(three_by_three(4, 8, 64, 64, 8));
    const auto several = simulate(l, v100(), direct);
    ASSERT_FALSE(several);
    EXPECT_NE(to_text(several.error()).find("direct convolutions of several channels"), std::string::npos);
}

TEST(NarrowElements, four_bits_and_their_scales_move_nine_sixteenths_of_a_byte) {
    const Layer l = product({.m = 256, .n = 512, .k = 1024, .b_transposed = true}, Precision::fp4);
    const Simulation s = simulated(l, {}, gpu("b200"));
    const OperandBytes once = compulsory_bytes(l);
    EXPECT_EQ(once.filter, Bytes{512 * 1024 * 9 / 16.0});
    EXPECT_EQ(s.filter.dram_read, once.filter);
    EXPECT_EQ(s.input.dram_read, once.input);
}

TEST(NarrowElements, scales_of_four_bits_lie_behind_all_elements) {
    // Two steps of 64 elements, of which the second begins with the second sector.
    const Layer l = product({.m = 1, .n = 1, .k = 128, .b_transposed = true}, Precision::fp4);
    Mapping one = sim_detail::tile(8, 8, 64);
    one.family = KernelFamily::tiled;
    one.b = {.lanes = 1, .vector = 2, .k_major = true};
    std::vector<std::uint64_t> lines;
    for (const sim_detail::Access& access : sim_detail::accesses(l, one))
        if (sim_detail::tensor_of(access.line()) == static_cast<unsigned>(sim_detail::Tensor::filter)) {
            lines.push_back(access.line());
            EXPECT_EQ(access.count(), 1U);
        }
    const std::uint64_t first = sim_detail::base_address(sim_detail::Tensor::filter) >> sim_detail::kLineShift;
    const std::uint64_t scales = first + (1ULL << (sim_detail::kTensorShift - 1 - sim_detail::kLineShift));
    EXPECT_EQ(lines, (std::vector<std::uint64_t>{first, scales, first, scales}));
}

TEST(NarrowElements, stored_weights_move_as_they_are_stored) {
    Layer l = product({.m = 64, .n = 1024, .k = 2048, .b_transposed = true}, Precision::bf16);
    for (const Precision weights : {Precision::int4, Precision::fp8}) {
        l.weights = weights;
        const Simulation s = simulated(l, {}, gpu("h100-sxm"));
        EXPECT_EQ(s.filter.dram_read, compulsory_bytes(l).filter) << name(weights);
        EXPECT_EQ(s.input.dram_read, compulsory_bytes(l).input) << name(weights);
    }
}

Layer experts(std::int64_t tokens, std::int64_t count, std::int64_t topk, bool gated = true) {
    Layer l;
    l.name = "experts";
    l.op = MixtureOfExperts{
        .tokens = tokens, .hidden = 512, .intermediate = 256, .experts = count, .topk = topk, .gated = gated};
    l.precision = Precision::bf16;
    return l;
}

TEST(Experts, read_the_weights_of_those_that_have_a_token_and_no_others) {
    for (const std::int64_t tokens : {1, 4, 64})
        for (const bool gated : {false, true}) {
            const Layer l = experts(tokens, 16, 2, gated);
            const Simulation s = simulated(l, {}, gpu("h100-sxm"));
            const OperandBytes once = compulsory_bytes(l);
            EXPECT_EQ(s.filter.dram_read, once.filter) << tokens;
            EXPECT_EQ(s.input.dram_read, once.input) << tokens;
            EXPECT_EQ(s.output.dram_written, once.output) << tokens;
        }
}

TEST(Experts, of_four_bits_load_whole_lines_and_little_more_for_their_scales) {
    Layer l = experts(16, 16, 1);  // one row for each expert
    l.weights = Precision::fp4;
    const Simulation s = simulated(l, {}, gpu("h100-sxm"));
    const OperandBytes once = compulsory_bytes(l);
    EXPECT_EQ(s.filter.dram_read, once.filter);
    EXPECT_LT(s.filter.l2_read / once.filter, 1.15);
}

TEST(Experts, with_one_expert_load_what_the_dense_layers_load) {
    const Layer l = experts(256, 1, 1, false);
    const Machine& h100 = gpu("h100-sxm");
    const Mapping m = mapping_for(l, h100);
    const auto sparse = sim_detail::requested(l, m);
    // Up and down as products with the same tile. Loads are along k, so that whole sectors of it are asked for.
    std::map<sim_detail::Tensor, std::uint64_t> dense;
    for (const auto& [n, k] : {std::pair{256, 512}, {512, 256}}) {
        Mapping tiled = m;
        tiled.family = KernelFamily::tiled;
        tiled.a = tiled.b = {.lanes = 4, .vector = 8, .k_major = true, .through_l1 = false};
        for (const auto& [tensor, sectors] :
             sim_detail::requested(product({.m = 256, .n = n, .k = k, .b_transposed = true}, Precision::bf16), tiled))
            dense[tensor] += sectors;
    }
    EXPECT_EQ(sparse.at(sim_detail::Tensor::filter), dense.at(sim_detail::Tensor::filter));
}

TEST(Experts, of_the_most_loaded_have_more_rows_of_tiles_and_so_more_bytes_at_l2) {
    Layer even = experts(512, 16, 2), skewed = even;
    std::get<MixtureOfExperts>(skewed.op).imbalance = 1;
    const Machine& h100 = gpu("h100-sxm");
    const Mapping m = mapping_for(even, h100);
    const auto a = simulate(even, h100, m), b = simulate(skewed, h100, m);
    ASSERT_TRUE(a && b);
    EXPECT_NE(a->filter.l2(), b->filter.l2());
    EXPECT_EQ(a->output.dram_written, b->output.dram_written);
}

TEST(Experts, backward_is_refused) {
    Layer l = experts(64, 8, 2);
    l.pass = Pass::dgrad;
    const auto s = simulate(l, gpu("h100-sxm"), mapping_for(l, gpu("h100-sxm")));
    ASSERT_FALSE(s);
    EXPECT_NE(to_text(s.error()).find("gradients of experts"), std::string::npos);
}

TEST(AllReduce, reads_and_writes_the_memory_of_this_gpu_once) {
    Layer l;
    l.name = "sum";
    l.op = AllReduce{.elements = 1 << 20, .ranks = 8};
    l.precision = Precision::bf16;
    EXPECT_EQ(simulated(l, {}, gpu("h100-sxm")).total().dram(), Bytes{2.0 * 2 * (1 << 20)});
}

}  // namespace
}  // namespace gambrel
