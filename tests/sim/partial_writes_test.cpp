// Stores to a part of a sector: what they ask for, and what DRAM reads for them. Every number is counted by hand.
#include <gtest/gtest.h>

#include "sim/operand.hpp"
#include "sim/sample.hpp"
#include "sim/script.hpp"
#include "sim/store_request.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr std::uint16_t kFirstHalf = 0x00FF, kSecondHalf = 0xFF00;

std::vector<Access> stored(std::uint64_t first, std::uint64_t last) {
    std::vector<Access> out;
    StoreRequest store(out);
    store.add_bytes(first, last);
    store.finish();
    return out;
}

TEST(StoreRequest, sectors_at_the_ends_of_a_run_are_parts) {
    // Half of the first sector, two whole ones, a quarter of the last.
    EXPECT_EQ(stored(16, 103), (std::vector<Access>{Access{0, 0x6, Action::write}, Access::part(0, 0, kSecondHalf),
                                                    Access::part(0, 3, 0x000F)}));
    EXPECT_EQ(stored(0, 255), (std::vector<Access>{{0, kAllSectors, Action::write}, {1, kAllSectors, Action::write}}));
    EXPECT_EQ(stored(128 * 7 + 126, 128 * 8 + 1),
              (std::vector<Access>{Access::part(7, 3, 0x8000), Access::part(8, 0, 0x0001)}));
}

TEST(StoreRequest, stores_of_one_instruction_can_complete_a_sector) {
    std::vector<Access> out;
    StoreRequest store(out);
    store.add_bytes(0, 15);
    store.add_bytes(128, 159);
    store.add_bytes(16, 31);
    store.finish();
    EXPECT_EQ(out, (std::vector<Access>{{0, 0x1, Action::write}, {1, 0x1, Action::write}}));
}

// Every other float: half of each sector, in pieces.
TEST(StoreRequest, strided_elements_leave_gaps) {
    const AddressedOperand operand{Tensor::input, {}, {{Digit{}, Digit{}, Digit{}, Digit{}, {8, 2}}}, Index{}};
    Stretch side, depth;
    side.assign(operand.side, 0, 8);
    depth.assign(operand.depth, 0, 1);
    std::vector<Access> out;
    append_requests(operand, 0, side, depth, {32, 1}, Action::write, out);
    EXPECT_EQ(out, (std::vector<Access>{Access::part(0, 0, 0x3333), Access::part(0, 1, 0x3333)}));
}

Counts flushed(const std::vector<Access>& accesses, PartialWrites partial_writes, std::uint64_t l2_lines = 4096) {
    const CacheShape shape{.sms = 1, .l1_lines = 0, .l2_lines = l2_lines, .partial_writes = partial_writes};
    return all_after(accesses, std::vector<std::uint32_t>(accesses.size(), 0), shape, true)[0];
}

TEST(PartialWrites, with_ecc_a_sector_that_stays_in_parts_is_read) {
    const std::vector<Access> part{Access::part(5, 1, kFirstHalf)};
    for (const auto& [how, read] :
         {std::pair{PartialWrites::masked, 0U}, std::pair{PartialWrites::read_when_leaving, 1U},
          std::pair{PartialWrites::read_at_once, 1U}}) {
        const Counts counts = flushed(part, how);
        EXPECT_EQ(counts.dram_read, read);
        EXPECT_EQ(counts.dram_write, 1U);
        EXPECT_EQ(counts.l2_write, 1U);
        EXPECT_EQ(counts.l1_write, 1U);
    }
}

