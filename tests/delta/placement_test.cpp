// Is a bound of a time never above it, on any design, and near enough to it to be of use?
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "delta/at_once.hpp"

namespace gambrel {
namespace {

// Everything that a search over designs changes and a placement is not asked for.
DesignRates other_rates(const ModelInputs& h, std::mt19937& random) {
    std::uniform_real_distribution<double> factor(0.5, 4);
    DesignRates r;
    r.macs = factor(random);
    r.clock = h.clock * factor(random);
    r.schedulers = h.schedulers * r.macs;
    r.fed = h.fed * factor(random);
    r.shared_width = h.shared_width * factor(random);
    r.l1_width = h.l1_width * factor(random);
    r.l2_bandwidth = h.l2_bandwidth * factor(random);
    r.dram_bandwidth = h.dram_bandwidth * factor(random);
    return r;
}
ModelInputs with_rates(ModelInputs h, const DesignRates& r) {
    for (FlopPerCycle& rate : h.flop_per_cycle) rate *= r.macs;
    h.matrix_power.fed *= r.macs * (r.clock / h.clock);  // a design has the power that its SMs want
    h.schedulers = r.schedulers;
    h.clock = r.clock;
    h.fed = r.fed;
    h.shared_width = r.shared_width;
    h.l1_width = r.l1_width;
    h.l2_bandwidth = r.l2_bandwidth;
    h.dram_bandwidth = r.dram_bandwidth;
    return h;
}
Designs designs_of(const ModelInputs& start, const std::vector<DesignRates>& rates) {
    Designs designs{&start, start.sms, {}};
    for (std::size_t i = 0; i < kAtOnce; ++i) designs.rates[i] = &rates[i];
    return designs;
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
        std::vector<DesignRates> rates;
        for (std::size_t i = 0; i < kAtOnce; ++i) rates.push_back(other_rates(start, random));
        const UnitTimes units = unit_times(designs_of(start, rates), placement.least.pipe);
        PerDesign bounds;
        least_times(placement.least, {&units, 1}, &bounds);
        for (std::size_t i = 0; i < kAtOnce; ++i) {
            const ModelInputs h = with_rates(start, rates[i]);
            const double time = predicted_time(prepared, fits, h, placement.basis).value(), least = bounds[i];
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

// Designs that stand side by side in the lanes of vectors, of every width that this processor has.
TEST_P(LeastTimes, designs_at_once_have_the_times_of_each) {
    using namespace delta_detail;
    std::vector<AtOnceFunctions> widths{at_once_in_lanes<2>()};
#if defined(__x86_64__)
    if (at_once_avx2() && __builtin_cpu_supports("avx2")) widths.push_back(*at_once_avx2());
    if (at_once_avx512() && __builtin_cpu_supports("avx512dq")) widths.push_back(*at_once_avx512());
#endif
    const Machine& gpu = *find_in_catalogue(GetParam().gpu);
    const ModelInputs start = *model_inputs(gpu);
    std::mt19937 random(2);
    for (const Layer& layer : layers_of(GetParam().network, GetParam().precision)) {
        const Mapping mapping = mapping_for(layer, gpu);
        const Occupancy fits = occupancy(gpu, mapping);
        if (fits.ctas_per_sm == 0 && mapping.family == KernelFamily::tiled) continue;
        const PreparedLayer prepared = prepare(layer, mapping);
        const Placement placement = placed(prepared, fits, start);
        std::vector<DesignRates> rates;
        for (std::size_t i = 0; i < kAtOnce; ++i) rates.push_back(other_rates(start, random));
        const Designs designs = designs_of(start, rates);
        std::optional<PerDesign> first;
        for (const AtOnceFunctions& functions : widths) {
            PerDesign times, least;
            UnitTimes units;
            functions.units(designs, placement.least.pipe, units);
            functions.least(placement.least, {&units, 1}, &least);
            if (!first) first = least;
            EXPECT_EQ(least, *first) << layer.name;
            if (const auto* tiled = std::get_if<LaunchCounts>(&placement.basis))
                functions.tiled(*tiled, designs, times);
            else if (const auto* streaming = std::get_if<StreamingCounts>(&placement.basis))
                functions.streaming(*streaming, designs, times);
            else
                continue;
            for (std::size_t i = 0; i < kAtOnce; ++i)
                ASSERT_EQ(times[i], predict(prepared, fits, with_rates(start, rates[i])).time.value()) << layer.name;
        }
    }
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
