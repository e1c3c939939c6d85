// The lanes of a trace as a bounded number of boxes for a drawing. Events that are too short to be told apart are
// merged with their neighbours; every nanosecond stays in the class that it has in the TimelineSummary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

struct TimelineStrip {
    struct Lane {
        std::string name;         // "rank 0, GPU 1, stream 7", without what all lanes share
        std::size_t streams = 1;  // more in the last lane, where there are too many to draw
    };
    // What colours show.
    struct Group {
        TimeClass time_class = TimeClass::unmodelled;
        std::string bound;  // as in the table; empty: not judged
        std::string pipe;   // that did most of the FLOP; "no FLOP"; empty: unknown
        auto operator<=>(const Group&) const = default;
    };
    // One event, or several of a group that lie between start and end. Boxes with the same lane and start share the
    // height of the lane.
    struct Box {
        std::uint32_t lane = 0, group = 0;
        std::int64_t start_ns = 0, end_ns = 0;
        std::int64_t busy_ns = 0;  // of it, with events of this group running; summed over the streams of the lane
        std::uint64_t events = 0;  // that begin in it
        Symbol name;               // of the longest of them
        std::optional<std::size_t> row;
    };
    struct Step {
        std::uint32_t first_lane = 0, last_lane = 0;
        std::int64_t start_ns = 0;  // of the first event that was launched in it
        std::int32_t number = 0;
    };
    std::vector<Lane> lanes;
    std::vector<Group> groups;
    std::vector<Box> boxes;  // by lane, then by start
    std::vector<Step> steps;
    std::int64_t wall_ns = 0;       // the end of the last box
    std::int64_t merged_below = 0;  // events shorter than this were merged; 0: none
    std::uint64_t merged_events = 0;
    std::size_t other_streams = 0;  // that share the last lane; 0: each has its own
    std::size_t steps_left_out = 0;
};

struct StripLimits {
    std::size_t boxes = 20000, lanes = 64, steps = 2000;
};
TimelineStrip timeline_strip(const Analysis& analysis, const StripLimits& limits = {});

}  // namespace gambrel::report_detail
