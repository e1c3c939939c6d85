#include <array>
#include <string>
#include <vector>

#include "network/builder.hpp"
#include "network/builtin.hpp"

namespace gambrel::network_detail {
namespace {

Tensor separable(NetworkBuilder& net, const std::string& name, Tensor x, std::int64_t k, std::int64_t stride = 1,
                 std::int64_t dilation = 1) {
    x = net.conv(name + ".depthwise", x,
                 {.k = x.c, .filter = 3, .stride = stride, .pad = dilation, .dilation = dilation, .groups = x.c});
    return net.conv(name + ".pointwise", x, {.k = k});
}

struct Block {
    std::vector<std::int64_t> outputs;  // of its separable convolutions, each behind a ReLU and before a norm
    std::int64_t stride = 1;
    bool first_relu = true;
    bool bare_last = false;  // one more separable convolution, without ReLU and norm; it takes the stride
};

Tensor xception_block(NetworkBuilder& net, const std::string& name, const Tensor& in, const Block& block) {
    Tensor x = in;
    int number = 0;
    for (const std::int64_t k : block.outputs) {
        const std::string step = name + ".sep" + std::to_string(++number);
        if (block.first_relu || number > 1) x = net.relu(step + ".relu", x);
        x = net.batch_norm(step + ".bn", separable(net, step, x, k));
    }
    if (block.bare_last) x = separable(net, name + ".sep" + std::to_string(++number), x, x.c, block.stride);
    Tensor skip = in;
    if (in.c != x.c || block.stride != 1)
        skip = net.batch_norm(name + ".skip.bn", net.conv(name + ".skip", in, {.k = x.c, .stride = block.stride}));
    return net.add(name + ".add", x, skip);
}

struct Features {
    Tensor deep, low;
};

Features xception(NetworkBuilder& net, Tensor x) {
    x = net.conv_bn_relu("conv1", x, {.k = 32, .filter = 3, .stride = 2, .pad = 1});
    x = net.conv_bn_relu("conv2", x, {.k = 64, .filter = 3, .pad = 1});
    x = xception_block(net, "block1", x, {{128, 128}, 2, false, true});
    const Tensor low = x;
    x = xception_block(net, "block2", x, {{256, 256}, 2, true, true});
    x = xception_block(net, "block3", x, {{728, 728}, 2, true, true});
    for (int i = 4; i <= 19; ++i) x = xception_block(net, "block" + std::to_string(i), x, {{728, 728, 728}});
    x = xception_block(net, "block20", x, {{728, 1024}, 1, true, true});
    for (const auto& [name, k] : {std::pair{"conv3", 1536}, {"conv4", 1536}, {"conv5", 2048}})
        x = net.relu(std::string(name) + ".relu",
                     net.batch_norm(std::string(name) + ".bn", separable(net, name, x, k, 1, 2)));
    return {x, low};
}

Tensor deconv_bn_relu(NetworkBuilder& net, const std::string& name, Tensor x) {
    x = net.conv_transposed(name, x, {.k = 256, .filter = 3, .stride = 2, .pad = 1}, 1);
    return net.relu(name + ".relu", net.batch_norm(name + ".bn", x));
}

}  // namespace

// The network of the DeepCAM benchmark that the rows of conv_traffic_v100_deepcam.csv were measured on: output stride
// 16, and a decoder that goes back to full resolution by transposed convolutions (Kurth et al., arXiv 1810.01993).
Network deeplab_xception(const BuiltinOptions& options) {
    NetworkBuilder net("deeplabv3plus-xception", "");
    const auto [x, low] = xception(net, net.input("data", {options.batch, 16, 768, 1152}));
    std::vector<Tensor> pyramid = {net.conv_bn_relu("aspp1", x, {.k = 256})};
    for (const auto& [name, rate] : {std::pair{"aspp2", 6}, {"aspp3", 12}, {"aspp4", 18}})
        pyramid.push_back(net.conv_bn_relu(name, x, {.k = 256, .filter = 3, .pad = rate, .dilation = rate}));
    const Tensor global = net.conv_bn_relu("aspp5", net.average_pool("aspp5.pool", x), {.k = 256});
    pyramid.push_back(net.copy("aspp5.tile", global, {x.n, 256, x.h, x.w}));
    Tensor y = net.conv_bn_relu("aspp.project", net.concat("aspp.concat", pyramid), {.k = 256});
    const Tensor reduced = net.conv_bn_relu("low.reduce", low, {.k = 48});

    y = deconv_bn_relu(net, "decoder.deconv2", deconv_bn_relu(net, "decoder.deconv1", y));
    y = net.concat("decoder.concat", {y, reduced});
    y = net.conv_bn_relu("decoder.conv1", y, {.k = 256, .filter = 3, .pad = 1});
    y = net.conv_bn_relu("decoder.conv2", y, {.k = 256, .filter = 3, .pad = 1});
    y = net.conv("decoder.conv3", y, {.k = 256, .bias = true});
    y = deconv_bn_relu(net, "decoder.deconv3", y);
    net.conv_transposed("decoder.deconv4", y, {.k = 3, .filter = 3, .stride = 2, .pad = 1}, 1);
    return net.take();
}

Network unet(const BuiltinOptions& options) {
    constexpr std::int64_t kWidth = 64, kDepth = 4;
    NetworkBuilder net("unet", "");
    const auto pair = [&net](const std::string& name, Tensor t, std::int64_t k) {
        t = net.conv_bias_relu(name + ".conv1", t, {.k = k, .filter = 3});
        return net.conv_bias_relu(name + ".conv2", t, {.k = k, .filter = 3});
    };
    Tensor x = net.input("data", {options.batch, 1, 572, 572});
    std::vector<Tensor> kept;
    for (std::int64_t level = 0; level < kDepth; ++level) {
        const std::string name = "down" + std::to_string(level + 1);
        kept.push_back(pair(name, x, kWidth << level));
        x = net.max_pool(name + ".pool", kept.back(), {});
    }
    x = pair("bottom", x, kWidth << kDepth);
    for (std::int64_t level = kDepth - 1; level >= 0; --level) {
        const std::string name = "up" + std::to_string(level + 1);
        x = net.conv_transposed(name + ".upconv", x, {.k = kWidth << level, .filter = 2, .stride = 2, .bias = true});
        const Tensor cropped = net.copy(name + ".crop", kept[static_cast<std::size_t>(level)], x);
        x = pair(name, net.concat(name + ".concat", {cropped, x}), kWidth << level);
    }
    net.softmax("prob", net.conv("classes", x, {.k = 2, .bias = true}));
    return net.take();
}

}  // namespace gambrel::network_detail
