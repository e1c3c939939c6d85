// What fits on the SMs of a design, for all designs with its number of SMs, registers, shared memory and L2; and the
// placements that are known there. A search meets few of them and comes back to them. Bounded: what is forgotten
// is computed again.
#pragma once

#include <unordered_map>

#include "explore/placements.hpp"

namespace gambrel::explore_detail {

// A footprint on an SM, and the number by which Placements knows what it sees.
struct Fit {
    Occupancy occupancy;
    std::uint32_t slot = 0;
};
using Fits = std::vector<Fit>;  // by footprint

class KnownFits {
public:
    KnownFits(const SmLimits& limits, const Prepared& prepared)
        : prepared_(prepared), placements_(prepared), limits_(limits) {}

    // Null: no further one can be kept. Stays where it is until forget().
    const Fits* on(const Factors& factors, Bytes l2_capacity);
    void forget();
    [[nodiscard]] const Prepared& prepared() const { return prepared_; }
    Placements& placements() { return placements_; }

private:
    struct Key {
        double registers, shared, l2;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    bool fill(const Key& key, Fits& fits);
    const Prepared& prepared_;
    Placements placements_;
    SmLimits limits_;
    std::unordered_map<Key, Fits, Hash> fits_;
};

}  // namespace gambrel::explore_detail
