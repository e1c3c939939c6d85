// FLOP and bytes of layers that stream: a table of kinds. It holds no layer that reuses what it reads.
#pragma once

#include <gambrel/network.hpp>

namespace gambrel::network_detail {

Flops streaming_flop(const Streaming& layer, Pass pass);
OperandBytes streaming_bytes(const Streaming& layer, Pass pass, Precision precision);

}  // namespace gambrel::network_detail
