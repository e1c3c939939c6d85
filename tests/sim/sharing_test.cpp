// Do fewer requests come to the same? What is merged within a step, moved from step to step or touched as a group is
// compared with requests that all stand by themselves.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/operands.hpp"
#include "sim/run.hpp"
#include "sim/sample.hpp"
#include "sim/step_merger.hpp"

namespace gambrel::sim_detail {
namespace {

using testing::ElementsAre;

Access read(std::uint64_t line, unsigned sectors, Action action = Action::read) { return {line, sectors, action}; }

TEST(StepMerger, merges_within_a_step_and_counts_what_comes_again_as_hits) {
    const auto request = [](std::uint64_t line, unsigned sectors) { return read(line, sectors, Action::read_step); };
    const auto fresh = [](std::uint64_t line, unsigned sectors) { return read(line, sectors, Action::read_merged); };
    StepMerger merger;
    std::vector<Access> step = {request(5, 0x3), request(5, 0x6), request(9, 0xF), request(5, 0x4)};
    EXPECT_EQ(merger.merge(step, 0, {.apart = true}), Movable::anywhere);
    EXPECT_THAT(step, ElementsAre(fresh(5, 0x3), fresh(5, 0x4), fresh(9, 0xF), Access::hits(Tensor::input, 2)));
    // Another operand asks for lines of the same tensor: L1 must see all of them.
    step = {request(5, 0x3), request(5, 0x6)};
    merger.merge(step, 0, {.apart = false});
    EXPECT_EQ(step.size(), 2U);
}

TEST(StepMerger, asks_l1_for_each_line_once_if_it_keeps_them_all) {
    StepMerger merger;
    std::vector<Access> step = {read(5, 0x3), read(9, 0xF), read(5, 0x6), Access::hits(Tensor::input, 10)};
    EXPECT_EQ(merger.merge(step, 0, {.l1 = {1, 2}}), Movable::anywhere);
    EXPECT_THAT(step, ElementsAre(read(5, 0x7), read(9, 0xF), Access::hits(Tensor::input, 11)));
    // One way: line 9 drives line 5 out before it is asked for again.
    step = {read(5, 0x3), read(9, 0xF), read(5, 0x6)};
    EXPECT_EQ(merger.merge(step, 0, {.l1 = {1, 1}}), Movable::nowhere);
    EXPECT_EQ(step.size(), 3U);
    // Two sets of one way: it depends on where lines lie.
    const auto set = [](std::uint64_t line) { return SectorCache::set_of(mixed(line), 2); };
    std::uint64_t other = 6;
    while (set(other) == set(5)) ++other;
    step = {read(5, 0x3), read(other, 0xF), read(5, 0x6)};
    EXPECT_EQ(merger.merge(step, 0, {.l1 = {2, 1}}), Movable::where_fit);
    EXPECT_THAT(step, ElementsAre(read(5, 0x7), read(other, 0xF), Access::hits(Tensor::input, 1)));
}

TEST(StepPattern, knows_after_how_many_steps_the_same_taps_come_again) {
    // Nine taps in steps of eight: after nine steps, eight channels of 8 x 8 floats further on, which are 16 lines.
    const Convolution v = three_by_three(1, 64, 8, 8, 64);
    const auto of_depth = [](const AddressedOperand& operand) { return period_of(operand.depth, operand.element, 8); };
    Period period = of_depth(operands(v, Pass::fwd, Precision::fp32, Layout::nchw, 8).a);
    EXPECT_EQ(period.steps, 9);
    EXPECT_EQ(period.lines, 16U);
    // 7 x 7 floats: eight channels are 12.25 lines, so four times as many steps.
    period = of_depth(operands(three_by_three(1, 64, 7, 7, 64), Pass::fwd, Precision::fp32, Layout::nchw, 8).a);
    EXPECT_EQ(period.steps, 36);
    EXPECT_EQ(period.lines, 49U);
    // Eight floats of a filter are a sector, four steps a line.
    period = of_depth(operands(v, Pass::fwd, Precision::fp32, Layout::nchw, 8).b);
    EXPECT_EQ(period.steps, 36);
    EXPECT_EQ(period.lines, 9U);
}

TEST(StepPattern, makes_steps_of_one_period_and_moves_them) {
    int made = 0;
    StepPattern pattern;
    const auto step = [&](std::int64_t at, Movable where, bool fits) {
        std::vector<Access> out;
        const auto make = [&](std::vector<Access>& to) {
            ++made;
            to = {read(10 + static_cast<std::uint64_t>(at), 0x3), Access::hits(Tensor::input, 7)};
            return where;
        };
        pattern.append(at, {.steps = 2, .lines = 2}, out, make, [&](std::span<const Access>) { return fits; });
        EXPECT_THAT(out, ElementsAre(read(10 + static_cast<std::uint64_t>(at), 0x3), Access::hits(Tensor::input, 7)));
    };
    for (std::int64_t at = 0; at < 6; ++at) step(at, Movable::anywhere, false);
    EXPECT_EQ(made, 2);
    pattern.forget();
    for (std::int64_t at = 0; at < 6; ++at) step(at, Movable::where_fit, at < 4);
    EXPECT_EQ(made, 2 + 2 + 2);
    pattern.forget();
    for (std::int64_t at = 0; at < 6; ++at) step(at, Movable::nowhere, true);
    EXPECT_EQ(made, 2 + 2 + 2 + 6);
}

// Layers of every pass with and without stride, whose filters are 18 lines long or do not end at a line.
std::vector<Layer> layers() {
    std::vector<Layer> all;
    for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad})
        for (const std::int64_t stride : {1, 2})
            for (const std::int64_t channels : {64, 24}) {
                Convolution v = three_by_three(2, channels, 12, 16, 160);
                v.stride_h = v.stride_w = stride;
                all.push_back(layer(v, pass));
            }
    Layer product;
    product.op = Gemm{.m = 256, .n = 192, .k = 256};
    all.push_back(product);
    return all;
}

