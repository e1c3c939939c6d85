// Are requests that stand as a number of hits really hits, and does leaving them out change nothing?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/operands.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {
namespace {

using testing::ElementsAre;

// What a warp asks for at each of `taps` neighbouring taps, of 32 pixels in a row that begins `shift` floats after a
// line.
std::vector<Access> requests_of_taps(std::int64_t shift, std::int64_t taps, Repeats repeats) {
    AddressedOperand row;
    row.side.digits.back() = {.radix = 32, .offset = 1};
    row.side.offset = shift;
    row.depth.digits.back() = {.radix = taps, .offset = 1};
    Stretch side, depth;
    side.assign(row.side, 0, 32);
    depth.assign(row.depth, 0, taps);
    std::vector<Access> out;
    append_requests(row, 0, side, depth, {32, 1, repeats}, Action::read, out);
    return out;
}

TEST(Repeats, a_request_for_the_same_sectors_is_a_number_of_hits) {
    const auto read = [](std::uint64_t line, unsigned sectors) { return Access{line, sectors, Action::read}; };
    // Floats 1 to 32, 2 to 33 and 3 to 34: the same five sectors in two lines.
    EXPECT_THAT(requests_of_taps(1, 3, Repeats::as_requests),
                ElementsAre(read(0, 0xF), read(1, 0x1), read(0, 0xF), read(1, 0x1), read(0, 0xF), read(1, 0x1)));
    EXPECT_THAT(requests_of_taps(1, 3, Repeats::as_hits),
                ElementsAre(read(0, 0xF), read(1, 0x1), Access::hits(Tensor::input, 10)));
    // The first takes one line, the second begins another.
    EXPECT_THAT(requests_of_taps(0, 2, Repeats::as_hits), ElementsAre(read(0, 0xF), read(0, 0xF), read(1, 0x1)));
    // Floats 31 to 62 and 32 to 63: the second is the last line of the first.
    EXPECT_THAT(requests_of_taps(31, 2, Repeats::as_hits),
                ElementsAre(read(0, 0x8), read(1, 0xF), Access::hits(Tensor::input, 4)));
    // Floats 8 to 39 and 9 to 40: one sector more.
    EXPECT_THAT(requests_of_taps(8, 2, Repeats::as_hits),
                ElementsAre(read(0, 0xE), read(1, 0x1), read(0, 0xE), read(1, 0x3)));
}

TEST(Repeats, only_loads_are_left_out) {
    AddressedOperand row;
    row.side.digits.back() = {.radix = 32, .offset = 1};
    row.depth.digits.back() = {.radix = 4, .offset = 0};
    Stretch side, depth;
    side.assign(row.side, 0, 32);
    depth.assign(row.depth, 0, 4);
    const auto requests = [&](Action action) {
        std::vector<Access> out;
        append_requests(row, 0, side, depth, {32, 1, Repeats::as_hits}, action, out);
        return out;
    };
    EXPECT_EQ(requests(Action::write).size(), 4U);
    EXPECT_EQ(requests(Action::atomic).size(), 4U);
    // L1 merges it within its step, even where it keeps nothing.
    EXPECT_THAT(requests(Action::read_step),
                ElementsAre(Access{0, 0xF, Action::read_step}, Access::hits(Tensor::input, 12)));
}

}  // namespace
}  // namespace gambrel::sim_detail
