#include <array>
#include <string>

#include "network/builder.hpp"
#include "network/builtin.hpp"

namespace gambrel::network_detail {
namespace {

enum class StrideOn : std::uint8_t { first_1x1, the_3x3 };

Tensor bottleneck(NetworkBuilder& net, const std::string& name, Tensor x, std::int64_t width, std::int64_t stride,
                  StrideOn where) {
    const std::int64_t first = where == StrideOn::first_1x1 ? stride : 1;
    Tensor y = net.conv_bn_relu(name + ".conv1", x, {.k = width, .stride = first});
    y = net.conv_bn_relu(name + ".conv2", y, {.k = width, .filter = 3, .stride = stride / first, .pad = 1});
    y = net.batch_norm(name + ".conv3.bn", net.conv(name + ".conv3", y, {.k = 4 * width}));
    if (x.c != 4 * width || stride != 1)
        x = net.batch_norm(name + ".shortcut.bn", net.conv(name + ".shortcut", x, {.k = 4 * width, .stride = stride}));
    return net.relu(name + ".relu", net.add(name + ".add", y, x));
}

Network resnet(const std::string& name, const std::array<int, 4>& blocks, StrideOn where,
               const BuiltinOptions& options) {
    NetworkBuilder net(name, "");
    Tensor x = net.input("data", {options.batch, 3, 224, 224});
    x = net.conv_bn_relu("conv1", x, {.k = 64, .filter = 7, .stride = 2, .pad = 3});
    x = net.max_pool("pool1", x, {.filter = 3, .stride = 2, .pad = 1});
    for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
        for (int block = 0; block < blocks[stage]; ++block)
            x = bottleneck(net, "conv" + std::to_string(stage + 2) + "_" + std::to_string(block + 1), x,
                           std::int64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1, where);
    }
    net.softmax("prob", net.fc("fc", net.average_pool("pool5", x), 1000));
    return net.take();
}

// Sandler et al., table 2: expansion, channels, repeats, stride of the first.
struct Inverted {
    std::int64_t expansion, channels, repeats, stride;
};
constexpr std::array<Inverted, 7> kInverted = {{
    {1, 16, 1, 1},
    {6, 24, 2, 2},
    {6, 32, 3, 2},
    {6, 64, 4, 2},
    {6, 96, 3, 1},
    {6, 160, 3, 2},
    {6, 320, 1, 1},
}};

}  // namespace

Network resnet50(const BuiltinOptions& options) {
    return resnet("resnet50", {3, 4, 6, 3}, StrideOn::first_1x1, options);
}
Network resnet50_v15(const BuiltinOptions& options) {
    return resnet("resnet50-v1.5", {3, 4, 6, 3}, StrideOn::the_3x3, options);
}
Network resnet152(const BuiltinOptions& options) {
    return resnet("resnet152", {3, 8, 36, 3}, StrideOn::first_1x1, options);
}

Network mobilenet_v2(const BuiltinOptions& options) {
    NetworkBuilder net("mobilenet-v2", "");
    Tensor x = net.input("data", {options.batch, 3, 224, 224});
    x = net.conv_bn_relu("conv1", x, {.k = 32, .filter = 3, .stride = 2, .pad = 1});
    int number = 0;
    for (const Inverted& stage : kInverted) {
        for (std::int64_t i = 0; i < stage.repeats; ++i) {
            const std::string name = "block" + std::to_string(++number);
            const std::int64_t wide = x.c * stage.expansion, stride = i == 0 ? stage.stride : 1;
            Tensor y = x;
            if (stage.expansion != 1) y = net.conv_bn_relu(name + ".expand", y, {.k = wide});
            y = net.conv_bn_relu(name + ".depthwise", y,
                                 {.k = wide, .filter = 3, .stride = stride, .pad = 1, .groups = wide});
            y = net.batch_norm(name + ".project.bn", net.conv(name + ".project", y, {.k = stage.channels}));
            x = stride == 1 && x.c == y.c ? net.add(name + ".add", y, x) : y;
        }
    }
    x = net.conv_bn_relu("conv_last", x, {.k = 1280});
    net.softmax("prob", net.fc("fc", net.average_pool("pool", x), 1000));
    return net.take();
}

}  // namespace gambrel::network_detail
