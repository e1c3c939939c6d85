// Placements of the choices of one prepared workload (delta.hpp), kept for the designs that share them. A search varies
// rates far more often than what fits on an SM. Bounded: what is forgotten is computed again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "explore/candidates.hpp"

namespace gambrel::explore_detail {

class Placements {
public:
    explicit Placements(const Prepared& prepared) {
        constexpr std::size_t kMostBytes = std::size_t{3} << 20, kMost = 64, kLeast = 4;
        slots_ = std::clamp(kMostBytes / (sizeof(Kept) * std::max<std::size_t>(1, prepared.count)), kLeast, kMost);
        footprints_.resize(prepared.footprints.size());
        kept_.resize(prepared.count * slots_);
    }

    // A design begins: what a footprint sees of it.
    void set(std::size_t footprint, const Occupancy& o, Bytes l2_capacity) {
        const Seen now{o.ctas_per_sm, o.l1, l2_capacity};
        PerFootprint& f = footprints_[footprint];
        if (f.slot < f.seen.size() && f.seen[f.slot] == now) return;
        const auto at = std::find(f.seen.begin(), f.seen.end(), now);
        f.slot = static_cast<std::size_t>(at - f.seen.begin());
        if (at != f.seen.end()) return;
        if (f.seen.size() < slots_) {
            f.seen.push_back(now);
            f.rounds.push_back(1);
            return;
        }
        // The oldest makes room.
        f.slot = f.oldest++ % slots_;
        f.seen[f.slot] = now;
        ++f.rounds[f.slot];
    }

    struct Kept {
        std::uint64_t round = 0;  // 0: nothing is kept
        // Of what bounds the time: work of the busiest SM over that of all, and bytes of all groups.
        double busiest = 0;
        Bytes l2, dram;
        Placement placement;
        // No model of it can be faster. Only where LeastWork::bounds.
        [[nodiscard]] double least_time(const ModelInputs& h, Cycles busy) const {
            return std::max(std::max(busiest * busy / h.clock, l2 / h.l2_bandwidth), dram / h.dram_bandwidth).value();
        }
    };
    // Null if it is not known.
    [[nodiscard]] const Kept* find(const Choice& choice) const {
        const PerFootprint& f = footprints_[choice.footprint];
        const Kept& kept = kept_[choice.number * slots_ + f.slot];
        return kept.round == f.rounds[f.slot] ? &kept : nullptr;
    }
    const Kept& of(const Choice& choice, const Occupancy& o, const ModelInputs& inputs) {
        if (const Kept* known = find(choice)) return *known;
        const PerFootprint& f = footprints_[choice.footprint];
        const PreparedLayer& layer = choice.candidate->layer;
        Kept& kept = kept_[choice.number * slots_ + f.slot];
        kept.round = f.rounds[f.slot];
        kept.placement = placed(layer, o, inputs);
        const double groups = LeastWork::kRounding * layer.groups;
        kept.busiest = LeastWork::kRounding * kept.placement.ctas_in_turn / static_cast<double>(layer.grid.ctas());
        kept.l2 = groups * kept.placement.l2;
        kept.dram = groups * kept.placement.dram;
        return kept;
    }

private:
    struct Seen {
        std::int32_t ctas_per_sm;
        Bytes l1, l2_capacity;
        bool operator==(const Seen&) const = default;
    };
    struct PerFootprint {
        std::vector<Seen> seen;
        std::vector<std::uint64_t> rounds;  // by slot: which of its uses this is, from 1
        std::size_t slot = 0, oldest = 0;
    };
    std::size_t slots_ = 0;
    std::vector<PerFootprint> footprints_;
    std::vector<Kept> kept_;  // by choice and slot
};

}  // namespace gambrel::explore_detail
