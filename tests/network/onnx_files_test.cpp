// Do real ONNX files give the work that was published of them, and the shapes that they declare?
#include <gambrel/network.hpp>

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_bytes.hpp"
#include "network/onnx_messages.hpp"

namespace gambrel {
namespace {

namespace fs = std::filesystem;

std::string models() {
    const char* given = std::getenv("GAMBREL_ONNX_MODELS");
    return given != nullptr ? given : GAMBREL_ONNX_MODELS;
}
#define GAMBREL_NEEDS_MODELS(path)                   \
    if (!fs::exists(path))                           \
    GTEST_SKIP() << "no ONNX models at \"" << (path) \
                 << "\"; set GAMBREL_ONNX_MODELS to onnx/backend/test/data of the Python package onnx"

struct Light {
    const char* name;
    double macs, parameters;  // 0: none published
};
class LightModels : public testing::TestWithParam<Light> {};

TEST_P(LightModels, have_the_published_work) {
    const std::string path = models() + "/light/light_" + GetParam().name + ".onnx";
    GAMBREL_NEEDS_MODELS(path);
    const auto network = load_onnx(path);
    ASSERT_TRUE(network) << to_text(network.error());
    EXPECT_THAT(network->unmodelled, testing::IsEmpty());
    EXPECT_THAT(network->notes, testing::IsEmpty()) << to_text(network->notes);
    EXPECT_NEAR(totals(*network).matrix_flop.value() / 2 / GetParam().macs, 1, 0.03);
    EXPECT_NEAR(network->parameters / GetParam().parameters, 1, 0.01);
    for (const Layer& layer : network->layers) EXPECT_THAT(faults(layer), testing::IsEmpty()) << layer.name;

    const auto batched = load_onnx(path, {16, {}});
    ASSERT_TRUE(batched) << to_text(batched.error());
    EXPECT_THAT(batched->unmodelled, testing::IsEmpty());
    EXPECT_DOUBLE_EQ(totals(*batched).flop.value(), 16 * totals(*network).flop.value());
}

// At 224x224. DenseNet-121 has 7.98 M parameters; its file has scales and shifts twice, as norms and as Mul and Add
// behind them, 0.084 M more. The AlexNet and ZFNet of this package, of 54 and 109 pixels after conv1, by hand from
// their shapes.
INSTANTIATE_TEST_SUITE_P(Onnx, LightModels,
                         testing::Values(Light{"bvlc_alexnet", 0.6546e9, 60.97e6}, Light{"densenet121", 2.83e9, 8.06e6},
                                         Light{"inception_v1", 1.43e9, 7.0e6}, Light{"inception_v2", 2.02e9, 11.2e6},
                                         Light{"resnet50", 4.09e9, 25.56e6}, Light{"shufflenet", 0.124e9, 1.4e6},
                                         Light{"squeezenet", 0.349e9, 1.235e6}, Light{"vgg19", 19.63e9, 143.67e6},
                                         Light{"zfnet512", 1.48e9, 87.3e6}),
                         [](const auto& model) { return std::string(model.param.name); });

void compare_outputs(const std::string& path, int& compared) {
    const auto bytes = base_detail::FileBytes::open(path);
    ASSERT_TRUE(bytes);
    const auto network = read_onnx(bytes->view(), path);
    if (!network || !network->unmodelled.empty()) return;  // its outputs may be the file's own word
    for (const auto& declared : network_detail::decode_onnx_model(bytes->view()).outputs) {
        for (const NamedShape& found : network->outputs) {
            if (found.name != declared.name || !declared.has_shape) continue;
            ASSERT_EQ(found.dims.size(), declared.dims.size()) << path << " " << found.name;
            for (std::size_t i = 0; i < found.dims.size(); ++i) {
                const std::int64_t stated = declared.dims[i].value;
                EXPECT_TRUE(stated < 1 || stated == found.dims[i]) << path << " " << found.name << " dimension " << i;
            }
            ++compared;
        }
    }
}

TEST(OnnxFiles, resnet50_is_the_built_in_one) {
    const std::string path = models() + "/light/light_resnet50.onnx";
    GAMBREL_NEEDS_MODELS(path);
    const auto file = load_onnx(path), built = builtin_network("resnet50-v1.5");
    ASSERT_TRUE(file && built);
    EXPECT_EQ(file->layers.size(), built->layers.size());
    EXPECT_EQ(file->parameters, built->parameters);
    EXPECT_EQ(totals(*file).matrix_flop, totals(*built).matrix_flop);
    EXPECT_DOUBLE_EQ(totals(*file).flop.value(), totals(*built).flop.value());
    EXPECT_DOUBLE_EQ(totals(*file).bytes.value(), totals(*built).bytes.value());
    EXPECT_DOUBLE_EQ(totals(training(*file)).flop.value(), totals(training(*built)).flop.value());
}

TEST(OnnxFiles, infer_the_outputs_that_they_declare) {
    GAMBREL_NEEDS_MODELS(models());
    int compared = 0;
    for (const auto& entry : fs::recursive_directory_iterator(models()))
        if (entry.path().extension() == ".onnx") compare_outputs(entry.path().string(), compared);
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace gambrel
