// The requests for the tiles of one operand, made for the first of them only: a tile that lies a whole number of
// images, channels or groups further on asks for the same sectors of lines that lie so much further on. Invariant:
// gives what making the requests for every tile would give. It knows no CTA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/panel.hpp"
#include "sim/step_pattern.hpp"

namespace gambrel::sim_detail {

class TilePatterns {
public:
    // An operand's side in tiles, its depth in steps and its batch one by one: how many, their length, and when they
    // come again. The last one may be cut short.
    struct Axis {
        std::int64_t size = 0, length = 1;
        Period period;  // no steps: none comes again
        [[nodiscard]] std::int64_t count() const { return (size + length - 1) / length; }
        [[nodiscard]] std::int64_t made() const { return period.steps > 0 ? std::min(period.steps, count()) : count(); }
        [[nodiscard]] bool is_whole(std::int64_t i) const { return (i + 1) * length <= size; }
        [[nodiscard]] std::uint64_t lines(std::int64_t i) const {
            return static_cast<std::uint64_t>(i / made()) * period.lines;
        }
    };
    struct Shape {
        Axis batch, tiles, steps;
        std::int64_t users = 1;  // CTAs that ask for the same
    };
    static Shape shape_of(const AddressedOperand& operand, std::int64_t batch, std::int64_t tile, std::int64_t step,
                          std::int64_t users = 1);

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    // make(batch, tile, step, out) appends requests and returns where they may be moved to. Stays empty if hardly any
    // come again, or if they are too many to keep.
    template <class Make>
    void fill(const Shape& shape, Make make) {
        shape_ = shape;
        const std::int64_t tiles = shape.tiles.made(), steps = shape.steps.made();
        const std::int64_t all = shape.batch.made() * tiles * steps;
        constexpr std::int64_t kWorthIt = 4;  // uses
        const std::int64_t uses = shape.batch.count() * shape.tiles.count() * shape.steps.count() * shape.users;
        if (all <= 0 || uses < kWorthIt * all) return;
        if (all > static_cast<std::int64_t>(Panel::kMost)) return;
        for (std::int64_t i = 0; i < all; ++i) {
            const std::size_t first = accesses_.size();
            const Movable where = make(i / steps / tiles, i / steps % tiles, i % steps, accesses_);
            entries_.push_back({MovableRequests(accesses_, first), where});
            const bool hopeless = i == 0 && accesses_.size() > 2 * Panel::kMost / static_cast<std::size_t>(all);
            if (accesses_.size() <= Panel::kMost && !hopeless) continue;
            *this = {};
            return;
        }
    }
    // False: they must be made. fits(requests) says whether those that are movable where_fit stay as they are.
    template <class Fits>
    bool append(std::int64_t batch, std::int64_t tile, std::int64_t step, std::vector<Access>& out, Fits fits) const {
        if (empty() || !shape_.tiles.is_whole(tile) || !shape_.steps.is_whole(step)) return false;
        const std::int64_t tiles = shape_.tiles.made(), steps = shape_.steps.made();
        const std::int64_t at = (batch % shape_.batch.made() * tiles + tile % tiles) * steps + step % steps;
        const Entry& entry = entries_[static_cast<std::size_t>(at)];
        if (entry.where == Movable::nowhere) return false;
        const std::uint64_t lines = shape_.batch.lines(batch) + shape_.tiles.lines(tile) + shape_.steps.lines(step);
        const std::size_t first = out.size();
        entry.requests.append(accesses_, lines, out);
        if (lines == 0 || entry.where == Movable::anywhere || fits(std::span<const Access>(out).subspan(first)))
            return true;
        out.resize(first);
        return false;
    }

private:
    struct Entry {
        MovableRequests requests;
        Movable where = Movable::nowhere;
    };
    Shape shape_;
    std::vector<Entry> entries_;  // step by step, tile by tile, batch by batch
    std::vector<Access> accesses_;
};

}  // namespace gambrel::sim_detail
