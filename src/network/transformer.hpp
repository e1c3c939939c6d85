// FLOP and compulsory bytes of attention and of experts.
#pragma once

#include <gambrel/layer.hpp>

namespace gambrel::network_detail {

Flops attention_flop(const Attention& attention, Pass pass);
OperandBytes attention_bytes(const Attention& attention, const Layer& layer);
Flops experts_flop(const MixtureOfExperts& moe);
OperandBytes experts_bytes(const MixtureOfExperts& moe, const Layer& layer);

}  // namespace gambrel::network_detail
