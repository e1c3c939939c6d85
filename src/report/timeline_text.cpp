#include "report/timeline_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "chart/text.hpp"
#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

using namespace chart_detail;

std::string time_text(std::uint64_t ns) { return to_text(Seconds{static_cast<double>(ns) * 1e-9}, 4); }

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::string{} : fmt::format("{:.1f}", 100 * double(part) / double(whole));
}

std::string_view meaning(TimeClass c) {
    switch (c) {
        case TimeClass::modelled:
            return "work and bytes by the model";
        case TimeClass::unmodelled:
            return "listed below with reasons";
        case TimeClass::before_capture:
            return "its launch is not in the trace";
        case TimeClass::graph:
            return "launched by a CUDA graph, shapes unknown";
        case TimeClass::communication:
            return "between GPUs";
        case TimeClass::copy:
        case TimeClass::memset:
            break;
    }
    return "";
}

}  // namespace

std::string timeline_text(const TimelineSummary& t, const TextStyle& style) {
    constexpr std::size_t kMost = 8;
    Table table(
        {{"GPU time", false, 100, 14}, {"time", true, 90}, {"%", true, 80}, {"events", true, 60}, {"", false, 20}});
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        const auto c = static_cast<TimeClass>(i);
        if (t.of(c).events == 0) continue;
        table.add({{std::string(name(c)), time_text(t.of(c).ns), share_text(t.of(c).ns, t.gpu_ns),
                    count_text(t.of(c).events), std::string(meaning(c))},
                   "",
                   {}});
    }
    std::uint64_t events = 0;
    for (const auto& c : t.classes) events += c.events;
    table.total = {"total", time_text(t.gpu_ns), share_text(t.gpu_ns, t.gpu_ns), count_text(events), ""};
    std::string out = terminal_text(table, style);
    const auto add = [&](const std::string& text) {
        for (const auto& line : wrapped(printable(text, !style.unicode), style.width, 2)) out += line + "\n";
    };
    std::string spans = fmt::format("from first to last {}, of it idle {}", time_text(t.wall_ns), time_text(t.idle_ns));
    if (t.wall_ns > 0) spans += fmt::format(" ({} %)", share_text(t.idle_ns, t.wall_ns));
    if (t.launch_bound_ns > 0)
        spans += fmt::format(", {} of that because the launch came late", time_text(t.launch_bound_ns));
    if (t.of(TimeClass::communication).events > 0)
        spans += fmt::format("; exposed communication {}", time_text(t.exposed_communication_ns));
    if (t.ranks > 1) spans += fmt::format("; sums over {} ranks", t.ranks);
    add(spans);
    for (std::size_t i = 0; i < std::min(kMost, t.unmodelled.size()); ++i)
        add(fmt::format("  not modelled: {} {} ({} %): {}", time_text(t.unmodelled[i].ns),
                        short_name(t.unmodelled[i].op.str(), 60), share_text(t.unmodelled[i].ns, t.gpu_ns),
                        t.unmodelled[i].reason.str()));
    if (t.unmodelled.size() > kMost)
        add(fmt::format("  ... {} more are not modelled; --json has all", t.unmodelled.size() - kMost));
    return out;
}

}  // namespace gambrel::report_detail
