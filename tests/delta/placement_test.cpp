// Is a bound of a time never above it, on any design, and near enough to it to be of use?
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <gambrel/placement.hpp>

namespace gambrel {
namespace {

// Everything that a search over designs changes and a placement is not asked for.
ModelInputs with_other_rates(ModelInputs h, std::mt19937& random) {
    std::uniform_real_distribution<double> factor(0.5, 4);
    const double macs = factor(random), clock = factor(random);
    for (FlopPerCycle& rate : h.flop_per_cycle) rate *= macs;
    h.schedulers *= macs;
    h.clock *= clock;
    h.fed *= factor(random);
    h.matrix_power.fed *= macs * clock;  // a design has the power that its SMs want
    h.shared_width *= factor(random);
    h.l1_width *= factor(random);
    h.l2_bandwidth *= factor(random);
    h.dram_bandwidth *= factor(random);
    return h;
}

std::vector<Layer> layers_of(const char* network, Precision precision) {
    std::vector<Layer> layers = with_precision(training(*builtin_network(network, {.batch = 8})), precision).layers;
    // What the rules of a network do not ask for: parts that add up in order, other algorithms, times of calls.
    for (const char* algorithm : {"WINOGRAD", "IMPLICIT_GEMM", "FFT", "PRECOMP"}) {
        for (std::size_t i = 0, n = layers.size(); i < n && i < 20; ++i) {
            Layer other = layers[i];
            other.hints.algorithm = algorithm;
            other.hints.cold = i % 2 == 0;
            layers.push_back(std::move(other));
        }
    }
    return layers;
}

struct Question {
    const char *gpu, *network;
    Precision precision;
};
class LeastTimes : public testing::TestWithParam<Question> {};

TEST_P(LeastTimes, no_time_is_below_its_bound) {
    const Machine& gpu = *find_in_catalogue(GetParam().gpu);
    const ModelInputs start = *model_inputs(gpu);
    std::mt19937 random(1);
    double sum = 0;
    int count = 0;
    for (const Layer& layer : layers_of(GetParam().network, GetParam().precision)) {
        const Mapping mapping = mapping_for(layer, gpu);
        const Occupancy fits = occupancy(gpu, mapping);
        if (mapping.family != KernelFamily::tiled || fits.ctas_per_sm == 0) continue;
        const PreparedLayer prepared = prepare(layer, mapping);
        const Placement placement = placed(prepared, fits, start);
        for (int i = 0; i < 8; ++i) {
            const ModelInputs h = with_other_rates(start, random);
            const double time = predicted_time(prepared, fits, h, placement.basis).value();
            const double least = UnitTimes(h).least(placement.least).value();
            ASSERT_EQ(time, predict(prepared, fits, h).time.value()) << layer.name << " " << layer.hints.algorithm;
            ASSERT_LE(least, time) << layer.name << " " << layer.hints.algorithm;
            sum += least / time;
            ++count;
        }
    }
    ASSERT_GT(count, 0);
    // A tile that is a third slower than another is nearly always left out.
    EXPECT_GT(sum / count, 0.75);
}

INSTANTIATE_TEST_SUITE_P(
    All, LeastTimes,
    testing::Values(Question{"titan-xp", "resnet152", Precision::fp32}, Question{"v100", "resnet50", Precision::fp16},
                    Question{"k80", "alexnet-grouped", Precision::fp32}, Question{"t4", "bert-base", Precision::fp16},
                    Question{"a100", "resnet50", Precision::fp16}, Question{"h100", "bert-base", Precision::bf16}),
    [](const auto& question) {
        std::string name = question.param.gpu;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

}  // namespace
}  // namespace gambrel
