#include <array>
#include <string>

#include "network/builder.hpp"
#include "network/builtin.hpp"

namespace gambrel::network_detail {
namespace {

Tensor classifier(NetworkBuilder& net, Tensor x) {
    x = net.relu("fc6.relu", net.fc("fc6", x, 4096));
    x = net.relu("fc7.relu", net.fc("fc7", {x.h, x.w, 1, 1, true}, 4096));
    return net.softmax("prob", net.fc("fc8", {x.h, x.w, 1, 1, true}, 1000));
}

// Szegedy et al., table 1: 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, pool projection.
struct Inception {
    const char* name;
    std::int64_t one, reduce3, three, reduce5, five, project;
};
constexpr std::array<Inception, 9> kInceptions = {{
    {"3a", 64, 96, 128, 16, 32, 32},
    {"3b", 128, 128, 192, 32, 96, 64},
    {"4a", 192, 96, 208, 16, 48, 64},
    {"4b", 160, 112, 224, 24, 64, 64},
    {"4c", 128, 128, 256, 24, 64, 64},
    {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128},
    {"5a", 256, 160, 320, 32, 128, 128},
    {"5b", 384, 192, 384, 48, 128, 128},
}};

Tensor inception(NetworkBuilder& net, Tensor x, const Inception& i) {
    const std::string name = std::string("inception_") + i.name;
    const Tensor one = net.conv_bias_relu(name + ".1x1", x, {.k = i.one});
    Tensor three = net.conv_bias_relu(name + ".3x3_reduce", x, {.k = i.reduce3});
    three = net.conv_bias_relu(name + ".3x3", three, {.k = i.three, .filter = 3, .pad = 1});
    Tensor five = net.conv_bias_relu(name + ".5x5_reduce", x, {.k = i.reduce5});
    five = net.conv_bias_relu(name + ".5x5", five, {.k = i.five, .filter = 5, .pad = 2});
    Tensor pool = net.max_pool(name + ".pool", x, {.filter = 3, .stride = 1, .pad = 1});
    pool = net.conv_bias_relu(name + ".pool_proj", pool, {.k = i.project});
    return net.concat(name + ".concat", {one, three, five, pool});
}

}  // namespace

Network alexnet(const BuiltinOptions& options) {
    NetworkBuilder net("alexnet", "");
    Tensor x = net.input("data", {options.batch, 3, 224, 224});
    x = net.conv_bias_relu("conv1", x, {.k = 64, .filter = 11, .stride = 4, .pad = 2});
    x = net.max_pool("pool1", x, {.filter = 3, .stride = 2});
    x = net.conv_bias_relu("conv2", x, {.k = 192, .filter = 5, .pad = 2});
    x = net.max_pool("pool2", x, {.filter = 3, .stride = 2});
    x = net.conv_bias_relu("conv3", x, {.k = 384, .filter = 3, .pad = 1});
    x = net.conv_bias_relu("conv4", x, {.k = 256, .filter = 3, .pad = 1});
    x = net.conv_bias_relu("conv5", x, {.k = 256, .filter = 3, .pad = 1});
    classifier(net, net.max_pool("pool5", x, {.filter = 3, .stride = 2}));
    return net.take();
}

Network alexnet_grouped(const BuiltinOptions& options) {
    NetworkBuilder net("alexnet-grouped", "");
    Tensor x = net.input("data", {options.batch, 3, 227, 227});
    x = net.conv_bias_relu("conv1", x, {.k = 96, .filter = 11, .stride = 4});
    x = net.max_pool("pool1", net.lrn("norm1", x, 5), {.filter = 3, .stride = 2});
    x = net.conv_bias_relu("conv2", x, {.k = 256, .filter = 5, .pad = 2, .groups = 2});
    x = net.max_pool("pool2", net.lrn("norm2", x, 5), {.filter = 3, .stride = 2});
    x = net.conv_bias_relu("conv3", x, {.k = 384, .filter = 3, .pad = 1});
    x = net.conv_bias_relu("conv4", x, {.k = 384, .filter = 3, .pad = 1, .groups = 2});
    x = net.conv_bias_relu("conv5", x, {.k = 256, .filter = 3, .pad = 1, .groups = 2});
    classifier(net, net.max_pool("pool5", x, {.filter = 3, .stride = 2}));
    return net.take();
}

Network vgg16(const BuiltinOptions& options) {
    constexpr std::array<std::array<std::int64_t, 2>, 5> kStages = {{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}};
    NetworkBuilder net("vgg16", "");
    Tensor x = net.input("data", {options.batch, 3, 224, 224});
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
        const std::string number = std::to_string(stage + 1);
        for (std::int64_t i = 1; i <= kStages[stage][1]; ++i)
            x = net.conv_bias_relu("conv" + number + "_" + std::to_string(i), x,
                                   {.k = kStages[stage][0], .filter = 3, .pad = 1});
        x = net.max_pool("pool" + number, x, {});
    }
    classifier(net, x);
    return net.take();
}

Network googlenet(const BuiltinOptions& options) {
    constexpr PoolStep kPool{.filter = 3, .stride = 2, .pad = 0, .ceil = true};
    NetworkBuilder net("googlenet", "");
    Tensor x = net.input("data", {options.batch, 3, 224, 224});
    x = net.conv_bias_relu("conv1", x, {.k = 64, .filter = 7, .stride = 2, .pad = 3});
    x = net.lrn("norm1", net.max_pool("pool1", x, kPool), 5);
    x = net.conv_bias_relu("conv2_reduce", x, {.k = 64});
    x = net.conv_bias_relu("conv2", x, {.k = 192, .filter = 3, .pad = 1});
    x = net.max_pool("pool2", net.lrn("norm2", x, 5), kPool);
    for (const Inception& i : kInceptions) {
        x = inception(net, x, i);
        const std::string_view name = i.name;
        if (name == "3b" || name == "4e") x = net.max_pool("pool_" + std::string(name), x, kPool);
    }
    x = net.average_pool("pool5", x);
    net.softmax("prob", net.fc("fc", x, 1000));
    return net.take();
}

}  // namespace gambrel::network_detail
