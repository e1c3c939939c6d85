#include "sim/tile_patterns.hpp"

#include <numeric>

namespace gambrel::sim_detail {

TilePatterns::Shape TilePatterns::shape_of(const AddressedOperand& operand, std::int64_t batch, std::int64_t tile,
                                           std::int64_t step, std::int64_t users) {
    // What lies in blocks with scales, or backwards, is not worth the thought.
    if (operand.element.scale != 0 || operand.batch_offset < 0) return {};
    constexpr std::int64_t kLine = kSixteenths << kLineShift;
    const std::int64_t moved = operand.batch_offset * operand.element.data, turns = kLine / std::gcd(moved, kLine);
    return {.batch = {batch, 1, {turns, static_cast<std::uint64_t>(moved * turns / kLine)}},
            .tiles = {operand.side.size(), tile, period_of(operand.side, operand.element, tile)},
            .steps = {operand.depth.size(), step, period_of(operand.depth, operand.element, step)},
            .users = users};
}

}  // namespace gambrel::sim_detail
