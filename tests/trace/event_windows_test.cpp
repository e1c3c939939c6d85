// Is a trace that is parsed in pieces the same as one that is parsed whole, wherever the cuts fall?
#include "trace/event_windows.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file_bytes.hpp"
#include "trace/events.hpp"

namespace gambrel::trace_detail {
namespace {

constexpr std::size_t kWhole = std::size_t{1} << 40;

std::string described(const Events& e) {
    std::string out = fmt::format("rank {} partial {} devices {}\n", e.rank.value_or(-1), e.partial, e.devices.size());
    for (const HostEvent& h : e.host) {
        const Arguments& a = e.arguments.at(h.arguments);
        out += fmt::format("host {} {} {} {} {} {} {}\n", h.start, h.end, e.strings.text(h.name), h.thread,
                           e.strings.text(a.dims), e.strings.text(a.values), a.sequence);
    }
    for (const LaunchCall& c : e.calls) out += fmt::format("call {} {} {}\n", c.start, c.correlation, c.thread);
    for (const GpuEvent& g : e.gpu)
        out += fmt::format("gpu {} {} {} {} {} {}\n", g.start, g.duration, e.strings.text(g.name), g.device,
                           g.correlation, g.grid[0]);
    for (const Error& note : e.notes) out += note.what + "\n";
    return out;
}

std::string read(std::string text, std::size_t window) {
    text.reserve(text.size() + base_detail::FileBytes::kPadding);
    const auto events = read_kineto(text, "t.json", window);
    return events ? described(*events) : to_text(events.error());
}

void expect_same_in_pieces(const std::string& text) {
    const std::string whole = read(text, kWhole);
    for (const std::size_t window : {1, 50, 130, 400, 1000}) EXPECT_EQ(read(text, window), whole) << window;
}

// Operators, launches and kernels, in turn.
std::string events(int count, const std::string& between, const std::string& name = "k") {
    std::string out;
    for (int i = 0; i < count; ++i) {
        if (i > 0) out += between;
        out += fmt::format(
            R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{0}00,"dur":10,"args":{{"Sequence number":{0},)"
            R"("Input Dims":[[4,8],[8,{0}]],"Concrete Inputs":["",""]}}}}{1})"
            R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{0}03,"dur":1,)"
            R"("args":{{"correlation":{0}}}}}{1})"
            R"({{"ph":"X","cat":"kernel","name":"{2}","pid":0,"tid":7,"ts":{0}20,"dur":5.25,)"
            R"("args":{{"device":0,"correlation":{0},"grid":[{0},2,1]}}}})",
            i, between, name);
    }
    return out;
}
const std::string kDevices = R"("deviceProperties":[{"id":0,"name":"A"},{"id":1,"name":"B"}])";

TEST(EventWindows, lists_are_found_at_the_first_level_alone) {
    EXPECT_EQ(event_list("[\n  {\"ph\":1}]")->begin, 4u);
    EXPECT_EQ(event_list("[\n  {\"ph\":1}]")->indent, "  ");
    const std::string nested = R"({"a":{"traceEvents":[{}]},"b":"\"traceEvents\":[{","traceEvents": [{"ph":1}]})";
    EXPECT_EQ(nested.substr(event_list(nested).value().begin), R"({"ph":1}]})");
    for (const char* none :
         {"", "{}", "[]", R"({"traceEvents":{}})", R"({"a":"traceEvents)", R"({"x":["traceEvents",[{}]]})"})
        EXPECT_FALSE(event_list(none)) << none;
}

TEST(EventWindows, are_parsed_to_the_same_events_as_the_whole) {
    for (const char* between : {",", ",\n  ", " , \n"}) {
        const std::string list = events(40, between);
        expect_same_in_pieces("[" + list + "]");
        expect_same_in_pieces("{" + kDevices + ",\"traceEvents\":[" + list + R"(],"distributedInfo":{"rank":3}})");
        expect_same_in_pieces("{\"traceEvents\":[\n  " + list + "\n  ],\n" + kDevices + "}");
    }
}

TEST(EventWindows, that_would_end_inside_a_string_or_an_argument_are_not_taken) {
    expect_same_in_pieces("[" + events(40, ",", R"(f<{a},{b},{c}>)") + "]");
    expect_same_in_pieces("[" + events(40, ",", R"(quote \" and },{ )") + "]");
    std::string nested = events(20, ",");
    for (int i = 0; i < 20; ++i)
        nested += fmt::format(R"(,{{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":9{},"dur":1,)"
                              R"("args":{{"list":[{{"a":1}},{{"ph":"X","cat":"kernel","ts":1,"dur":1}},{{"b":2}}]}}}})",
                              i);
    expect_same_in_pieces("[" + nested + "]");
}

TEST(EventWindows, keep_an_event_that_began_in_an_earlier_one) {
    std::string text = R"([{"ph":"B","cat":"cpu_op","name":"outer \"x\"","pid":1,"tid":1,"ts":1},)" + events(40, ",") +
                       R"(,{"ph":"E","pid":1,"tid":1,"ts":99999}])";
    expect_same_in_pieces(text);
    EXPECT_NE(read(text, 100).find("outer \"x\""), std::string::npos);
}

TEST(EventWindows, of_a_damaged_text_give_what_the_whole_gives) {
    const std::string text = "{" + kDevices + ",\"traceEvents\":[" + events(30, ",\n") + "]}";
    for (const std::size_t end : {text.size() - 1, text.size() - 60, text.size() / 2, text.size() / 3})
        expect_same_in_pieces(text.substr(0, end));
    std::string broken = text;
    broken.replace(broken.find("\"ts\":1500"), 9, "\"ts\":\"no\"");
    expect_same_in_pieces(broken);
    broken = text;
    broken[broken.find("aten", text.size() / 2)] = '\xff';
    expect_same_in_pieces(broken);
    broken = text;
    broken.erase(broken.find('}', text.size() / 2), 1);
    expect_same_in_pieces(broken);
    broken = text;
    broken.replace(broken.find("\"A\""), 3,
                   "\"A\":1\"");  // before the list, where a parser that skips may not come to it
    expect_same_in_pieces(broken);
}

TEST(EventWindows, of_real_traces_give_what_the_whole_gives) {
    const std::filesystem::path folder = GAMBREL_SHARED_DATA "/traces";
    if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
    for (const char* name : {"Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "worker0.1623143566756.pt.trace.json.gz"}) {
        const auto bytes = base_detail::FileBytes::open((folder / name).string());
        ASSERT_TRUE(bytes) << to_text(bytes.error());
        const auto whole = read_kineto(bytes->view(), "t", kWhole), pieces = read_kineto(bytes->view(), "t", 10'000);
        ASSERT_TRUE(whole && pieces);
        EXPECT_EQ(described(*pieces), described(*whole)) << name;
    }
}

}  // namespace
}  // namespace gambrel::trace_detail
