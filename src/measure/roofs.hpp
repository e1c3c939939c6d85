// Which ceilings are roofs, and whether they can all be true at once. Pure.
#pragma once

#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel::measure_detail {

// What an outer level serves passes through every level inside it, so an inner level cannot be the slower one. True for
// loads of an inner level that a proven outer one beats.
bool below_outer_level(const MeasuredCeiling& ceiling, const std::vector<MeasuredCeiling>& all);

// Applies that rule to the fastest ceiling of each level. One that falls short by little takes the outer level's rate,
// which passed through it; by more, it failed.
void check_level_order(std::vector<MeasuredCeiling>& all);

// All units together cannot be slower than one of them alone. True for the rate of several units that the same probe on
// fewer units beats.
bool below_fewer_units(const MeasuredCeiling& ceiling, const std::vector<MeasuredCeiling>& all);

// Applies that rule as check_level_order does: units that never ran at the same time show the scheduler, not the
// machine.
void check_unit_order(std::vector<MeasuredCeiling>& all);

// Marks the roof of each pipe and level: the fastest that proved itself, measured on the whole device.
void choose_roofs(Measurement& measurement);

}  // namespace gambrel::measure_detail
