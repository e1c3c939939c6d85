// Placements of the choices of one prepared workload (delta.hpp), kept for the designs that share them. A search varies
// rates far more often than what fits on an SM. Bounded: what is forgotten is computed again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/candidates.hpp"

namespace gambrel::explore_detail {

class Placements {
public:
    explicit Placements(const Prepared& prepared) {
        constexpr std::size_t kMostBytes = std::size_t{8} << 20, kMost = 128, kLeast = 4;
        constexpr std::size_t kBytes = sizeof(Placement::Basis) + sizeof(Bound);
        std::size_t choices = 0;
        for (const std::size_t sharing : prepared.sharing) choices += sharing;
        slots_ = std::clamp(kMostBytes / (kBytes * std::max<std::size_t>(1, choices)), kLeast, kMost);
        for (const std::size_t sharing : prepared.sharing) footprints_.emplace_back().sharing = sharing;
    }

    // Number of what a footprint sees of a design, for all designs that it looks alike to. None: all are taken.
    std::optional<std::uint32_t> slot(std::size_t footprint, const Occupancy& o, Bytes l2_capacity) {
        const Seen now{o.ctas_per_sm, o.l1, l2_capacity};
        PerFootprint& f = footprints_[footprint];
        const auto at = std::find(f.seen.begin(), f.seen.end(), now);
        const auto number = static_cast<std::uint32_t>(at - f.seen.begin());
        if (at != f.seen.end()) return number;
        if (f.seen.size() == slots_) return std::nullopt;
        f.seen.push_back(now);
        f.bounds.resize(f.seen.size() * f.sharing);
        f.bases.resize(f.seen.size() * f.sharing);
        return number;
    }
    void forget() {
        for (PerFootprint& f : footprints_) f = PerFootprint{f.sharing, {}, {}, {}};
    }

    // Work that its time cannot be below: that of the choice itself where its placement is not known.
    [[nodiscard]] const LeastWork& least(const Choice& choice, std::uint32_t slot) const {
        const PerFootprint& f = footprints_[choice.footprint];
        const Bound& bound = f.bounds[slot * f.sharing + choice.number];
        return bound.known ? bound.least : choice.least;
    }
    [[nodiscard]] bool known(const Choice& choice, std::uint32_t slot) const {
        const PerFootprint& f = footprints_[choice.footprint];
        return f.bounds[slot * f.sharing + choice.number].known;
    }
    void place(const Choice& choice, std::uint32_t slot, const Occupancy& o, const ModelInputs& inputs) {
        PerFootprint& f = footprints_[choice.footprint];
        const std::size_t at = slot * f.sharing + choice.number;
        Placement found = placed(choice.candidate->layer, o, inputs);
        f.bounds[at] = {found.least, true};
        f.bases[at] = std::move(found.basis);
    }
    [[nodiscard]] const Placement::Basis& basis(const Choice& choice, std::uint32_t slot) const {
        const PerFootprint& f = footprints_[choice.footprint];
        return f.bases[slot * f.sharing + choice.number];
    }

private:
    struct Seen {
        std::int32_t ctas_per_sm;
        Bytes l1, l2_capacity;
        bool operator==(const Seen&) const = default;
    };
    struct Bound {
        LeastWork least;
        bool known = false;
    };
    struct PerFootprint {
        std::size_t sharing = 0;  // choices
        std::vector<Seen> seen;   // by slot
        // By slot and choice, so that layer after layer goes along them. The bounds, by which most choices are judged,
        // lie apart from the bases, which are four times as large.
        std::vector<Bound> bounds;
        std::vector<Placement::Basis> bases;
    };
    std::size_t slots_ = 0;
    std::vector<PerFootprint> footprints_;
};

}  // namespace gambrel::explore_detail
