// Does a bounded drawing of a timeline keep every nanosecond in its class, and say what it merged?
#include "report/timeline_strip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>

#include "report/timeline_sample.hpp"

namespace gambrel {
namespace {

using report_detail::StripLimits;
using report_detail::timeline_strip;
using report_detail::TimelineStrip;
using testing::HasSubstr;

struct ClassSums {
    std::array<std::uint64_t, kTimeClasses> ns{}, events{};
    bool operator==(const ClassSums&) const = default;
};

ClassSums sums_of(const TimelineStrip& strip) {
    ClassSums out;
    for (const auto& box : strip.boxes) {
        const auto c = static_cast<std::size_t>(strip.groups.at(box.group).time_class);
        out.ns[c] += static_cast<std::uint64_t>(box.busy_ns), out.events[c] += box.events;
    }
    return out;
}

ClassSums sums_of(const TimelineSummary& t) {
    ClassSums out;
    for (std::size_t i = 0; i < kTimeClasses; ++i) out.ns[i] = t.classes[i].ns, out.events[i] = t.classes[i].events;
    return out;
}

void expect_order(const TimelineStrip& strip) {
    for (std::size_t i = 1; i < strip.boxes.size(); ++i) {
        const auto &a = strip.boxes[i - 1], &b = strip.boxes[i];
        ASSERT_TRUE(a.lane < b.lane || (a.lane == b.lane && a.start_ns <= b.start_ns)) << i;
    }
}

TEST(TimelineStrip, what_fits_is_drawn_as_it_ran) {
    const Analysis a = sample::traced(2, 2, 50);
    const TimelineStrip strip = timeline_strip(a);
    EXPECT_EQ(strip.boxes.size(), 200u);
    EXPECT_EQ(strip.merged_events, 0u);
    EXPECT_EQ(sums_of(strip), sums_of(*a.timeline));
    ASSERT_EQ(strip.lanes.size(), 4u);
    EXPECT_EQ(strip.lanes[0].name, "rank 0, stream 7");
    EXPECT_EQ(strip.lanes[3].name, "rank 1, stream 8");
    for (const auto& box : strip.boxes) {
        EXPECT_EQ(box.busy_ns, box.end_ns - box.start_ns);
        ASSERT_TRUE(box.row);
        EXPECT_EQ(a.rows.at(*box.row).kernel.name, box.name);
    }
    expect_order(strip);
}

TEST(TimelineStrip, each_rank_marks_its_own_steps_by_the_first_event_launched_in_them) {
    const Analysis a = sample::traced(2, 2, 50);
    const TimelineStrip strip = timeline_strip(a);
    ASSERT_EQ(strip.steps.size(), 4u);  // two for each rank
    EXPECT_EQ(strip.steps[0].first_lane, 0u);
    EXPECT_EQ(strip.steps[0].last_lane, 1u);
    EXPECT_EQ(strip.steps[0].start_ns, 0);
    EXPECT_EQ(strip.steps[1].number, 1);
    EXPECT_EQ(strip.steps[1].start_ns, 25 * sample::kTracePeriod);
    EXPECT_EQ(strip.steps[2].first_lane, 2u);
    const TimelineStrip few = timeline_strip(a, {20000, 64, 3});
    EXPECT_TRUE(few.steps.empty());
    EXPECT_EQ(few.steps_left_out, 4u);
}

TEST(TimelineStrip, a_long_trace_stays_below_the_limit_and_loses_nothing) {
    const Analysis a = sample::traced(1, 2, 30000);
    const TimelineStrip strip = timeline_strip(a, {5000, 64, 10});
    EXPECT_LE(strip.boxes.size(), 5000u);
    EXPECT_GT(strip.boxes.size(), 1000u) << "as fine as the limit lets it be";
    EXPECT_GT(strip.merged_events, 50000u);
    EXPECT_EQ(sums_of(strip), sums_of(*a.timeline));
    std::uint64_t singles = 0;
    for (const auto& box : strip.boxes) {
        ASSERT_LE(box.busy_ns, box.end_ns - box.start_ns);
        if (box.events == 1 && box.busy_ns >= strip.merged_below) ++singles;
    }
    EXPECT_EQ(singles, 2u * 30000 / 1000) << "long events stay alone";
    expect_order(strip);
}

TEST(TimelineStrip, a_limit_of_a_few_boxes_is_kept) {
    const Analysis a = sample::traced(1, 1, 3000);
    const TimelineStrip strip = timeline_strip(a, {10, 64, 10});
    EXPECT_LE(strip.boxes.size(), 10u);
    EXPECT_EQ(sums_of(strip), sums_of(*a.timeline));
}

TEST(TimelineStrip, streams_beyond_the_limit_share_the_last_lane) {
    const Analysis a = sample::traced(100, 2, 40);
    const TimelineStrip strip = timeline_strip(a, {20000, 16, 1000});
    ASSERT_EQ(strip.lanes.size(), 16u);
    EXPECT_EQ(strip.lanes.back().name, "185 other streams");
    EXPECT_EQ(strip.lanes.back().streams, 185u);
    EXPECT_EQ(sums_of(strip), sums_of(*a.timeline));
    for (const auto& box : strip.boxes)
        if (box.lane == 15) {
            ASSERT_LE(box.busy_ns, (box.end_ns - box.start_ns) * 185);
        }
    EXPECT_LE(timeline_strip(a, {1000, 16, 1000}).boxes.size(), 1000u);
    EXPECT_EQ(sums_of(timeline_strip(a, {1000, 16, 1000})), sums_of(*a.timeline));
}

TEST(TimelineStrip, colours_tell_class_bottleneck_and_pipe_apart) {
    const TimelineStrip strip = timeline_strip(sample::traced(1, 1, 20));
    std::vector<std::string> seen;
    for (const auto& g : strip.groups) seen.push_back(std::string(name(g.time_class)) + "/" + g.bound + "/" + g.pipe);
    EXPECT_THAT(seen, testing::UnorderedElementsAre("modelled/tensor_fp16/tensor_fp16", "modelled/DRAM/fp32",
                                                    "communication//", "copy/DRAM/no FLOP"));
}

std::string page_with(const Analysis& a) {
    PageInput input;
    input.title = "trace", input.views.emplace_back();
    input.views[0].title = "trace", input.views[0].analysis = &a;
    return html_page(input).value();
}

TEST(TimelineStrip, a_page_with_one_is_read_back_and_a_broken_one_refused) {
    const Analysis a = sample::traced(1, 2, 20);
    const std::string html = page_with(a);
    const auto read = read_page(html, "p.html");
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_THAT((*read)[0].json, HasSubstr("\"timeline\":{\"wall\":"));
    const auto faults = [&](const std::string& from, const std::string& to) {
        std::string broken = html;
        broken.replace(broken.find(from), from.size(), to);
        const auto result = read_page(broken, "p.html");
        return result ? std::string{} : to_text(result.error());
    };
    EXPECT_THAT(faults("\"lane\":[0,", "\"lane\":[7,"), HasSubstr("timeline.lane: 7 points beyond a list of 2"));
    EXPECT_THAT(faults("\"lane\":[0,", "\"lane\":["), HasSubstr("40 values, expected 39"));
    EXPECT_THAT(faults("\"merged\":\"\"", "\"merged\":1"), HasSubstr("timeline.merged: 1 found, expected a text"));
    EXPECT_THAT(faults("\"steps\":[[0,1,", "\"steps\":[[0,9,"), HasSubstr("timeline.steps: 9 points beyond"));
}

TEST(TimelineStrip, a_page_of_what_is_no_trace_has_none) {
    EXPECT_THAT(page_with(sample::training()), testing::Not(HasSubstr("\"timeline\":{")));
}

}  // namespace
}  // namespace gambrel
