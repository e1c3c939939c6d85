// The model against itself, on a sample of what `make sweep` runs over.
#include <gtest/gtest.h>

#include "delta/sweep.hpp"

namespace gambrel {
namespace {

TEST(Sweep, random_layers_on_all_gpus_break_no_invariant) {
    std::vector<test::SweptGpu> gpus;
    for (const Machine& machine : catalogue()) gpus.emplace_back(machine);
    test::RandomLayers layers(20240917);
    std::size_t pairs = 0, broken = 0;
    for (std::size_t at = 0; pairs < 20000; ++at) {
        const Layer layer = layers.next();
        for (std::size_t i = 0; i < 4; ++i) {
            const test::SweptGpu& gpu = gpus[(at * 5 + i * 9) % gpus.size()];
            if (!pipe_for(layer, gpu.machine)) continue;
            ++pairs;
            for (const std::string& what : test::broken_invariants(layer, gpu))
                if (++broken <= 10) ADD_FAILURE() << test::text_of(layer) << " on " << gpu.machine.id << ": " << what;
        }
    }
    EXPECT_EQ(broken, 0U);
}

Layer gradient(std::int64_t pad) {
    Convolution v;
    v.n = 48, v.c = 320, v.h = v.w = 5, v.k = 96, v.r = v.s = 3;
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = pad;
    Layer layer{"layer", v};
    layer.pass = Pass::dgrad;
    return layer;
}

TEST(Sweep, a_gradient_of_a_layer_padded_by_more_than_its_filter_does_fewer_flop_than_are_counted) {
    EXPECT_EQ(kernel_flop(gradient(1)), flop(gradient(1)));
    EXPECT_LT(kernel_flop(gradient(4)), flop(gradient(4)));
}

TEST(Sweep, a_reduction_of_a_hundred_thousand_is_split_over_the_sms) {
    const Machine& v100 = *find_in_catalogue("v100-sxm2-16gb");
    Convolution v;
    v.n = 1, v.c = 100000, v.h = v.w = 1, v.k = 64, v.r = v.s = 1;
    const Layer layer{"layer", v};
    const Prediction p = predict(layer, v100, *model_inputs(v100));
    EXPECT_GT(p.grid.split_k, 40);
    const Seconds bytes = p.traffic.dram.total() / model_inputs(v100)->dram_bandwidth;
    EXPECT_LT(p.time, 10 * bytes + Seconds{20e-6});
}

}  // namespace
}  // namespace gambrel
