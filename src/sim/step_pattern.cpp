#include "sim/step_pattern.hpp"

#include <algorithm>
#include <numeric>

namespace gambrel::sim_detail {

Period period_of(const Index& index, const ElementSize& element, std::int64_t k) {
    const auto& digits = index.digits;
    const auto slowest = std::find_if(digits.begin(), digits.end(), [](const Digit& d) { return d.radix > 1; });
    // What lies in blocks with scales, or backwards, is not worth the thought.
    if (slowest == digits.end() || slowest->y != 0 || slowest->x != 0 || slowest->offset < 0) return {};
    if (element.scale != 0 || index.size() == 0) return {};
    std::int64_t inner = 1;
    for (auto digit = slowest + 1; digit != digits.end(); ++digit) inner *= digit->radix;
    // As many steps as end with a turn of the faster digits, times what ends at a line.
    constexpr std::int64_t kLine = kSixteenths << kLineShift;
    const std::int64_t turn = inner / std::gcd(inner, k);
    const std::int64_t moved = turn * k / inner * slowest->offset * element.data;
    const std::int64_t turns = kLine / std::gcd(moved, kLine);
    return {turn * turns, static_cast<std::uint64_t>(moved * turns / kLine)};
}

}  // namespace gambrel::sim_detail
