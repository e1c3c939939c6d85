// Charts made by hand, with numbers whose places and units one can check in the head.
#pragma once

#include <limits>

#include <gambrel/chart.hpp>

namespace gambrel::sample {

// 10 TB/s up to 128 KiB, 1 TB/s beyond.
inline Chart sweep() {
    Chart chart;
    chart.title = "Bandwidth over working set: load", chart.subtitle = "Toy 100 · measured";
    chart.note = "Bars are 95 % intervals of the median.";
    chart.x = {"Working set", "B", true, true}, chart.y = {"Bandwidth", "B/s", true, false};
    ChartSeries series{"median of its samples", {}};
    for (double size = 16384; size <= 4194304; size *= 2) {
        const double rate = size <= 131072 ? 10e12 : 1e12;
        series.marks.push_back({size, rate, rate * 0.9, rate * 1.1, "9 samples"});
    }
    chart.series = {series};
    chart.guides = {{"L1 10 TB/s", 10e12, 16384, 131072, "L1"}, {"DRAM 1 TB/s", 1e12, 262144, 4194304, "DRAM"}};
    chart.limits = {{"L1 ends, 128 KiB", 131072, "L1"}};
    return chart;
}

// Two series, a chosen mark, a line that bears its name, and what cannot be drawn.
inline Chart front() {
    Chart chart;
    chart.title = "Speed-up against cost", chart.subtitle = "on Toy 100 · modelled";
    chart.x = {"Cost", "", false, false}, chart.y = {"Speed-up", "", false, false};
    chart.series = {
        {"front", {{1, 1, {}, {}, "a"}, {1.5, 2, {}, {}, "b"}, {2, 3, {}, {}, "c"}}},
        {"listed",
         {{1.6, 1.5, {}, {}, "cheapest: sms x2", true}, {1.2, std::numeric_limits<double>::infinity(), {}, {}, "bad"}},
         false},
        {"equal", {{1, 1, {}, {}, ""}, {2, 2, {}, {}, ""}}, true, {}, false}};
    return chart;
}

inline BarChart times() {
    BarChart chart;
    chart.title = "Bottlenecks before and after", chart.subtitle = "on Toy 100 · modelled";
    chart.note = "The time of each design by what it waits for.";
    chart.x = {"Time", "s", false, false};
    chart.parts = {"compute", "latency", "L1", "L2", "DRAM", "launch"};
    chart.bars = {{"start", "the machine as it is", {1e-3, 0, 0, 0, 3e-3, 0}},
                  {"fastest", "sms x2", {1e-3, 0, 0, 0, 1e-3, 0}, "2.00x, 2 ms"}};
    return chart;
}

inline BarChart elasticities() {
    BarChart chart;
    chart.title = "What matters", chart.subtitle = "on Toy 100 · modelled";
    chart.x = {"Elasticity", "", false, false};
    chart.parts = {"all networks", "alexnet"};
    chart.bars = {{"dram.bandwidth", "", {0.75, 1}}, {"sms", "", {0.25, -0.125}}};
    chart.stacked = false;
    return chart;
}

inline Table table() {
    Table table({{"design", false, 100, 8}, {"time", true, 90}, {"remark", false, 10}, {"empty", true, 50}});
    table.title = "Designs";
    table.notes = {"Two designs."};
    table.add({{"start", {"4 ms", 4e-3}, "as it is", ""}});
    table.add({{"fastest", {"2 ms", 2e-3}, "twice the SMs", ""}, "good", {"    sms x2"}});
    table.total = {"all", {"6 ms", 6e-3}, "", ""};
    return table;
}

}  // namespace gambrel::sample
