#include "measure/gpu/walk.hpp"

#include <algorithm>
#include <bit>

namespace gambrel::measure_detail {

std::optional<TileWalk> plan_walk(WorkingSetSharing sharing, std::int64_t set_bytes, const Target& target,
                                  const Shape& shape, std::uint32_t groups) {
    const std::int64_t tiles = set_bytes / tile_bytes(target, shape);
    if (tiles < 1) return std::nullopt;
    TileWalk walk;
    walk.tile = static_cast<std::uint32_t>(shape.threads * shape.unroll);
    walk.groups = groups;
    switch (sharing) {
        case WorkingSetSharing::own:
            walk.steps = static_cast<std::uint32_t>(tiles);
            walk.step = walk.tile;
            walk.group_step = walk.steps * walk.tile;
            break;
        case WorkingSetSharing::whole:
            walk.steps = static_cast<std::uint32_t>(tiles);
            walk.step = walk.tile;
            walk.skew = std::max(1U, walk.steps / groups);
            walk.shared_set = true;
            break;
        case WorkingSetSharing::split:
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
    constexpr std::int64_t kWarp = 32, kMostThreads = 512, kUnroll = 4;
    const std::int64_t per_thread = std::int64_t{4} * target.vec_words * kUnroll;
    if (set_bytes < per_thread * kWarp) return {kWarp, 1, 1, 0};
    // As many threads as divide the set into equal tiles: what a set loses to rounding is less than a warp's share a
    // tile.
    const std::int64_t steps = (set_bytes + per_thread * kMostThreads - 1) / (per_thread * kMostThreads);
    const std::int64_t threads =
        steps > kMostThreads / kWarp ? kMostThreads : set_bytes / steps / per_thread / kWarp * kWarp;
    return {static_cast<int>(threads), kUnroll, 1, 0};
}

std::uint32_t memory_groups(const Target& target, WorkingSetSharing sharing, const Shape& shape, int units) {
    // A set of its own belongs to one group, else groups that share a unit would share its cache. Otherwise 1024
    // threads a unit with four loads of 16 bytes each in flight are several times what any latency needs.
    if (target.cpu || sharing == WorkingSetSharing::own) return static_cast<std::uint32_t>(units);
    return static_cast<std::uint32_t>(units * std::max(1, 1024 / shape.threads));
}

std::uint32_t ramp_sum(std::uint64_t count, std::uint32_t factor, std::uint32_t bias) {
    // One of count and count - 1 is even; halve that before the product can lose its top bits.
    const std::uint64_t pairs = count == 0 ? 0 : count % 2 == 0 ? (count / 2) * (count - 1) : count * ((count - 1) / 2);
    return static_cast<std::uint32_t>(pairs) * factor + static_cast<std::uint32_t>(count) * bias;
}

std::uint32_t number_ramp_sum(Pipe pipe, std::uint64_t words, double factor) {
    constexpr std::uint64_t kPeriod = 4096;
    const std::uint64_t numbers = pipe == Pipe::fp64 ? words / 2 : words;
    std::uint32_t period = 0, rest = 0;
    for (std::uint64_t i = 0; i < kPeriod; ++i) {
        const double number = static_cast<double>(i) * factor;
        const auto wide = std::bit_cast<std::uint64_t>(number);
        const std::uint32_t bits = pipe == Pipe::fp64
                                       ? static_cast<std::uint32_t>(wide) + static_cast<std::uint32_t>(wide >> 32U)
                                       : std::bit_cast<std::uint32_t>(static_cast<float>(number));
        period += bits;
        if (i < numbers % kPeriod) rest += bits;
    }
    return static_cast<std::uint32_t>(numbers / kPeriod) * period + rest;
}

}  // namespace gambrel::measure_detail
