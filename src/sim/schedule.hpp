// When each CTA takes each of its steps, and on which SM. CTAs are dealt in launch order, one to every SM in turn, then
// to the SM on which one ends; those on one SM share it. Invariant: depends on the seed, never on what the caches did
// or on threads. docs/simulator.md, "How far CTAs drift", has the mechanism and where its two constants come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sim/stream.hpp"

namespace gambrel::sim_detail {

// CTAs on one SM compete for its issue slots. The schedulers are fair in the long run but not in the short one: a CTA
// is ahead of or behind its share by a mean-reverting random walk of this standard deviation for one competitor, and
// this correlation length, in steps.
struct Contention {
    double spread = 0, memory = 20;
};

struct Event {
    std::int64_t cta;
    std::int64_t step;  // steps(cta): the end, where results are stored
    std::uint32_t sm, slot;
    bool first, last;  // of its CTA
};

class Schedule {
public:
    struct Shape {
        std::uint32_t sms = 1, ctas_per_sm = 1;
        // The first CTAs start anywhere in their steps, as those do that a run in progress meets; else together.
        bool in_progress = false;
    };
    // Runs the CTAs [first, end) of `stream`.
    Schedule(const AddressStream& stream, Shape shape, Contention contention, std::uint64_t seed, std::int64_t first,
             std::int64_t end);
    // The next events in order of time; at most `limit`, none after the last.
    void next(std::size_t limit, std::vector<Event>& events);

private:
    struct Resident {
        std::int64_t cta = -1, step = 0, steps = 0;
        bool started = false;
        double due = 0;   // in the SM's own time, which runs at 1 / residents
        double lead = 0;  // steps ahead of its share
    };
    struct Sm {
        std::vector<Resident> slots;
        std::uint32_t residents = 0;
        double clock = 0, since = 0;  // its own time, and the common time at which that was
    };
    struct Turn {
        double time = std::numeric_limits<double>::infinity();  // infinity: no resident
        std::uint32_t sm = 0, slot = 0;
    };
    void launch(std::uint32_t sm, std::uint32_t slot);
    void advance(Sm& sm, double time) const;
    [[nodiscard]] Turn turn_of(std::uint32_t sm) const;
    void put(Turn turn);
    void take_step(Resident& resident);

    const AddressStream& stream_;
    Contention contention_;
    double keep_;       // of the lead from step to step
    double fresh_ = 0;  // the deviation of what is added to that
    std::int64_t next_, end_;
    std::vector<Sm> sms_;
    // The next turn of each SM, from leaves_ on, and above them a tree in which the earlier of two goes up: the next
    // turn of all is at 1. A heap would have to guess which of two is earlier; this only chooses.
    std::size_t leaves_;
    std::vector<Turn> turns_;
    std::mt19937_64 random_;
};

}  // namespace gambrel::sim_detail
