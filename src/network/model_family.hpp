// Families of transformers by their model_type: what their code fixes and their configuration does not say.
#pragma once

#include <cstdint>
#include <string_view>

namespace gambrel::network_detail {

struct ModelFamily {
    std::string_view name;  // model_type
    bool gated = true, rotary = true, rms_norm = true, biases = false;
    bool tied = false;                 // the output matrix is the embedding unless the configuration says otherwise
    bool encoder = false;              // attends to all positions
    bool four_times = false;           // intermediate size where none is given: four times the hidden size
    std::int64_t sliding_pattern = 0;  // every so many-th layer sees all positions, the others a window
    bool shared_as_routed = false;     // one shared expert, as large as a routed one
};

// Null if the family is not known.
const ModelFamily* find_family(std::string_view model_type);

// Why models of this family cannot be predicted; empty for all others.
std::string_view why_not_modelled(std::string_view model_type);

}  // namespace gambrel::network_detail
