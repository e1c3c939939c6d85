// How fast a trace of 200 MB in the page cache is read and modelled, beside a bare walk over its bytes. The goal is 1.5
// CPU seconds and 2.5 times the file's size in memory for all of it (`peak_bytes`).
#include <filesystem>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gambrel/trace.hpp>

#include "big_trace.hpp"

namespace {

using namespace gambrel;

constexpr std::size_t kSize = 200'000'000;
constexpr const char* kTrace = GAMBREL_SHARED_DATA "/traces/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz";

class BigTrace {
public:
    BigTrace() : path_((std::filesystem::temp_directory_path() / file_name()).string()) {
        bench::write_big_trace(kTrace, path_, kSize);
    }
    ~BigTrace() { std::filesystem::remove(path_); }
    BigTrace(const BigTrace&) = delete;
    BigTrace& operator=(const BigTrace&) = delete;

    static const std::string& path() {
        static const BigTrace trace;
        return trace.path_;
    }

private:
    static std::string file_name() { return "gambrel_bench_" + std::to_string(::getpid()) + ".json"; }
    std::string path_;
};

void touch_every_line(benchmark::State& state) {
    std::size_t size = 0;
    for (auto _ : state) {
        const auto file = base_detail::FileBytes::open(BigTrace::path());
        size = file->view().size();
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < size; i += 64) sum += static_cast<unsigned char>(file->view()[i]);
        benchmark::DoNotOptimize(sum);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(size) * state.iterations());
}

void read(benchmark::State& state) {
    for (auto _ : state) {
        const auto timeline = read_timeline(std::span(&BigTrace::path(), 1));
        if (!timeline) throw std::runtime_error(to_text(timeline.error()));
        state.counters["activities"] = static_cast<double>(timeline->activities.size());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(kSize) * state.iterations());
}

void read_and_model(benchmark::State& state) {
    for (auto _ : state) {
        const auto timeline = read_timeline(std::span(&BigTrace::path(), 1));
        if (!timeline) throw std::runtime_error(to_text(timeline.error()));
        const auto run = to_run(*timeline);
        if (!run) throw std::runtime_error(to_text(run.error()));
        benchmark::DoNotOptimize(run->kernels.data());
    }
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    state.counters["peak_bytes"] = static_cast<double>(used.ru_maxrss) * 1024;
    state.SetBytesProcessed(static_cast<std::int64_t>(kSize) * state.iterations());
}

BENCHMARK(touch_every_line)->Unit(benchmark::kMillisecond);
BENCHMARK(read)->Unit(benchmark::kMillisecond);
BENCHMARK(read_and_model)->Unit(benchmark::kMillisecond);

}  // namespace
