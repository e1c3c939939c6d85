#include "trace/spans.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gambrel::trace_detail {
namespace {

using Span = std::pair<std::int64_t, std::int64_t>;
using Spans = std::vector<Span>;  // sorted, none touches the next

// Adds a span whose start is not before any other's.
void extend(Spans& spans, std::int64_t start, std::int64_t end) {
    if (!spans.empty() && start <= spans.back().second)
        spans.back().second = std::max(spans.back().second, end);
    else
        spans.emplace_back(start, end);
}

std::uint64_t length(const Spans& spans) {
    std::int64_t sum = 0;
    for (const auto& [start, end] : spans) sum += end - start;
    return static_cast<std::uint64_t>(sum);
}

std::uint64_t overlap(const Spans& a, const Spans& b) {
    std::int64_t sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        sum += std::max<std::int64_t>(0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
        if (a[i].second < b[j].second)
            ++i;
        else
            ++j;
    }
    return static_cast<std::uint64_t>(sum);
}

struct Gpu {
    Spans busy, communication, computation;
    std::int64_t end = 0;
    std::uint64_t launch_bound = 0;
};

}  // namespace

void add_spans(const Timeline& timeline, const LaunchModel& model, TimelineSummary& sum) {
    std::map<std::pair<std::uint32_t, std::int32_t>, Gpu> gpus;  // by rank and number; ranks do not share a clock
    for (const Activity& a : timeline.activities) {
        const std::int64_t end = a.start_ns + a.duration_ns;
        Gpu& gpu = gpus[{a.rank, a.gpu}];
        // The GPU waited, and what it waited for had not been called for when it became idle.
        if (!gpu.busy.empty() && a.start_ns > gpu.end && a.launch_ns >= gpu.end)
            gpu.launch_bound += static_cast<std::uint64_t>(a.start_ns - gpu.end);
        gpu.end = gpu.busy.empty() ? end : std::max(gpu.end, end);
        extend(gpu.busy, a.start_ns, end);
        if (a.kind != Activity::Kind::kernel) continue;
        extend(model.is_communication(a.name) ? gpu.communication : gpu.computation, a.start_ns, end);
    }
    for (const auto& [key, gpu] : gpus) {
        const auto wall = static_cast<std::uint64_t>(gpu.busy.back().second - gpu.busy.front().first);
        sum.wall_ns += wall;
        sum.idle_ns += wall - length(gpu.busy);
        sum.exposed_communication_ns += length(gpu.communication) - overlap(gpu.communication, gpu.computation);
        sum.launch_bound_ns += gpu.launch_bound;
    }
}

}  // namespace gambrel::trace_detail
