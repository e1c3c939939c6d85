// One row of a layer table to layers, or to the reasons why not, all at once.
#pragma once

#include <gambrel/network.hpp>

#include "network/layer_columns.hpp"

namespace gambrel::network_detail {

// Fills `layers` or `reason` of a row whose cells are set.
void read_row(LayerRow& row, const LayerColumns& columns, const LayerTableOptions& options);

}  // namespace gambrel::network_detail
