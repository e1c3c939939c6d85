// The order in which slices of L2 take what SMs ask of them. Steps that CTAs take at the same time are a round: a slice
// takes the first request of each CTA, then the second of each that has one, and so on, as the port does that all SMs
// send to. Invariant: requests of one CTA to one slice keep their order. It knows no cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

inline constexpr unsigned kSlices = 16;  // fixed, so that results do not depend on how many threads share them

// What one SM asks for, event by event: each request with its slice, and how many requests of its event went there
// before it.
class MissList {
public:
    void clear() { size_ = 0; }
    // Before the requests of an event.
    void begin_event() {
        for (std::uint32_t slice = 0; slice < kSlices; ++slice) next_[slice] = slice;
    }
    // Room for so many more: add() does not look.
    void reserve(std::size_t more) {
        if (size_ + more <= accesses_.size()) return;
        accesses_.resize(2 * (size_ + more));
        places_.resize(2 * (size_ + more));
    }
    void add(Access access, unsigned slice) { add_if(true, access, slice); }
    // Without a branch, which the host could not predict: compilers make one of ?: here.
    void add_if(bool wanted, Access access, unsigned slice) {
        accesses_[size_] = access;
        places_[size_] = next_[slice];
        const std::uint32_t added{wanted};
        next_[slice] += kSlices * added;
        size_ += added;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const Access* accesses() const { return accesses_.data(); }
    // Of each request: how many of its event went to its slice before it, times kSlices, and the slice.
    [[nodiscard]] const std::uint32_t* places() const { return places_.data(); }
    // Above all places of this event.
    [[nodiscard]] std::uint32_t places_end() const { return *std::max_element(next_.begin(), next_.end()); }

private:
    std::size_t size_ = 0;
    std::vector<Access> accesses_;
    std::vector<std::uint32_t> places_;
    std::array<std::uint32_t, kSlices> next_{};  // place, of every slice
};

// All requests of a round for lines, by slice and in the order in which it takes them.
class RoundOrder {
public:
    // each(f) calls f(list, begin, end) for the events of the round, in order of time. places_end: of all of them.
    template <class Each>
    void sort(std::uint32_t places_end, Each each) {
        at_.assign(places_end, 0);
        each([this](const MissList& list, std::size_t begin, std::size_t end) {
            for (const std::uint32_t place : std::span(list.places() + begin, end - begin)) ++at_[place];
        });
        std::uint32_t sum = 0;
        for (unsigned slice = 0; slice < kSlices; ++slice) {
            ends_[slice] = sum;
            for (std::size_t place = slice; place < at_.size(); place += kSlices) {
                const std::uint32_t count = at_[place];
                at_[place] = sum;
                sum += count;
            }
        }
        ends_[kSlices] = sum;
        if (sorted_.size() < sum) sorted_.resize(sum);
        each([this](const MissList& list, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) sorted_[at_[list.places()[i]]++] = list.accesses()[i];
        });
    }
    [[nodiscard]] std::span<const Access> of(unsigned slice) const {
        return {sorted_.data() + ends_[slice], ends_[slice + 1] - ends_[slice]};
    }

private:
    std::vector<std::uint32_t> at_;  // by place: how many, then where the next one goes
    std::array<std::uint32_t, kSlices + 1> ends_{};
    std::vector<Access> sorted_;
};

}  // namespace gambrel::sim_detail
