// How many sector accesses does the simulator do in a second of one core, and what limits it? And whole networks.
#include <benchmark/benchmark.h>

#include <random>

#include <gambrel/sim.hpp>

#include "sim/sector_cache.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::sim_detail;

// The limit: look-ups of lines in a cache. `distinct` lines, each with all four sectors.
void cache_touch(benchmark::State& state) {
    SectorCache cache(512, 16);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> lines(1 << 16);
    for (std::uint64_t& line : lines) line = random() % static_cast<std::uint64_t>(state.range(0));
    std::size_t i = 0;
    for (auto _ : state) {
        const std::uint64_t line = lines[i++ % lines.size()];
        benchmark::DoNotOptimize(cache.touch(line, cache.place_of(mixed(line)), kAllSectors, false));
    }
    state.counters["sectors/s"] =
        benchmark::Counter(4 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(cache_touch)->ArgName("lines")->Arg(256)->Arg(100000);

void layer(benchmark::State& state, const Convolution& v, Pass pass) {
    Layer l;
    l.op = v;
    l.pass = pass;
    const Machine& machine = *find_in_catalogue("v100-sxm2-16gb");
    const Mapping mapping = mapping_for(l, machine);
    double l1 = 0, l2 = 0;
    for (auto _ : state) {
        const Simulation s = simulate(l, machine, mapping, {.threads = 1}).value();
        l1 += s.total().l1().value() / 32;
        l2 += s.total().l2().value() / 32;
    }
    state.counters["L1 sectors/s"] = benchmark::Counter(l1, benchmark::Counter::kIsRate);
    state.counters["L1+L2 sectors/s"] = benchmark::Counter(l1 + l2, benchmark::Counter::kIsRate);
}
constexpr Convolution kSmall{.n = 1,
                             .c = 64,
                             .h = 28,
                             .w = 28,
                             .k = 128,
                             .r = 3,
                             .s = 3,
                             .pad_top = 1,
                             .pad_bottom = 1,
                             .pad_left = 1,
                             .pad_right = 1};
constexpr Convolution kThree{.n = 32,
                             .c = 64,
                             .h = 56,
                             .w = 56,
                             .k = 64,
                             .r = 3,
                             .s = 3,
                             .pad_top = 1,
                             .pad_bottom = 1,
                             .pad_left = 1,
                             .pad_right = 1};
constexpr Convolution kOne{.n = 32, .c = 256, .h = 56, .w = 56, .k = 64};
BENCHMARK_CAPTURE(layer, of_gpgpusim_213_s, kSmall, Pass::fwd)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(layer, conv3x3_fwd, kThree, Pass::fwd)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(layer, conv1x1_fwd, kOne, Pass::fwd)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(layer, conv3x3_dgrad, kThree, Pass::dgrad)->Unit(benchmark::kMillisecond);

// All convolution layers, equal ones once, on all cores.
void resnet152(benchmark::State& state) {
    const Network network = builtin_network("resnet152", {.batch = 32}).value();
    const Machine& machine = *find_in_catalogue("v100-sxm2-16gb");
    for (auto _ : state)
        for (const Layer& l : merged(network.layers))
            if (std::holds_alternative<Convolution>(l.op))
                benchmark::DoNotOptimize(simulate(l, machine, mapping_for(l, machine)));
}
BENCHMARK(resnet152)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
