// Are bytes that a trace's kernels are given those that counters saw, as far as the model says? Launches of which
// counters are known are written as a trace has them: the operator's shapes, the kernel's name, its grid.
#include <gambrel/trace.hpp>

#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file_bytes.hpp"

namespace gambrel {
namespace {

using CounterRow = std::map<std::string, std::string, std::less<>>;

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> out{""};
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else
            out.back() += c;
    }
    return out;
}

// Rows of single kernels of at least 20 us: shorter ones are mostly latency.
std::vector<CounterRow> rows_of(const std::string& file) {
    const auto bytes = base_detail::FileBytes::open(std::string(GAMBREL_SHARED_DATA) + "/measured/" + file);
    std::vector<CounterRow> out;
    if (!bytes) return out;
    std::string_view text = bytes->view();
    std::vector<std::string> head;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto cells = cells_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (head.empty()) {
            head = cells;
            continue;
        }
        CounterRow row;
        for (std::size_t i = 0; i < std::min(head.size(), cells.size()); ++i) row[head[i]] = cells[i];
        if (row["scope"] == "kernel" && std::stod(row["time_us"]) >= 20) out.push_back(std::move(row));
    }
    return out;
}

std::int64_t number(const CounterRow& row, std::string_view column) {
    const auto it = row.find(column);
    return it == row.end() || it->second.empty() ? 0 : std::stoll(it->second);
}

std::string launch(std::size_t i, const std::string& op, const std::string& arguments, const CounterRow& row,
                   std::int64_t ctas_x, std::int64_t ctas_y, std::int64_t ctas_z, std::int64_t threads) {
    const std::size_t at = 1'000'000 * i;
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":100,"args":{{{}}}}},)",
                       op, at, arguments) +
           fmt::format(
               R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"correlation":{}}}}},)",
               at + 10, i + 1) +
           fmt::format(
               R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7,"correlation":{},"grid":[{},{},{}],"block":[{},1,1]}}}},)",
               row.at("kernel"), at + 200, row.at("time_us"), i + 1, ctas_x, ctas_y, ctas_z, threads);
}

struct MeanErrors {
    std::array<double, 3> of{};  // L1, L2, DRAM
    std::size_t rows = 0, modelled = 0;
};

double result_bytes(const CounterRow& row) {
    const auto n = [&](std::string_view column) { return double(number(row, column)); };
    if (row.contains("M")) return 4 * n("M") * n("N");
    return 4 * n("N") * n("K") * (n("H") + 2 * n("pad_h") - n("R") + 1) * (n("W") + 2 * n("pad_w") - n("S") + 1);
}

MeanErrors errors_of(const std::vector<CounterRow>& rows, std::string events) {
    events.back() = ']';
    const auto timeline = read_timeline(
        R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB"}],"traceEvents":[)" + events + "}", "t");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    const auto run = to_run(*timeline);
    EXPECT_TRUE(run) << to_text(run.error());
    MeanErrors out;
    out.rows = rows.size();
    constexpr std::array<std::pair<Level, const char*>, 3> kLevels = {
        {{Level::l1, "l1_bytes"}, {Level::l2, "l2_bytes"}, {Level::dram, "dram_bytes"}}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Kernel& k = run->kernels[i];
        if (k.time_class.str() != "modelled") continue;
        ++out.modelled;
        for (std::size_t level = 0; level < 3; ++level) {
            double measured = std::stod(rows[i].at(kLevels[level].second));
            // A result that stays in half of L2 is written after the kernel has ended, and its counters do not see it;
            // in a program, which a trace is of, it is written all the same.
            if (level == 2 && result_bytes(rows[i]) < 20e6) measured += result_bytes(rows[i]);
            out.of[level] += std::abs(k.bytes[kLevels[level].first]->value.value() / measured - 1);
        }
    }
    for (double& sum : out.of) sum /= double(std::max<std::size_t>(1, out.modelled));
    testing::Test::RecordProperty("rows", static_cast<int>(out.modelled));
    testing::Test::RecordProperty(
        "percent", fmt::format("{:.1f} {:.1f} {:.1f}", 100 * out.of[0], 100 * out.of[1], 100 * out.of[2]));
    return out;
}

TEST(TraceCounters, products_move_the_bytes_that_counters_saw) {
    const auto all = rows_of("gemm_traffic_a100.csv.gz");
    if (all.empty()) GTEST_SKIP() << "no shared data";
    std::vector<CounterRow> rows;
    std::string events;
    for (const CounterRow& row : all) {
        const auto m = number(row, "M"), n = number(row, "N"), k = number(row, "K");
        const auto along_n = number(row, "tile_m"), along_m = number(row, "tile_n");
        if (along_n <= 0 || along_m <= 0) continue;
        const auto ctas = [](std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; };
        events +=
            launch(rows.size(), "aten::mm",
                   fmt::format(R"("Input Dims":[[{},{}],[{},{}]],"Input type":["float","float"])", m, k, k, n), row,
                   ctas(n, along_n), ctas(m, along_m), std::max<std::int64_t>(1, number(row, "split_k")), 128);
        rows.push_back(row);
    }
    const MeanErrors e = errors_of(rows, events);
    EXPECT_GT(e.modelled * 100, e.rows * 95);
    EXPECT_LT(e.of[0], 0.20);
    EXPECT_LT(e.of[1], 0.20);
    EXPECT_LT(e.of[2], 0.20);
}

TEST(TraceCounters, convolutions_move_the_bytes_that_counters_saw) {
    const auto all = rows_of("conv_traffic_a100.csv.gz");
    if (all.empty()) GTEST_SKIP() << "no shared data";
    std::vector<CounterRow> rows;
    std::string events;
    for (const CounterRow& row : all) {
        if (row.at("kernel").empty() || row.at("algorithm").find("GEMM") == std::string::npos) continue;
        const auto n = [&](std::string_view column) { return number(row, column); };
        events += launch(
            rows.size(), "aten::cudnn_convolution",
            fmt::format(
                R"("Input Dims":[[{},{},{},{}],[{},{},{},{}],[],[],[],[],[],[],[]],"Input type":["float","float","","","","","","",""],)"
                R"("Concrete Inputs":["","","[{}, {}]","[{}, {}]","[{}, {}]","{}","False","False","False"])",
                n("N"), n("C"), n("H"), n("W"), n("K"), n("C") / std::max<std::int64_t>(1, n("groups")), n("R"), n("S"),
                n("pad_h"), n("pad_w"), n("stride_h"), n("stride_w"), n("dilation_h"), n("dilation_w"), n("groups")),
            row, std::max<std::int64_t>(1, n("threads") / 256), 1, 1, 256);
        rows.push_back(row);
    }
    const MeanErrors e = errors_of(rows, events);
    EXPECT_GT(e.modelled * 100, e.rows * 95);
    EXPECT_LT(e.of[0], 0.05);
    EXPECT_LT(e.of[1], 0.10);
    EXPECT_LT(e.of[2], 0.10);
}

}  // namespace
}  // namespace gambrel
