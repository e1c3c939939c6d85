#include "trace/lanes.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/file_title.hpp"

namespace gambrel::trace_detail {
namespace {

// Files of different captures can name the same rank; then the file says which.
std::vector<Symbol> rank_names(const Timeline& timeline) {
    std::map<std::string, int> times;
    for (const Timeline::Rank& rank : timeline.ranks) ++times[rank.name];
    std::vector<Symbol> out;
    for (const Timeline::Rank& rank : timeline.ranks)
        out.emplace_back(
            times[rank.name] == 1 ? rank.name : rank.name + " of " + base_detail::title_of(std::span(&rank.source, 1)));
    return out;
}

}  // namespace

LaneBuilder::LaneBuilder(const Timeline& timeline)
    : first_(timeline.ranks.size(), std::numeric_limits<std::int64_t>::max()) {
    for (const Activity& a : timeline.activities) {
        first_[a.rank] = std::min(first_[a.rank], a.start_ns);
        index_.try_emplace({a.rank, a.gpu, a.stream}, 0);
    }
    const std::vector<Symbol> names = rank_names(timeline);
    for (auto& [key, place] : index_) {
        place = static_cast<std::uint32_t>(lanes_.lanes.size());
        const auto& [rank, gpu, stream] = key;
        lanes_.lanes.push_back({names[rank], gpu, stream});
    }
    lanes_.events.reserve(timeline.activities.size());
}

void LaneBuilder::add(const Activity& a, TimeClass time_class, std::optional<std::size_t> row) {
    const std::uint32_t lane = index_.at({a.rank, a.gpu, a.stream});
    lanes_.events.push_back({a.name, a.start_ns - first_[a.rank], a.duration_ns, lane, a.step, time_class, row});
}

TimelineLanes LaneBuilder::take() {
    std::stable_sort(lanes_.events.begin(), lanes_.events.end(), [](const auto& a, const auto& b) {
        return a.lane != b.lane ? a.lane < b.lane : a.start_ns < b.start_ns;
    });
    return std::move(lanes_);
}

}  // namespace gambrel::trace_detail
