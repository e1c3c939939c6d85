// Rows of measured tables that two GPUs have in common. Internal to the room.
#pragma once

#include <string>

#include <gambrel/network.hpp>

namespace gambrel::explore_detail {

// What is computed, so that rows of two GPUs can be compared; empty for operators that are not.
std::string shape_of(const Layer& layer);
// Seconds of the row; 0 if it has none.
double measured_time(const LayerTable& table, const LayerRow& row);

}  // namespace gambrel::explore_detail