TEST(PartialWrites, sector_that_stores_complete_in_l2_is_not_read) {
    const std::vector<Access> both{Access::part(5, 1, kFirstHalf), Access::part(5, 1, kSecondHalf)};
    EXPECT_EQ(flushed(both, PartialWrites::read_when_leaving).dram_read, 0U);
    EXPECT_EQ(flushed(both, PartialWrites::read_at_once).dram_read, 1U);
    // The same half twice, and halves of two sectors, complete nothing.
    EXPECT_EQ(flushed({both[0], both[0]}, PartialWrites::read_when_leaving).dram_read, 1U);
    EXPECT_EQ(flushed({both[0], Access::part(5, 2, kSecondHalf)}, PartialWrites::read_when_leaving).dram_read, 2U);
    const Access whole{5, 0x2, Action::write};
    EXPECT_EQ(flushed({both[0], whole}, PartialWrites::read_when_leaving).dram_read, 0U);
    EXPECT_EQ(flushed({whole, both[0]}, PartialWrites::read_when_leaving).dram_read, 0U);
}

TEST(PartialWrites, read_of_a_part_fetches_the_sector_once) {
    const Access part = Access::part(5, 1, kFirstHalf), read{5, 0x2, Action::read};
    const Counts counts = flushed({part, read, read, part}, PartialWrites::read_when_leaving);
    EXPECT_EQ(counts.dram_read, 1U);
    EXPECT_EQ(counts.l2_hit, 1U);
    EXPECT_EQ(counts.dram_write, 1U);
}

// One line for each slice of L2: another line of the slice drives out the first one with its half sector.
TEST(PartialWrites, halves_that_meet_in_dram_are_read_each_time) {
    std::uint64_t other = 6;
    while (mixed(other) % 16 != mixed(5) % 16) ++other;
    const Access first = Access::part(5, 1, kFirstHalf), second = Access::part(5, 1, kSecondHalf);
    const Access between{other, 0x1, Action::read};
    EXPECT_EQ(flushed({first, between, second}, PartialWrites::read_when_leaving, 16).dram_read, 3U);
    EXPECT_EQ(flushed({first, between, second}, PartialWrites::read_when_leaving).dram_read, 1U);
    // What was written before the line left is forgotten: the line comes back for another sector first.
    const Access beside{5, 0x1, Action::write};
    EXPECT_EQ(flushed({first, between, beside, second}, PartialWrites::read_when_leaving, 16).dram_read, 3U);
    // The same if the sector was read while it was there.
    const Access read{5, 0x2, Action::read};
    EXPECT_EQ(flushed({first, read, between, beside, second}, PartialWrites::read_when_leaving, 16).dram_read, 3U);
}

TEST(PartialWrites, in_halves_of_l2_parts_meet_at_home) {
    const CacheShape shape{
        .sms = 2, .l1_lines = 0, .l2_lines = 4096, .partitions = 2, .partial_writes = PartialWrites::read_when_leaving};
    const std::vector<Access> both{Access::part(5, 1, kFirstHalf), Access::part(5, 1, kSecondHalf)};
    const Counts counts = all_after(both, {0, 1}, shape, true)[0];
    EXPECT_EQ(counts.dram_read, 0U);
    EXPECT_EQ(counts.dram_write, 1U);
}

// 16 planes of 15 x 15 floats: each begins within a sector that the one before it ends in.
TEST(PartialWrites, planes_of_odd_size_are_read_where_check_bits_lie_in_the_same_memory) {
    const Layer odd = layer(Convolution{.n = 1, .c = 16, .h = 15, .w = 15, .k = 16});
    const auto read = [&](const char* gpu) {
        return simulated(odd, {.threads = 1}, *find_in_catalogue(gpu)).output.dram_read.value();
    };
    EXPECT_EQ(read("v100-sxm2-16gb"), 0);  // it fits into L2, where all sectors are completed
    EXPECT_EQ(read("rtx-2080-ti"), 0);     // without ECC
    // At least the 14 sectors in which planes meet (every eighth plane begins with a sector), and not all 450.
    EXPECT_GE(read("t4"), 14 * 32);
    EXPECT_LT(read("t4"), 225 * 32);
}

}  // namespace
}  // namespace gambrel::sim_detail
