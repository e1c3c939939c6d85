// Activities to the lanes of a drawing: one for each stream of each GPU of each rank.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

class LaneBuilder {
public:
    explicit LaneBuilder(const Timeline& timeline);
    void add(const Activity& activity, TimeClass time_class, std::optional<std::size_t> row);
    TimelineLanes take();

private:
    std::vector<std::int64_t> first_;  // by rank
    std::map<std::tuple<std::uint32_t, std::int32_t, std::int64_t>, std::uint32_t> index_;
    TimelineLanes lanes_;
};

}  // namespace gambrel::trace_detail
