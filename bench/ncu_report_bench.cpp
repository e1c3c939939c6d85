// How fast a report of 330 MB in the page cache is read and analysed, beside two limits: touching every cache line of
// the mapped file, and a bare walk over the length fields that builds nothing.
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <unistd.h>
#include <gambrel/ingest.hpp>
#include <gambrel/roofline.hpp>

#include "base/file_bytes.hpp"
#include "big_report.hpp"
#include "ingest/ncu_container.hpp"
#include "ingest/readers.hpp"

namespace {

using namespace gambrel::ingest_detail;
using gambrel::base_detail::FileBytes;

constexpr std::size_t kSize = 330'000'000;

// Of real reports the one with the most launches, 154, and so with the most metrics per byte: the hardest to read fast.
constexpr const char* kReport = GAMBREL_SHARED_DATA "/ncu_rep/bwd29__self-join-MiSTIC--profile.ncu-rep";

class BigReport {
public:
    BigReport() : path_((std::filesystem::temp_directory_path() / file_name()).string()) {
        gambrel::bench::write_big_report(kReport, path_, kSize);
    }
    ~BigReport() { std::filesystem::remove(path_); }
    BigReport(const BigReport&) = delete;
    BigReport& operator=(const BigReport&) = delete;

    static const std::string& path() {
        static const BigReport report;
        return report.path_;
    }

private:
    static std::string file_name() { return "gambrel_bench_" + std::to_string(::getpid()) + ".ncu-rep"; }
    std::string path_;
};

FileBytes open_big() {
    auto file = FileBytes::open(BigReport::path());
    if (!file) throw std::runtime_error(to_text(file.error()));
    return std::move(*file);
}

MetricSet wanted_metrics() {
    MetricSet metrics;
    for (const char* name : {"gpu__time_duration.sum",
                             "dram__bytes.sum",
                             "dram__bytes_read.sum",
                             "dram__bytes_write.sum",
                             "lts__t_bytes.sum",
                             "l1tex__t_bytes.sum",
                             "sm__cycles_elapsed.avg.per_second",
                             "smsp__cycles_elapsed.avg.per_second",
                             "dram__bytes.sum.per_second",
                             "dram__bytes.sum.peak_sustained",
                             "dram__cycles_elapsed.avg.per_second",
                             "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
                             "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed",
                             "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
                             "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed",
                             "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed",
                             "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed",
                             "sm__inst_executed_pipe_tensor.sum",
                             "lts__lts2xbar_cycles_active.sum",
                             "l1tex__lsu_writeback_active.sum",
                             "device__attribute_multiprocessor_count",
                             "device__attribute_clock_rate",
                             "device__attribute_l2_cache_size",
                             "launch__registers_per_thread"})
        metrics.add(name);
    return metrics;
}

void count(benchmark::State& state, std::size_t bytes) {
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void touch_every_line(benchmark::State& state) {
    std::size_t size = 0;
    for (auto _ : state) {
        const FileBytes file = open_big();
        size = file.view().size();
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < size; i += 64) sum += static_cast<unsigned char>(file.view()[i]);
        benchmark::DoNotOptimize(sum);
    }
    count(state, size);
}

void bare_walk_of_every_metric(benchmark::State& state) {
    std::size_t size = 0;
    std::uint64_t metrics = 0;
    for (auto _ : state) {
        const FileBytes file = open_big();
        size = file.view().size();
        metrics = 0;
        DamageLog damage("", file.view());
        std::uint64_t ids = 0;
        for (const NcuItem& item : walk_ncu_container(file.view(), 10, damage).results) {
            protozero::pbf_reader result(item.bytes.data(), item.bytes.size());
            while (result.next(13, protozero::pbf_wire_type::length_delimited)) {
                auto metric = result.get_message();
                if (metric.next(1, protozero::pbf_wire_type::varint)) ids += metric.get_uint64();
                ++metrics;
            }
        }
        benchmark::DoNotOptimize(ids);
    }
    count(state, size);
    state.counters["metrics"] = static_cast<double>(metrics);
}

void read_report(benchmark::State& state) {
    const MetricSet metrics = wanted_metrics();
    std::size_t size = 0, launches = 0, values = 0;
    for (auto _ : state) {
        const FileBytes file = open_big();
        size = file.view().size();
        const auto profile = read_ncu_report(file.view(), {"big.ncu-rep", metrics, {}});
        if (!profile || !profile->notes.empty()) return state.SkipWithError("the report was not read whole");
        launches = profile->launches.size();
        values = profile->values.size();
    }
    count(state, size);
    state.counters["launches"] = static_cast<double>(launches);
    state.counters["values"] = static_cast<double>(values);
}

// What `gambrel analyze` does with the file, from its path to the rows of kernels and their roofs.
void analyze_report(benchmark::State& state) {
    const std::string path = BigReport::path();
    const std::size_t size = std::filesystem::file_size(path);
    std::size_t rows = 0;
    for (auto _ : state) {
        auto run = gambrel::ingest({&path, 1});
        if (!run) return state.SkipWithError("the report was not read");
        rows = gambrel::analysis(std::move(*run), {}).rows.size();
    }
    count(state, size);
    state.counters["rows"] = static_cast<double>(rows);
}

// Once before timing: the first use of path() writes the file.
void opened_before(const benchmark::State&) { BigReport::path(); }

BENCHMARK(touch_every_line)->Unit(benchmark::kMillisecond)->UseRealTime()->Setup(opened_before);
BENCHMARK(bare_walk_of_every_metric)->Unit(benchmark::kMillisecond)->UseRealTime()->Setup(opened_before);
BENCHMARK(read_report)->Unit(benchmark::kMillisecond)->UseRealTime()->Setup(opened_before);
BENCHMARK(analyze_report)->Unit(benchmark::kMillisecond)->UseRealTime()->Setup(opened_before);

}  // namespace
