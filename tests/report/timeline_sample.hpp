// The analysis of an invented trace: ranks with streams that run the same four kinds of events, one after another.
#pragma once

#include "report/sample.hpp"

namespace gambrel::sample {

inline constexpr std::int64_t kTracePeriod = 12000;  // from the start of an event to that of the next [ns]

// `events` on each of `streams` streams of each of `ranks` ranks; the second half is the second step. Every thousandth
// event takes a thousand times as long, and all that follow wait for it.
inline Analysis traced(int ranks, int streams, int events) {
    struct Kind {
        Spec spec;
        TimeClass time_class;
        std::int64_t ns;
    };
    const std::vector<Kind> kinds = {
        {{"gemm_128x128", 1, 9e-6, 0, 6e8, 4e6, 3e6, 1e6, 1.3e9}, TimeClass::modelled, 9000},
        {{"elementwise<add>", 1, 5e-6, 1e6, 0, 4e6, 3.6e6, 3.5e6, 1.3e9}, TimeClass::modelled, 5000},
        {{"ncclDevKernel_AllReduce", 1, 11e-6, 0, 0, 0, 0, 0, 0}, TimeClass::communication, 11000},
        {{"Memcpy DtoD", 1, 2e-6, 0, 0, 0, 0, 1e6, 0}, TimeClass::copy, 2000}};
    Run run;
    run.title = "traced", run.machines = {v100_like()}, run.origin = Origin::modelled;
    run.timeline.emplace(), run.lanes.emplace();
    run.timeline->steps = 2, run.timeline->ranks = static_cast<std::uint64_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank)
        for (int stream = 0; stream < streams; ++stream) {
            const auto lane = static_cast<std::uint32_t>(run.lanes->lanes.size());
            run.lanes->lanes.push_back({Symbol(std::to_string(rank)), 0, 7 + stream});
            std::int64_t start = 0;
            for (int i = 0; i < events; ++i) {
                const Kind& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
                const std::int64_t ns = i % 1000 == 999 ? 1000 * kind.ns : kind.ns;
                Kernel k = kernel(kind.spec);
                k.rank = Symbol(std::to_string(rank)), k.time_class = Symbol(name(kind.time_class));
                k.time->value = Seconds{static_cast<double>(ns) * 1e-9};
                if (kind.time_class == TimeClass::communication) k.work = {};
                auto& sum = run.timeline->of(kind.time_class);
                sum.ns += static_cast<std::uint64_t>(ns), ++sum.events;
                run.timeline->gpu_ns += static_cast<std::uint64_t>(ns);
                run.lanes->events.push_back(
                    {k.name, start, ns, lane, i < events / 2 ? 0 : 1, kind.time_class, run.kernels.size()});
                run.kernels.push_back(std::move(k));
                start += std::max(kTracePeriod, ns + 1000);
            }
        }
    return analysis(std::move(run));
}

}  // namespace gambrel::sample
