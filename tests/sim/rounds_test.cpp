// In which order a slice of L2 sees what CTAs ask for in steps that they take at the same time.
#include <gtest/gtest.h>

#include "sim/hierarchy.hpp"

namespace gambrel::sim_detail {
namespace {

// CTA i asks for requests[i][s] in its step s.
class Steps final : public AddressStream {
public:
    using Requests = std::vector<std::vector<Access>>;
    explicit Steps(std::vector<Requests> requests) : requests_(std::move(requests)) {}
    [[nodiscard]] std::int64_t ctas() const override { return static_cast<std::int64_t>(requests_.size()); }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override {
        return static_cast<std::int64_t>(requests_[static_cast<std::size_t>(cta)].size());
    }
    void open(std::int64_t cta, CtaState& state) const override { state.cta = cta; }
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override {
        const auto& asked = requests_[static_cast<std::size_t>(state.cta)][static_cast<std::size_t>(step)];
        out.insert(out.end(), asked.begin(), asked.end());
    }
    void close(CtaState&, std::vector<Access>&) const override {}
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    std::vector<Requests> requests_;
};

// Sixteen lines share a line of check bits, of which a slice keeps eight. Each SM reads its own sixteen; all are of one
// slice.
std::uint64_t check_bits_read(std::uint32_t sms, bool at_the_same_time) {
    std::vector<Steps::Requests> requests;
    for (std::uint64_t block = 0; requests.size() < sms; ++block) {
        if (L2Slice::slice_of(16 * block, mixed(16 * block), 16) != 0) continue;
        std::vector<Access> lines;
        for (std::uint64_t line = 16 * block; line < 16 * (block + 1); ++line)
            lines.emplace_back(line, kAllSectors, Action::read);
        requests.push_back({lines});
    }
    const Steps stream(std::move(requests));
    Hierarchy hierarchy(stream, {.sms = sms, .l1_lines = 0, .l2_lines = 1 << 16, .ecc_lines = 16}, 1, 1);
    std::vector<Event> events;
    for (std::uint32_t sm = 0; sm < sms; ++sm) events.push_back({sm, 0, sm, 0, true, false});
    if (at_the_same_time) {
        hierarchy.run(events, {});
    } else {
        for (const Event& event : events) hierarchy.run({&event, 1}, {});
    }
    return hierarchy.counts()[static_cast<std::size_t>(Tensor::check_bits)].dram_read;
}

TEST(Rounds, requests_of_ctas_that_run_at_the_same_time_mix) {
    // One after the other: each of the four sectors of check bits once.
    EXPECT_EQ(check_bits_read(16, false), 16U * 4);
    // In turn: sixteen lines of check bits are in use, and every access finds its own gone.
    EXPECT_EQ(check_bits_read(16, true), 16U * 16);
    EXPECT_EQ(check_bits_read(8, true), 8U * 4);
}

// Both steps of the only CTA in one batch: it writes a sector at the end of the first and reads it in the second.
TEST(Rounds, what_a_cta_asks_for_in_its_next_step_comes_later) {
    std::uint64_t other = 6;  // of the same slice
    while (mixed(other) % kSlices != mixed(5) % kSlices) ++other;
    const Steps stream({{{{other, 0x1, Action::read}, {5, 0x1, Action::write}}, {{5, 0x1, Action::read}}}, {{}}});
    Hierarchy hierarchy(stream, {.sms = 2, .l1_lines = 0, .l2_lines = 4096}, 1, 1);
    const std::vector<Event> events{{0, 0, 0, 0, true, false}, {0, 1, 0, 0, false, false}};
    hierarchy.run(events, {});
    EXPECT_EQ(hierarchy.counts()[0].l2_hit, 1U);
    EXPECT_EQ(hierarchy.counts()[0].dram_read, 1U);
}

TEST(RoundOrder, takes_one_request_of_each_event_and_slice_in_turn) {
    const auto read = [](std::uint64_t line) { return Access{line, kAllSectors, Action::read}; };
    MissList first, second;
    first.reserve(8);
    first.begin_event();
    first.add(read(1), 3);
    first.add(read(2), 3);
    first.add(read(3), 5);
    const std::size_t one = first.size();
    first.begin_event();
    first.add(read(5), 3);
    first.add(read(7), 3);
    second.reserve(8);
    second.begin_event();
    second.add(read(8), 3);
    RoundOrder order;
    order.sort(5 * kSlices, [&](auto f) {
        f(second, std::size_t{0}, second.size());
        f(first, std::size_t{0}, one);
        f(first, one, first.size());
    });
    const auto lines = [&](unsigned slice) {
        std::vector<std::uint64_t> result;
        for (const Access access : order.of(slice)) result.push_back(access.line());
        return result;
    };
    EXPECT_EQ(lines(3), (std::vector<std::uint64_t>{8, 1, 5, 2, 7}));
    EXPECT_EQ(lines(5), std::vector<std::uint64_t>{3});
    EXPECT_TRUE(lines(0).empty());
}

}  // namespace
}  // namespace gambrel::sim_detail
