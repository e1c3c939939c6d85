// Kernels without shapes (of CUDA graphs, of Nsight Systems) to the layers of a network that the user names: both are
// sequences, and a kernel's name and grid say which layers it can be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gambrel/network.hpp>
#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

struct NetworkMatch {
    std::vector<Layer> layers;        // of one run of the network that multiply, in order, repeats written out
    std::vector<std::int32_t> of;     // of each activity: index into `layers`; -1: none
    std::vector<std::int32_t> split;  // of each activity: CTAs to a tile of that layer
    std::string note;                 // how much was matched
};
// `open` are the activities whose work nothing else tells, by rank and start. Where the sequences do not fit, nothing
// is matched, and the note says so.
NetworkMatch match_network(const Timeline& timeline, const std::vector<std::size_t>& open,
                           const std::vector<Layer>& network);

// "at most 4096 x 1024 by its name and grid": what is known of a product without shapes; empty: nothing.
std::string result_size(const Activity& activity);

}  // namespace gambrel::trace_detail
