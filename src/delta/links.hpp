// The bandwidth between the GPUs of a node, by the board: data/model/links.json.
#pragma once

#include <gambrel/machine.hpp>

namespace gambrel::delta_detail {

Bandwidth link_of(const Machine& machine);

}  // namespace gambrel::delta_detail
