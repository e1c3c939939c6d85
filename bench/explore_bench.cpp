// How many (design, layer) evaluations a second: the mapping chosen again among all tiles that fit (fastest), or the
// library's one (rule); and the same through run_parts on one and on two threads, whose ratio is what sharing costs.
#include <benchmark/benchmark.h>

#include "explore/search.hpp"

namespace {

using namespace gambrel;

Workload resnet() {
    Workload w;
    w.add(*builtin_network("resnet152", {256, 128}), 1, true);
    return w;
}
const Machine& titan() { return *find_in_catalogue("titan-xp"); }
const char* const kSpace =
    "sms=1:4,macs=1:4,l1.bandwidth=1:4,l2.bandwidth=1:4,l2.capacity=1:8,dram.bandwidth=1:4,registers=1:4,shared=1:4,"
    "clock=0.8:1.5";

void one_thread(benchmark::State& state, Tiles tiles) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), resnet(), tiles);
    const auto space = *parse_space(kSpace, titan(), *model_inputs(titan()));
    auto scratch = e.scratch();
    std::uint64_t index = 0;
    for (auto _ : state) benchmark::DoNotOptimize(e.time(space.at(index = (index + 7'919) % space.size()), scratch));
    state.counters["evaluations"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(e.workload().items.size()),
                           benchmark::Counter::kIsRate);
}
void BM_Fastest(benchmark::State& state) { one_thread(state, Tiles::fastest); }
void BM_Rule(benchmark::State& state) { one_thread(state, Tiles::rule); }
BENCHMARK(BM_Fastest);
BENCHMARK(BM_Rule);

void BM_Parts(benchmark::State& state) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), resnet());
    const auto space = *parse_space(kSpace, titan(), *model_inputs(titan()));
    SearchOptions options;
    options.search = Search::random;
    options.samples = 20'000;
    const Exploration x(e, space, default_costs(), options);
    for (auto _ : state)
        run_parts(x, {0, x.parts()}, static_cast<int>(state.range(0)), false,
                  [](std::uint64_t, const Exploration::Part&) { return true; });
    state.counters["evaluations"] = benchmark::Counter(
        static_cast<double>(state.iterations()) * 20'000 * static_cast<double>(e.workload().items.size()),
        benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Parts)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
