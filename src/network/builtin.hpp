// The built-in networks, each as its paper has it. Code and not data: a network is its blocks and how they repeat, and
// takes a batch; a data file would store hundreds of shapes that follow from them.
#pragma once

#include <gambrel/network.hpp>

namespace gambrel::network_detail {

Network alexnet(const BuiltinOptions& options);
Network alexnet_grouped(const BuiltinOptions& options);
Network vgg16(const BuiltinOptions& options);
Network googlenet(const BuiltinOptions& options);
Network resnet50(const BuiltinOptions& options);
Network resnet50_v15(const BuiltinOptions& options);
Network resnet152(const BuiltinOptions& options);
Network mobilenet_v2(const BuiltinOptions& options);
Network unet(const BuiltinOptions& options);
Network deeplab_xception(const BuiltinOptions& options);
Network bert_base(const BuiltinOptions& options);

}  // namespace gambrel::network_detail
