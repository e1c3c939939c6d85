// Is a sampled simulation within the bound that it states, and does one that was stopped say so?
#include <gambrel/sim.hpp>

#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/sample.hpp"

namespace gambrel {
namespace {

using namespace sim_detail;

// A small GPU, so that small layers have many waves.
Device small_device(std::uint64_t l2_lines) {
    Device device;
    device.caches = {.sms = 4, .l1_lines = 256, .l2_lines = l2_lines};
    device.ctas_per_sm = 2;
    device.contention = {.spread = 4.3, .memory = 20};
    return device;
}

std::vector<Layer> layers_to_sample() {
    const Convolution three = three_by_three(5, 32, 56, 56, 192);
    Convolution strided = three, dilated = three, seven = three;
    strided.stride_h = strided.stride_w = 2;
    strided.n = 16;
    dilated.dilation_h = dilated.dilation_w = 4;
    dilated.pad_top = dilated.pad_bottom = dilated.pad_left = dilated.pad_right = 4;
    seven = {.n = 10, .c = 4, .h = 112, .w = 112, .k = 64, .r = 7, .s = 7, .stride_h = 2, .stride_w = 2};
    std::vector<Layer> layers;
    for (const Convolution& v :
         {three, strided, dilated, seven, Convolution{.n = 10, .c = 64, .h = 56, .w = 56, .k = 96},
          Convolution{.n = 4, .c = 128, .h = 28, .w = 28, .k = 640}})
        for (const Pass pass : {Pass::fwd, Pass::dgrad}) layers.push_back(layer(v, pass));
    layers.push_back(layer(three, Pass::fwd, Precision::fp16));
    Layer gemm;
    gemm.op = Gemm{.m = 2048, .n = 1000, .k = 256};
    layers.push_back(gemm);
    Layer relu;
    relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 21, 0, 0, 0}, .written = 1 << 21};
    layers.push_back(relu);
    return layers;
}

TEST(Simulate, sample_is_within_the_bound_it_states) {
    int sampled = 0, tight = 0;
    for (const std::uint64_t l2_lines : {1024U, 6000U}) {
        for (const Layer& l : layers_to_sample()) {
            const Mapping mapping = mapping_for(l, v100());
            const auto stream = make_stream(l, mapping);
            const Device device = small_device(l2_lines);
            const RunResult whole = sim_detail::run(*stream, device, {.threads = 1});
            const RunResult sample = sim_detail::run(*stream, device, {.threads = 1, .sample = 4});
            EXPECT_EQ(whole.ctas_done, stream->ctas());
            if (sample.ctas_done == whole.ctas_done) {  // too short to be worth it: simulated in full
                EXPECT_EQ(sample.accesses, whole.accesses);
                EXPECT_EQ(sample.counts[0].dram_read, whole.counts[0].dram_read);
                continue;
            }
            ++sampled;
            if (sample.error.dram < 0.1) ++tight;
            Counts truth, estimate;
            for (const Counts& counts : whole.counts) truth += counts;
            for (const Counts& counts : sample.counts) estimate += counts;
            const auto expect_within = [&](std::uint64_t guess, std::uint64_t value, double bound, const char* level) {
                EXPECT_LE(std::abs(static_cast<double>(guess) - static_cast<double>(value)),
                          (bound + 1e-4) * static_cast<double>(guess))
                    << level << " of layer " << sampled << " with " << l2_lines << " lines, pass " << name(l.pass);
            };
            expect_within(estimate.l1_read + estimate.l1_write, truth.l1_read + truth.l1_write, sample.error.l1, "L1");
            expect_within(estimate.l2_read + estimate.l2_write, truth.l2_read + truth.l2_write, sample.error.l2, "L2");
            expect_within(estimate.dram_read + estimate.dram_write, truth.dram_read + truth.dram_write,
                          sample.error.dram, "DRAM");
        }
    }
    EXPECT_GE(sampled, 12);
    EXPECT_GE(tight, 6);  // a bound that always says 100 % is worth nothing
}

TEST(Simulate, stop_gives_what_was_done_and_says_so) {
    std::stop_source source;
    SimulationOptions options;
    options.stop = source.get_token();
    double last = 0;
    options.progress = [&](double fraction) {
        last = fraction;
        if (fraction > 0.3) source.request_stop();
    };
    const Layer l = layer({.n = 32, .c = 64, .h = 56, .w = 56, .k = 256});
    const Simulation s = simulated(l, options);
    EXPECT_TRUE(s.partial);
    EXPECT_GT(s.ctas_simulated, 0);
    EXPECT_LT(s.ctas_simulated, s.ctas);
    EXPECT_LT(last, 0.9);
}

}  // namespace
}  // namespace gambrel
