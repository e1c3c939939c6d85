// One row of a layer table to layers, or to the reasons why not, all at once.
#pragma once

#include <gambrel/network.hpp>

#include "network/layer_columns.hpp"
#include "network/row_memo.hpp"

namespace gambrel::network_detail {

struct RowText {
    std::span<const std::string_view> cells;
    std::string_view text;  // that holds the cells, but those in which quotes were undoubled; may be empty
};
// Sets `layers`, or `reason` of a row that has none yet and clears them.
void read_row(LayerRow& row, const RowText& text, const LayerColumns& columns, const LayerTableOptions& options,
              RowMemo& memo);

}  // namespace gambrel::network_detail
