// How cuDNN and cuBLAS tile a layer where nothing says so, and what a tile needs of an SM. docs/model.md states these
// rules with their sources. Internal to the room.
#pragma once

#include <gambrel/mapping.hpp>

namespace gambrel::mapping_detail {

// Kepler, Maxwell, ... by compute capability; a machine without one counts as the newest.
ComputeCapability capability(const Machine& machine);
// That multiplies for this layer on this machine: a Tensor Core where it has one for the precision and the row does not
// say otherwise.
Pipe pipe_for(const Layer& layer, const Machine& machine);

// Tile of a layer of which nothing is known.
Tile tile_by_rule(const Layer& layer, const GemmView& view, const Machine& machine, Pipe pipe);
// Threads, registers, shared memory and warp tile for m.cta, m.stages and m.pipe.
void give_resources(Mapping& m, const Layer& layer, const Machine& machine, KernelName::Family family);
// What a warp loads with one request, by pass, layout and family.
void give_loads(Mapping& m, const Layer& layer, const Machine& machine, const KernelName& name);
// CTAs that share an output tile, so that a short grid with a long reduction fills the machine.
std::int32_t split_by_rule(const Layer& layer, const GemmView& view, const Mapping& m, const Machine& machine,
                           KernelName::Family family);

}  // namespace gambrel::mapping_detail
