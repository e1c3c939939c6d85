// Are requests that are made and merged once the same as those that every CTA makes for itself?
#include "sim/panel.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/sample.hpp"

namespace gambrel::sim_detail {
namespace {

using testing::ElementsAre;

TEST(Panel, groups_lines_of_which_the_same_sectors_are_asked) {
    // Forty lines of one sector in steps 0 and 1, of the next sector in step 2, and one line of two sectors.
    LineGroups groups;
    Panel panel;
    panel.fill(4, &groups, [](std::int64_t step, std::vector<Access>& out) {
        for (std::uint64_t line = 100; line < 140; ++line) out.emplace_back(line, step < 2 ? 1U : 2U, Action::read);
        if (step == 1) out.emplace_back(7, 0x3, Action::read);
        if (step == 3) out.resize(out.size() - 1);  // one fewer: not the group, and its lines are in one already
    });
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups.lines(0).size(), 40U);
    const auto group = [](unsigned sectors) { return Access::group(Tensor::input, 0, sectors, Action::read_group); };
    EXPECT_THAT(panel.of(0), ElementsAre(group(1)));
    EXPECT_THAT(panel.of(1), ElementsAre(Access(7, 0x3, Action::read), group(1)));
    EXPECT_THAT(panel.of(2), ElementsAre(group(2)));
    EXPECT_EQ(panel.of(3).size(), 39U);
}

TEST(Panel, knows_whether_it_asks_for_a_line_of_a_group_by_itself) {
    for (const bool kept : {true, false})
        for (const std::uint64_t other : {99U, 100U, 139U, 140U}) {
            LineGroups groups;
            Panel panel;
            const Action action = kept ? Action::read : Action::read_merged;
            panel.fill(2, &groups, [&](std::int64_t step, std::vector<Access>& out) {
                for (std::uint64_t line = 100; line < 140 && step == 0; ++line) out.emplace_back(line, 1U, action);
                if (step == 1) out.emplace_back(other, 1U, action);
            });
            ASSERT_EQ(groups.size(), 1U);
            EXPECT_EQ(panel.asks_alone(groups), kept && other >= 100 && other < 140) << other;
        }
}

TEST(Panel, does_not_group_a_line_that_comes_twice) {
    LineGroups groups;
    Panel panel;
    panel.fill(1, &groups, [](std::int64_t, std::vector<Access>& out) {
        for (std::uint64_t i = 0; i < 40; ++i) out.emplace_back(i % 39, 1U, Action::read);
    });
    EXPECT_EQ(groups.size(), 0U);
    EXPECT_EQ(panel.of(0).size(), 40U);
}

TEST(Panel, that_grows_too_large_leaves_no_groups) {
    LineGroups groups;
    Panel panel;
    const auto make = [](std::uint64_t lines) {
        return [lines](std::int64_t i, std::vector<Access>& out) {
            // A group in each, and as many requests beside it.
            for (std::uint64_t j = 0; j < 20; ++j)
                out.emplace_back(static_cast<std::uint64_t>(i) * 20 + j, 1U, Action::read);
            for (std::uint64_t j = 0; j < lines; ++j) out.emplace_back(1'000'000 + j % 10, 3U, Action::read);
        };
    };
    panel.fill(100, &groups, make(0));
    EXPECT_EQ(groups.size(), 100U);
    Panel large;
    const auto shifted = [&](std::int64_t i, std::vector<Access>& out) { make(2 * Panel::kMost / 1000)(i + 100, out); };
    large.fill(1000, &groups, shifted);
    EXPECT_TRUE(large.empty());
    EXPECT_EQ(groups.size(), 100U);
    // Their lines are free again.
    Panel again;
    again.fill(1, &groups, [&](std::int64_t i, std::vector<Access>& out) { make(0)(i + 100, out); });
    EXPECT_EQ(groups.size(), 101U);
}

TEST(Panel, of_the_operand_with_more_lines_in_a_step_is_grouped_first) {
    // Steps of A have 16 whole lines, which are more than all groups may have; those of B have a sector of 128.
    Layer l;
    l.name = "product";
    l.op = Gemm{.m = 4096, .n = 512, .k = 4096, .a_transposed = true, .b_transposed = true};
    ASSERT_GT(4096U * 4096 * 4 / 128, LineGroups::kMostLines);
    const auto stream = make_stream(l, tile(64, 128, 8), {.groups = true});
    CtaState state;
    std::vector<Access> step;
    stream->open(stream->ctas() - 1, state);
    stream->step(state, stream->steps(0) - 1, step);
    ASSERT_EQ(step.size(), 17U);
    EXPECT_EQ(step.back().action(), Action::read_group);
    EXPECT_EQ(tensor_of(step.back().line()), static_cast<unsigned>(Tensor::filter));
    EXPECT_EQ(stream->groups().lines(step.back().group()).size(), 128U);
}

TEST(Panel, hits_keep_their_tensor_and_number) {
    for (const Tensor tensor : {Tensor::input, Tensor::filter, Tensor::output}) {
        const Access access = Access::hits(tensor, 123'456'789);
        EXPECT_EQ(access.action(), Action::hits);
        EXPECT_EQ(access.hits(), 123'456'789U);
        EXPECT_EQ(tensor_of(access.line()), static_cast<unsigned>(tensor));
    }
}

// The loads of a stream that L1 keeps, as those that it does not keep, unmerged.
class Unmerged final : public AddressStream {
public:
    explicit Unmerged(std::unique_ptr<AddressStream> kept) : kept_(std::move(kept)) {}
    [[nodiscard]] std::int64_t ctas() const override { return kept_->ctas(); }
    [[nodiscard]] std::int64_t kernels() const override { return kept_->kernels(); }
    [[nodiscard]] std::int64_t end_of(std::int64_t kernel) const override { return kept_->end_of(kernel); }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override { return kept_->steps(cta); }
    void open(std::int64_t cta, CtaState& state) const override { kept_->open(cta, state); }
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override {
        const std::size_t first = out.size();
        kept_->step(state, step, out);
        for (std::size_t i = first; i < out.size(); ++i) {
            EXPECT_EQ(out[i].action(), Action::read);
            out[i] = {out[i].line(), out[i].sectors(), Action::read_step};
        }
    }
    void close(CtaState& state, std::vector<Access>& out) const override { kept_->close(state, out); }
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    std::unique_ptr<AddressStream> kept_;
};

TEST(Panel, merged_requests_come_to_the_same_counts_as_those_that_l1_merges) {
    const CacheShape one{.sms = 4, .l1_lines = 64, .l2_lines = 512};
    const CacheShape halves{.sms = 4, .l1_lines = 64, .l2_lines = 512, .partitions = 2};
    const CacheShape checked{.sms = 4, .l1_lines = 64, .l2_lines = 512, .ecc_lines = 16};
    for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
        const Layer l = layer(three_by_three(2, 48, 12, 14, 160), pass);
        Mapping mapping = tile(32, 32, 8);
        mapping.a.through_l1 = mapping.b.through_l1 = false;
        const auto merged = make_stream(l, mapping);
        CtaState state;
        std::vector<Access> first_step;
        merged->open(0, state);
        merged->step(state, 0, first_step);
        EXPECT_THAT(first_step, testing::Contains(testing::Property(&Access::action, Action::read_merged)));
        mapping.a.through_l1 = mapping.b.through_l1 = true;
        const Unmerged unmerged(make_stream(l, mapping));
        for (const CacheShape& shape : {one, halves, checked}) {
            const Device device{shape, 2, {.spread = 1}};
            SimulationOptions options;
            options.threads = 1;
            const RunResult a = run(*merged, device, options), b = run(unmerged, device, options);
            EXPECT_EQ(a.accesses, b.accesses);
            std::uint64_t hits = 0;
            for (unsigned tensor = 0; tensor < kTensors; ++tensor) {
                expect_same(a.counts[tensor], b.counts[tensor]);
                hits += a.counts[tensor].l1_hit;
            }
            EXPECT_GT(hits, 0U);
        }
    }
}

}  // namespace
}  // namespace gambrel::sim_detail
