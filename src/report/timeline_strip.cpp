#include "report/timeline_strip.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

namespace gambrel::report_detail {
namespace {

using Event = TimelineLanes::Event;
using Box = TimelineStrip::Box;
using Group = TimelineStrip::Group;

constexpr std::size_t kBins = 500;  // over the whole time, of a lane that many streams share

std::string pipe_of(const Kernel& k) {
    const auto work = flop(k);
    if (!work) return "";
    if (work->value.value() == 0) return "no FLOP";
    Pipe best = Pipe::fp32;
    double most = 0;
    for (const Pipe p : all_pipes())
        if (k.work[p] && !is_integer(p) && k.work[p]->value.value() > most) best = p, most = k.work[p]->value.value();
    return std::string(name(best));
}

// The group of each event.
std::vector<std::uint32_t> grouped_events(const Analysis& a, std::vector<Group>& groups) {
    std::map<Group, std::uint32_t> index;
    const auto place = [&](Group group) {
        const auto [it, fresh] = index.try_emplace(std::move(group), static_cast<std::uint32_t>(groups.size()));
        if (fresh) groups.push_back(it->first);
        return it->second;
    };
    // Rows hold launches of one class each.
    std::vector<std::optional<std::uint32_t>> of_row(a.rows.size());
    std::vector<std::uint32_t> out;
    out.reserve(a.lanes->events.size());
    for (const Event& e : a.lanes->events) {
        if (!e.row) {
            out.push_back(place({e.time_class, "", ""}));
            continue;
        }
        auto& known = of_row[*e.row];
        if (!known) {
            const AnalysisRow& row = a.rows[*e.row];
            known = place({e.time_class, to_text(row.verdict.bound), pipe_of(row.kernel)});
        }
        out.push_back(*known);
    }
    return out;
}

std::vector<TimelineStrip::Lane> named_lanes(const TimelineLanes& t) {
    const auto differs = [&](auto get) {
        return std::any_of(t.lanes.begin(), t.lanes.end(), [&](const auto& l) { return get(l) != get(t.lanes[0]); });
    };
    const bool ranks = differs([](const auto& l) { return l.rank; });
    const bool gpus = differs([](const auto& l) { return l.gpu; });
    std::vector<TimelineStrip::Lane> out;
    for (const auto& l : t.lanes)
        out.push_back({(ranks ? fmt::format("rank {}, ", l.rank.str()) : "") +
                       (gpus ? fmt::format("GPU {}, ", l.gpu) : "") + fmt::format("stream {}", l.stream)});
    return out;
}

class Merger {
public:
    Merger(std::span<const Event> events, const std::vector<std::uint32_t>& groups)
        : events_(events), groups_(groups) {}

    // Boxes where events shorter than `below` that begin in the same piece of time of that length are merged.
    std::vector<Box> boxes(std::int64_t below) {
        boxes_.clear(), merged_ = 0;
        std::size_t from = 0;
        while (from < events_.size()) {
            std::size_t to = from + 1;
            if (is_short(from, below))
                while (to < events_.size() && events_[to].lane == events_[from].lane && is_short(to, below) &&
                       events_[to].start_ns / below == events_[from].start_ns / below)
                    ++to;
            add(from, to);
            from = to;
        }
        return std::move(boxes_);
    }
    [[nodiscard]] std::uint64_t merged() const { return merged_; }

private:
    [[nodiscard]] bool is_short(std::size_t i, std::int64_t below) const { return events_[i].duration_ns < below; }

    void add(std::size_t from, std::size_t to) {
        std::int64_t end = 0;
        for (std::size_t i = from; i < to; ++i) end = std::max(end, events_[i].start_ns + events_[i].duration_ns);
        if (to - from > 1) merged_ += to - from;
        const std::size_t first = boxes_.size();
        std::vector<std::int64_t> longest;
        for (std::size_t i = from; i < to; ++i) {
            const Event& e = events_[i];
            std::size_t at = first;
            while (at < boxes_.size() && boxes_[at].group != groups_[i]) ++at;
            if (at == boxes_.size()) {
                boxes_.push_back({e.lane, groups_[i], events_[from].start_ns, end, 0, 0, {}, {}});
                longest.push_back(-1);
            }
            Box& box = boxes_[at];
            box.busy_ns += e.duration_ns, ++box.events;
            if (e.duration_ns > longest[at - first])
                longest[at - first] = e.duration_ns, box.name = e.name, box.row = e.row;
        }
    }