TEST(StepPattern, a_step_asks_for_what_its_elements_are) {
    const Mapping mapping = tile(32, 32, 8);
    for (const Layer& l : layers()) {
        const auto* v = std::get_if<Convolution>(&l.op);
        if (!v || v->stride_h > 1) continue;
        const Operands o = operands(*v, l.pass, l.precision, mapping.layout, 8);
        const auto stream = make_stream(l, mapping);
        CtaState state;
        stream->open(0, state);
        Stretch rows, columns, depth;
        rows.assign(o.a.side, 0, 32);
        columns.assign(o.b.side, 0, 32);
        for (std::int64_t step = 0; step < stream->steps(0); ++step) {
            std::vector<Access> got, expected;
            stream->step(state, step, got);
            depth.assign(o.a.depth, 8 * step, 8);
            append_requests(o.a, 0, rows, depth, {32, 1}, Action::read, expected);
            depth.assign(o.b.depth, 8 * step, 8);
            append_requests(o.b, 0, columns, depth, {4, 8}, Action::read, expected);
            ASSERT_EQ(got, expected) << "step " << step;
        }
    }
}

struct Both {
    TensorCounts plain{}, shared{};
};
Both simulated_both_ways(const Layer& l, Mapping mapping, CacheShape shape) {
    const SectorCache l1(shape.l1_lines, shape.l1_ways);
    const auto plain = make_stream(l, mapping), shared = make_stream(l, mapping, {{l1.sets(), l1.ways()}, true});
    const Device device{shape, 2, {.spread = 1}};
    SimulationOptions options;
    options.threads = 1;
    return {run(*plain, device, options).counts, run(*shared, device, options).counts};
}

TEST(FewerRequests, changes_no_count_where_caches_hold_everything) {
    for (const bool through_l1 : {true, false})
        for (const unsigned partitions : {1U, 2U})
            for (const std::uint64_t ecc : {0U, 16U})
                for (const Layer& l : layers()) {
                    Mapping mapping = tile(32, 32, 8);
                    mapping.a.through_l1 = mapping.b.through_l1 = through_l1;
                    const CacheShape shape{
                        .sms = 3, .l1_lines = 1 << 14, .l2_lines = 1 << 17, .partitions = partitions, .ecc_lines = ecc};
                    Both both = simulated_both_ways(l, mapping, shape);
                    // The order in which a step's lines reach memory is another, and with it what is kept of check
                    // bits.
                    both.plain.back() = both.shared.back() = {};
                    for (unsigned t = 0; t < kTensors; ++t) expect_same(both.plain[t], both.shared[t]);
                }
}

TEST(FewerRequests, changes_counts_by_less_than_a_percent_where_caches_overflow) {
    // Lines of a step come in another order, which decides what is driven out: by as little one way as the other.
    std::uint64_t groups = 0;
    for (const Layer& l : layers()) {
        const Mapping mapping = tile(32, 32, 8);
        const CacheShape shape{.sms = 3, .l1_lines = 320, .l2_lines = 1024};
        const Both both = simulated_both_ways(l, mapping, shape);
        Counts plain, shared;
        for (unsigned t = 0; t < kTensors; ++t) {
            plain += both.plain[t];
            shared += both.shared[t];
        }
        EXPECT_EQ(plain.l1_read, shared.l1_read);
        EXPECT_EQ(plain.l1_write, shared.l1_write);
        const auto near = [](std::uint64_t a, std::uint64_t b) {
            EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b), 0.01 * static_cast<double>(a));
        };
        near(plain.l2_read, shared.l2_read);
        near(plain.dram_read, shared.dram_read);
        near(plain.dram_write, shared.dram_write);
        groups += make_stream(l, mapping, {{20, 16}, true})->groups().size();
    }
    EXPECT_GT(groups, 0U);
}

}  // namespace
}  // namespace gambrel::sim_detail
