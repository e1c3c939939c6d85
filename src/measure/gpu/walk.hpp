// How groups of threads walk over a working set, and what the words they meet add up to. Pure.
// Invariant: a walk touches every tile of `total_tiles()` and no other; a set is rounded down to whole tiles.
#pragma once

#include <cstdint>
#include <optional>

#include "measure/gpu/kernel_source.hpp"

namespace gambrel::measure_detail {

// Arguments of the kernels in memory.cl; offsets in VECs.
struct TileWalk {
    std::uint32_t groups = 1;
    std::uint32_t tile = 1;  // VECs that one group reads at a time
    std::uint32_t group_step = 0, step = 0, steps = 1, skew = 0;
    bool shared_set = false;  // all groups walk the same tiles

    [[nodiscard]] std::int64_t walked_tiles() const { return std::int64_t{groups} * steps; }  // in one round, by all
    [[nodiscard]] std::int64_t total_tiles() const { return shared_set ? std::int64_t{steps} : walked_tiles(); }
};

// None if the set is smaller than one tile (WorkingSetSharing::split: than one tile for one group).
std::optional<TileWalk> plan_walk(WorkingSetSharing sharing, std::int64_t set_bytes, const Target& target,
                                  const Shape& shape, std::uint32_t groups);

// Large tiles keep many loads in flight, but must not lose much of a small set to rounding.
Shape memory_shape(const Target& target, std::int64_t set_bytes);
std::uint32_t memory_groups(const Target& target, WorkingSetSharing sharing, const Shape& shape, int units);
inline std::int64_t tile_bytes(const Target& target, const Shape& shape) {
    return std::int64_t{4} * target.vec_words * shape.threads * shape.unroll;
}

// Sum over words i < count of i * factor + bias, modulo 2^32.
std::uint32_t ramp_sum(std::uint64_t count, std::uint32_t factor, std::uint32_t bias);
// The same over words of an array of FP32 or FP64 numbers, number i being (i mod 4096) * factor.
std::uint32_t number_ramp_sum(Pipe pipe, std::uint64_t words, double factor);

inline constexpr std::uint32_t kFillFactor = 2654435761U;  // odd, and its multiples look random (Knuth)

}  // namespace gambrel::measure_detail
