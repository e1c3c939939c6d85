#include "network/builtin.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gambrel {
namespace {

using namespace network_detail;

constexpr std::array<BuiltinNetwork, 11> kNetworks = {{
    {"alexnet", "AlexNet, one tower (arXiv 1404.5997, torchvision), 3x224x224"},
    {"alexnet-grouped", "AlexNet as of 2012, two towers as groups, 3x227x227"},
    {"vgg16", "VGG-16 (arXiv 1409.1556, D), 3x224x224"},
    {"googlenet", "GoogLeNet (arXiv 1409.4842) without auxiliary classifiers, 3x224x224"},
    {"resnet50", "ResNet-50 (arXiv 1512.03385), stride on the first 1x1 of a stage, 3x224x224"},
    {"resnet50-v1.5", "ResNet-50, stride on the 3x3 of a stage, 3x224x224"},
    {"resnet152", "ResNet-152 (arXiv 1512.03385), stride on the first 1x1 of a stage, 3x224x224"},
    {"mobilenet-v2", "MobileNetV2 1.0 (arXiv 1801.04381), 3x224x224"},
    {"unet", "U-Net (arXiv 1505.04597), no padding, 1x572x572 to 2x388x388"},
    {"deeplabv3plus-xception", "DeepLabv3+ with Xception as in DeepCAM, 16x768x1152"},
    {"bert-base", "BERT-base encoder (arXiv 1810.04805), sequence 128 unless given"},
}};
using Make = Network (*)(const BuiltinOptions&);
constexpr std::array<Make, kNetworks.size()> kMakers = {alexnet,  alexnet_grouped,  vgg16,     googlenet,
                                                        resnet50, resnet50_v15,     resnet152, mobilenet_v2,
                                                        unet,     deeplab_xception, bert_base};

constexpr std::int64_t kLargestBatch = 1 << 20, kLongestSequence = 1 << 20;

}  // namespace

std::span<const BuiltinNetwork> builtin_networks() { return kNetworks; }

Result<Network> builtin_network(std::string_view name, const BuiltinOptions& options) {
    Errors faults;
    if (options.batch < 1 || options.batch > kLargestBatch)
        faults.push_back({"batch", fmt::format("is {}, expected 1 to {}", options.batch, kLargestBatch)});
    if (options.sequence < 1 || options.sequence > kLongestSequence)
        faults.push_back({"sequence", fmt::format("is {}, expected 1 to {}", options.sequence, kLongestSequence)});
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kNetworks.size(); ++i) {
        names.emplace_back(kNetworks[i].name);
        if (kNetworks[i].name != name || !faults.empty()) continue;
        Network network = kMakers[i](options);
        if (network.note.empty()) network.note = kNetworks[i].what;
        return network;
    }
    if (std::find(names.begin(), names.end(), name) == names.end())
        faults.push_back({std::string(name), fmt::format("not one of the built-in networks ({}){}",
                                                         fmt::join(names, ", "), did_you_mean(name, names))});
    return tl::unexpected(std::move(faults));
}

}  // namespace gambrel
