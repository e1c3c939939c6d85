// How fast the CSV readers run over 64 MB in memory, beside two limits taken in the same run: copying the text, and
// finding its line ends. The texts have the columns, names and numbers of real logs (15 metrics; one metric; --page
// raw).
#include <cstring>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "ingest/readers.hpp"

namespace {

using namespace gambrel::ingest_detail;

constexpr std::size_t kSize = std::size_t{64} << 20;
constexpr const char* kKernel =
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float>>, at::detail::Array<char *, (int)3>>(int, T2, T3) #";

const MetricSet& metrics() {
    static const MetricSet set = [] {
        MetricSet m;
        for (const char* name : {"dram__bytes.sum", "l1tex__t_bytes.sum", "lts__t_bytes.sum", "sm__cycles_elapsed.avg",
                                 "sm__cycles_elapsed.avg.per_second", "sm__inst_executed_pipe_tensor.sum"}) {
            m.add(name);
        }
        for (const char p : {'d', 'f', 'h'}) {
            for (const char* op : {"add", "mul", "fma"})
                m.add(fmt::format("sm__sass_thread_inst_executed_op_{}{}_pred_on.sum", p, op));
        }
        return m;
    }();
    return set;
}

std::string rows_text(std::size_t metrics_per_launch) {
    std::string text =
        "==PROF== Connected to process 552977 (python3.11)\n\"ID\",\"Process ID\",\"Process Name\",\"Host "
        "Name\",\"Kernel Name\",\"Context\","
        "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
        "Unit\",\"Metric Value\"\n";
    for (std::size_t launch = 0; text.size() < kSize; ++launch) {
        for (std::size_t m = 0; m < metrics_per_launch; ++m) {
            text += fmt::format(
                "\"{}\",\"552977\",\"python3.11\",\"127.0.0.1\",\"{}{}\",\"1\",\"7\",\"(128, 1, 1)\",\"({}, 80, "
                "1)\",\"0\","
                "\"8.0\",\"Command line profiler metrics\",\"{}\",\"byte\",\"{},{:03},{:03}\"\n",
                launch, kKernel, launch % 97, 1 + launch % 31, metrics().name(static_cast<MetricId>(m)),
                1 + launch % 900, launch % 1000, m);
        }
    }
    return text;
}

std::string wide_text() {
    constexpr std::size_t kColumns = 464;  // as the raw pages of B200 have; 15 are wanted
    std::string text = "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\"",
                units = "\"\",\"\",\"\",\"\",\"\",\"\"";
    for (std::size_t m = 0; m < kColumns; ++m) {
        text += m % 31 == 0 && m / 31 < metrics().size()
                    ? fmt::format(",\"{}\"", metrics().name(static_cast<MetricId>(m / 31)))
                    : fmt::format(",\"sm__inst_executed_pipe_{}.sum\"", m);
        units += ",\"inst\"";
    }
    text += "\n" + units + "\n";
    for (std::size_t launch = 0; text.size() < kSize; ++launch) {
        text += fmt::format("\"{}\",\"552977\",\"{}{}\",\"(128, 1, 1)\",\"(1, 80, 1)\",\"8.0\"", launch, kKernel,
                            launch % 97);
        for (std::size_t m = 0; m < kColumns; ++m)
            text += m % 3 == 0 ? fmt::format(",\"{},{:03}\"", m, launch % 1000) : ",\"0\"";
        text += '\n';
    }
    return text;
}

const std::string& text_of(std::int64_t kind) {
    static const std::string many = rows_text(15), one = rows_text(1), wide = wide_text();
    return kind == 0 ? many : kind == 1 ? one : wide;
}
constexpr const char* kNames[] = {"15 metrics per launch", "1 metric per launch", "raw page"};

void finish(benchmark::State& state) {
    state.SetLabel(kNames[state.range(0)]);
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text_of(state.range(0)).size()));
}

void read_csv(benchmark::State& state) {
    const std::string& text = text_of(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(read_ncu_csv(text, {"bench.csv", metrics(), {}}));
    finish(state);
}
void recognise(benchmark::State& state) {
    const std::string& text = text_of(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(is_ncu_csv(text));
    state.SetLabel(kNames[state.range(0)]);
}
void copy(benchmark::State& state) {
    const std::string& text = text_of(state.range(0));
    std::string to(text.size(), ' ');
    for (auto _ : state) {
        std::memcpy(to.data(), text.data(), text.size());
        benchmark::ClobberMemory();
    }
    finish(state);
}
void find_line_ends(benchmark::State& state) {
    const std::string& text = text_of(state.range(0));
    for (auto _ : state) {
        std::size_t lines = 0;
        for (const char *at = text.data(), *end = at + text.size();
             (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr;
             ++at) {
            ++lines;
        }
        benchmark::DoNotOptimize(lines);
    }
    finish(state);
}

BENCHMARK(read_csv)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(find_line_ends)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(copy)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(recognise)->Arg(0)->Unit(benchmark::kMicrosecond);

}  // namespace
