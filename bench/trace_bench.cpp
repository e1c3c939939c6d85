// How fast a trace of 200 MB in the page cache is read and modelled, beside a bare walk over its bytes and one by
// simdjson. The goal is 1.5 CPU seconds and 2.5 times the file's size in memory for all of it (`peak_bytes`).
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <benchmark/benchmark.h>
#include <simdjson.h>
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

// The least that a reader of this library can do: every event, its name, category and times, and nothing kept but sums.
void simdjson_alone(benchmark::State& state) {
    namespace od = simdjson::ondemand;
    for (auto _ : state) {
        const auto text = simdjson::padded_string::load(BigTrace::path());
        if (text.error() != simdjson::SUCCESS) throw std::runtime_error("the trace cannot be loaded");
        od::parser parser;
        od::document document = parser.iterate(text.value_unsafe());
        std::unordered_map<std::string, double> sums;
        for (od::object event : document["traceEvents"].get_array()) {
            std::string_view name, phase, category;
            double duration = 0;
            for (od::field field : event) {
                const std::string_view key = field.unescaped_key();
                if (key == "ph")
                    phase = field.value().get_string();
                else if (key == "cat")
                    category = field.value().get_string();
                else if (key == "name")
                    name = field.value().get_string();
                else if (key == "dur" && field.value().get_double().get(duration) != simdjson::SUCCESS)
                    duration = 0;
            }
            if (phase == "X" && !category.empty()) sums[std::string(name)] += duration;
        }
        benchmark::DoNotOptimize(sums.size());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(kSize) * state.iterations());
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
BENCHMARK(simdjson_alone)->Unit(benchmark::kMillisecond);
BENCHMARK(read)->Unit(benchmark::kMillisecond);
BENCHMARK(read_and_model)->Unit(benchmark::kMillisecond);

}  // namespace
