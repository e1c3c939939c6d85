// Host time that grows along the rows of a GPU. Internal to the room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include <gambrel/validate.hpp>

namespace gambrel::validate_detail {

// By line of the table: where a framework's call stands among those of its GPU and kind of operator, from 0 to 1.
using Places = std::unordered_map<std::size_t, double>;
Places places_of_calls(const LayerTable& table);
std::vector<FoundDrift> add_drifts(const Places& places, std::vector<ValidationRow>& rows);

}  // namespace gambrel::validate_detail
