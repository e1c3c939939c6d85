// Is the algorithm that the model takes the one that it predicts to be fastest, and is nothing else charged for it?
#include <gtest/gtest.h>

#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

struct Gpu {
    const Machine& on;
    ModelInputs inputs;
    explicit Gpu(const char* name) : on(machine(name)), inputs(*model_inputs(on)) {}
    [[nodiscard]] Seconds time(const Layer& layer) const { return predict(layer, on, inputs).time; }
};

Layer left_open(Layer layer) {
    layer.hints.algorithm = kFastestAlgorithm;
    return layer;
}

TEST(FastestAlgorithm, is_no_slower_than_any_other) {
    for (const char* name : {"k80", "p100", "v100", "a100"}) {
        const Gpu gpu(name);
        for (const std::int64_t images : {1, 4, 64})
            for (const std::int64_t size : {7, 28, 112})
                for (const std::int64_t filter : {1, 3, 5}) {
                    const Layer layer = left_open(layer_of(square(images, 64, size, 128, filter, filter / 2)));
                    const Seconds found = gpu.time(by_fastest_algorithm(layer, gpu.on, gpu.inputs));
                    for (const Layer& other : by_library_algorithms(layer, gpu.on)) {
                        EXPECT_LE(found, gpu.time(other)) << name << " " << other.hints.algorithm;
                    }
                }
    }
}

TEST(FastestAlgorithm, of_many_3x3_images_is_winograds) {
    const Gpu gpu("v100");
    const Layer found = by_fastest_algorithm(left_open(layer_of(square(64, 256, 28, 256, 3, 1))), gpu.on, gpu.inputs);
    EXPECT_EQ(found.hints.algorithm, "WINOGRAD_NONFUSED");
}

// A row that names an algorithm timed a library's call; a layer of a network for which the model found one did not.
TEST(FastestAlgorithm, is_not_charged_for_a_call) {
    const Gpu gpu("v100");
    Layer found = by_fastest_algorithm(left_open(layer_of(square(64, 64, 56, 64, 3, 1))), gpu.on, gpu.inputs);
    ASSERT_EQ(found.hints.algorithm, "WINOGRAD");
    EXPECT_FALSE(timing_of(found.hints).has_value());
    const Seconds in_network = gpu.time(found);
    found.hints.algorithm_found = false;
    EXPECT_EQ(timing_of(found.hints), Timing::call);
    EXPECT_GT(gpu.time(found), in_network);
}

TEST(FastestAlgorithm, leaves_other_layers_as_they_are) {
    const Gpu gpu("a100");
    Layer half = left_open(layer_of(square(64, 64, 56, 64, 3, 1), Pass::fwd, Precision::fp16));
    EXPECT_EQ(by_fastest_algorithm(half, gpu.on, gpu.inputs).hints.algorithm, "");
    Layer named = layer_of(square(64, 64, 56, 64, 3, 1));
    named.hints.algorithm = "IMPLICIT_GEMM";
    EXPECT_EQ(by_fastest_algorithm(named, gpu.on, gpu.inputs).hints.algorithm, "IMPLICIT_GEMM");
}

}  // namespace
}  // namespace gambrel
