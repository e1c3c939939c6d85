#include "measure/gpu/walk.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace gambrel::measure_detail {

std::optional<Walk> plan_walk(Spread spread, std::int64_t set_bytes, const Target& target, const Shape& shape,
                              std::uint32_t groups) {
    const std::int64_t tiles = set_bytes / tile_bytes(target, shape);
    if (tiles < 1) return std::nullopt;
    Walk walk;
    walk.tile = static_cast<std::uint32_t>(shape.threads * shape.unroll);
    walk.groups = groups;
    switch (spread) {
        case Spread::own:
            walk.steps = static_cast<std::uint32_t>(tiles);
            walk.step = walk.tile;
            walk.group_step = walk.steps * walk.tile;
            break;
        case Spread::whole:
            walk.steps = static_cast<std::uint32_t>(tiles);
            walk.step = walk.tile;
            walk.skew = std::max(1U, walk.steps / groups);
            walk.shared_set = true;
            break;
        case Spread::split:
            walk.groups = static_cast<std::uint32_t>(std::min<std::int64_t>(groups, tiles));
            walk.steps = static_cast<std::uint32_t>(tiles / walk.groups);
            walk.group_step = walk.tile;
            walk.step = walk.groups * walk.tile;
            break;
    }
    return walk;
}

Shape memory_shape(const Target& target, std::int64_t set_bytes) {
    if (target.cpu) return {1, 8, 1, 0};
    constexpr std::array<Shape, 6> kShapes{
        {{512, 4, 1, 0}, {256, 4, 1, 0}, {256, 2, 1, 0}, {256, 1, 1, 0}, {128, 1, 1, 0}, {32, 1, 1, 0}}};
    for (const Shape& shape : kShapes) {
        const std::int64_t tile = tile_bytes(target, shape);
        if (set_bytes % tile <= set_bytes / 16) return shape;
    }
    return kShapes.back();
}

std::uint32_t memory_groups(const Target& target, Spread spread, const Shape& shape, int units) {
    // A set of its own belongs to one group, else groups that share a unit would share its cache. Otherwise 1024 threads a
    // unit with four loads of 16 bytes each in flight are several times what any latency needs.
    if (target.cpu || spread == Spread::own) return static_cast<std::uint32_t>(units);
    return static_cast<std::uint32_t>(units * std::max(1, 1024 / shape.threads));
}

std::uint32_t ramp_sum(std::uint64_t count, std::uint32_t factor, std::uint32_t bias) {
    // One of count and count - 1 is even; halve that before the product can lose its top bits.
    const std::uint64_t pairs = count == 0 ? 0 : count % 2 == 0 ? (count / 2) * (count - 1) : count * ((count - 1) / 2);
    return static_cast<std::uint32_t>(pairs) * factor + static_cast<std::uint32_t>(count) * bias;
}

std::uint32_t float_ramp_sum(std::uint64_t count, float factor) {
    std::uint32_t period = 0, rest = 0;
    for (std::uint32_t i = 0; i < 4096; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(i) * factor);
        period += bits;
        if (i < count % 4096) rest += bits;
    }
    return static_cast<std::uint32_t>(count / 4096) * period + rest;
}

}  // namespace gambrel::measure_detail
