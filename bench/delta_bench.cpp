// Layer predictions per second on one core, over every layer of the built-in networks and its gradients: the mapping by
// the rule, what fits on an SM, bytes and time. `allocations` counts operator new per prediction and must be 0.
#include <cstdlib>
#include <new>
#include <vector>

#include <benchmark/benchmark.h>
#include <gambrel/delta.hpp>

namespace {
std::size_t allocations = 0;
}
// Not inlined: the compiler would see malloc and delete, or new and free, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gambrel;

struct Setting {
    const char* gpu;
    Precision precision;
    bool matrices;  // without streaming and depthwise layers, which cost less
};
constexpr Setting kSettings[] = {{"v100-sxm2-16gb", Precision::fp32, false},
                                 {"v100-sxm2-16gb", Precision::fp32, true},
                                 {"h100-sxm", Precision::fp16, false},
                                 {"h100-sxm", Precision::fp16, true}};

std::vector<Layer> layers_of(const Setting& setting) {
    std::vector<Layer> layers;
    const Machine& gpu = *find_in_catalogue(setting.gpu);
    for (const BuiltinNetwork& each : builtin_networks()) {
        const Network network = training(*builtin_network(each.name, {.batch = 32}));
        for (const Layer& layer : merged(with_precision(network, setting.precision).layers))
            if (!setting.matrices || mapping_for(layer, gpu).family == KernelFamily::tiled) layers.push_back(layer);
    }
    return layers;
}

template <class Step>
void over_layers(benchmark::State& state, const Step& step) {
    const Setting& setting = kSettings[state.range(0)];
    const Machine& gpu = *find_in_catalogue(setting.gpu);
    const ModelInputs h = *model_inputs(gpu);
    const std::vector<Layer> layers = layers_of(setting);
    const std::size_t before = allocations;
    std::size_t predictions = 0;
    for (auto _ : state) {
        for (const Layer& layer : layers) step(layer, gpu, h);
        predictions += layers.size();
    }
    state.counters["allocations"] =
        static_cast<double>(allocations - before) / static_cast<double>(std::max<std::size_t>(1, predictions));
    state.SetItemsProcessed(static_cast<std::int64_t>(predictions));
    state.SetLabel(std::string(setting.gpu) + ' ' + std::string(name(setting.precision)) +
                   (setting.matrices ? ", GEMMs and convolutions" : ", all layers"));
}

void predictions(benchmark::State& state) {
    over_layers(state, [](const Layer& layer, const Machine& gpu, const ModelInputs& h) {
        const Mapping mapping = mapping_for(layer, gpu);
        benchmark::DoNotOptimize(predict(layer, mapping, occupancy(gpu, mapping), h).time.value());
    });
}
void mappings(benchmark::State& state) {
    over_layers(state, [](const Layer& layer, const Machine& gpu, const ModelInputs&) {
        const Mapping mapping = mapping_for(layer, gpu);
        benchmark::DoNotOptimize(occupancy(gpu, mapping).ctas_per_sm);
    });
}

BENCHMARK(predictions)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);
BENCHMARK(mappings)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