    std::span<const Event> events_;
    const std::vector<std::uint32_t>& groups_;
    std::vector<Box> boxes_;
    std::uint64_t merged_ = 0;
};

// Streams that share a lane: bins of equal length, and in each the time that its events spend there.
std::vector<Box> shared_lane(std::span<const Event> events, std::span<const std::uint32_t> groups, std::uint32_t lane,
                             std::int64_t bin) {
    struct Sum {
        Box box;
        std::int64_t longest = -1;
    };
    std::map<std::pair<std::int64_t, std::uint32_t>, Sum> sums;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& e = events[i];
        const std::int64_t end = e.start_ns + e.duration_ns;
        for (std::int64_t at = e.start_ns / bin; at == e.start_ns / bin || at * bin < end; ++at) {
            auto& [box, longest] = sums[{at, groups[i]}];
            box.lane = lane, box.group = groups[i], box.start_ns = at * bin, box.end_ns = (at + 1) * bin;
            const std::int64_t part = std::min(end, box.end_ns) - std::max(e.start_ns, box.start_ns);
            box.busy_ns += part;
            box.events += at == e.start_ns / bin ? 1 : 0;
            if (part > longest) longest = part, box.name = e.name, box.row = e.row;
        }
    }
    std::vector<Box> out;
    out.reserve(sums.size());
    for (const auto& [key, sum] : sums) out.push_back(sum.box);
    return out;
}

void add_steps(const TimelineLanes& t, std::size_t own_lanes, std::size_t most, TimelineStrip& out) {
    std::vector<std::uint32_t> first(own_lanes, 0), last(own_lanes, 0);  // lane of the same rank
    for (std::uint32_t i = 1; i < own_lanes; ++i) first[i] = t.lanes[i].rank == t.lanes[i - 1].rank ? first[i - 1] : i;
    for (std::uint32_t i = 0; i < own_lanes; ++i) last[first[i]] = i;
    std::map<std::pair<std::uint32_t, std::int32_t>, std::int64_t> starts;
    for (const Event& e : t.events) {
        if (e.step < 0 || e.lane >= own_lanes) continue;
        auto& start = starts.try_emplace({first[e.lane], e.step}, e.start_ns).first->second;
        start = std::min(start, e.start_ns);
    }
    if (starts.size() > most) {
        out.steps_left_out = starts.size();
        return;
    }
    for (const auto& [key, start] : starts) out.steps.push_back({key.first, last[key.first], start, key.second});
}

}  // namespace

TimelineStrip timeline_strip(const Analysis& a, const StripLimits& limits) {
    TimelineStrip out;
    if (!a.lanes || a.lanes->events.empty()) return out;
    const TimelineLanes& t = *a.lanes;
    const std::vector<std::uint32_t> groups = grouped_events(a, out.groups);
    for (const Event& e : t.events) out.wall_ns = std::max(out.wall_ns, e.start_ns + e.duration_ns);
    out.lanes = named_lanes(t);
    const std::size_t own_lanes = t.lanes.size() <= limits.lanes ? t.lanes.size() : limits.lanes - 1;
    const auto own = static_cast<std::size_t>(
        std::find_if(t.events.begin(), t.events.end(), [&](const Event& e) { return e.lane >= own_lanes; }) -
        t.events.begin());
    const std::span<const Event> events(t.events);
    std::vector<Box> others;
    if (own_lanes < t.lanes.size()) {
        out.other_streams = t.lanes.size() - own_lanes;
        const std::size_t bins = std::clamp<std::size_t>(limits.boxes / 4 / out.groups.size(), 1, kBins);
        const std::int64_t bin = out.wall_ns / static_cast<std::int64_t>(bins) + 1;
        others = shared_lane(events.subspan(own), std::span(groups).subspan(own), static_cast<std::uint32_t>(own_lanes),
                             bin);
        out.lanes.resize(own_lanes);
        out.lanes.push_back({fmt::format("{} other streams", out.other_streams), out.other_streams});
    }
    Merger merger(events.subspan(0, own), groups);
    out.boxes = merger.boxes(0);
    // From a sixteenth of the mean piece on: shorter ones would not bring a long trace below the limit.
    for (std::int64_t below = out.wall_ns / static_cast<std::int64_t>(16 * limits.boxes) + 1;
         out.boxes.size() + others.size() > limits.boxes && below / 2 <= out.wall_ns; below += below / 4 + 1)
        out.boxes = merger.boxes(below), out.merged_below = below;
    out.merged_events = merger.merged();
    out.boxes.insert(out.boxes.end(), others.begin(), others.end());
    add_steps(t, own_lanes, limits.steps, out);
    return out;
}

}  // namespace gambrel::report_detail
