// A fixed amount of one kind of work, for counting instructions: bench/instructions.py runs it under callgrind with two
// amounts and divides the difference. Times of a shared machine differ from run to run; these counts do not.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gambrel/sim.hpp>

#include "explore/search.hpp"

namespace {

using namespace gambrel;

// One layer mapped and predicted from nothing.
std::uint64_t predictions(std::uint64_t amount, const char* gpu_name, Precision precision) {
    const Machine& gpu = *find_in_catalogue(gpu_name);
    const ModelInputs h = *model_inputs(gpu);
    std::vector<Layer> layers;
    for (const Layer& layer : merged(with_precision(*builtin_network("resnet50", {.batch = 32}), precision).layers))
        if (mapping_for(layer, gpu).family == KernelFamily::tiled) layers.push_back(layer);
    double sum = 0;
    for (std::uint64_t i = 0; i < amount; ++i) {
        const Layer& layer = layers[i % layers.size()];
        const Mapping mapping = mapping_for(layer, gpu, h.limits);
        sum += predict(layer, mapping, occupancy(h.limits, mapping), h).time.value();
    }
    return sum > 0 ? amount : 0;
}

// One prepared layer on one design, as `gambrel explore` evaluates it.
std::uint64_t evaluations(std::uint64_t designs, Tiles tiles) {
    const Machine& gpu = *find_in_catalogue("titan-xp");
    Workload workload;
    workload.add(*builtin_network("resnet152", {256, 128}), 1, true);
    const DesignEvaluator evaluator(gpu, *model_inputs(gpu), workload, tiles);
    // The SMs stay, so that what is prepared for another number of them is not counted.
    const auto space = *parse_space(
        "macs=1:4,l1.bandwidth=1:4,l2.bandwidth=1:4,l2.capacity=1:8,dram.bandwidth=1:4,registers=1:4,shared=1:4,"
        "clock=0.8:1.5",
        gpu, *model_inputs(gpu));
    auto scratch = evaluator.scratch();
    double sum = 0;
    // As many at a time as a part of a search has.
    std::vector<Factors> factors;
    std::vector<double> times;
    for (std::uint64_t i = 0; i < designs; ++i) {
        factors.push_back(space.at(i * 7'919 % space.size()));
        if (factors.size() < 512 && i + 1 < designs) continue;
        times.resize(factors.size());
        evaluator.times(factors, scratch, times);
        for (const double time : times) sum += time;
        factors.clear();
    }
    return sum > 0 ? designs * evaluator.workload().items.size() : 0;
}

// One 32-byte sector through L1 and, where it misses, L2 and DRAM.
std::uint64_t sectors(std::uint64_t filters) {
    const Machine& gpu = *find_in_catalogue("v100");
    Layer layer;
    layer.op = Convolution{.n = 4,
                           .c = 64,
                           .h = 28,
                           .w = 28,
                           .k = static_cast<std::int64_t>(filters),
                           .r = 3,
                           .s = 3,
                           .pad_top = 1,
                           .pad_bottom = 1,
                           .pad_left = 1,
                           .pad_right = 1};
    SimulationOptions options;
    options.threads = 1;
    const auto simulated = simulate(layer, gpu, mapping_for(layer, gpu), options);
    return simulated ? static_cast<std::uint64_t>(simulated->total().l1().value() / 32) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 2 ? argv[1] : "";
    const std::uint64_t amount = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    std::uint64_t done = 0;
    if (what == "fp32_prediction") done = predictions(amount, "v100", Precision::fp32);
    if (what == "bf16_prediction") done = predictions(amount, "h100", Precision::bf16);
    if (what == "evaluation_of_fastest_tile") done = evaluations(amount, Tiles::fastest);
    if (what == "evaluation_of_one_tile") done = evaluations(amount, Tiles::rule);
    if (what == "simulated_sector") done = sectors(amount);
    fmt::print("{}\n", done);
    return done > 0 ? 0 : 2;
}
