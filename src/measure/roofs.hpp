// What a ceiling's samples say, whether all ceilings can be true at once, and which of them are roofs. Pure.
#pragma once

#include <vector>

#include <gambrel/measure.hpp>

#include "measure/statistics.hpp"

namespace gambrel::measure_detail {

// Value, spread and marks of a ceiling by its samples; `notes` are those of the driver and the sweep.
void set_estimate(MeasuredCeiling& ceiling, const Repeater& samples, const std::vector<std::string>& notes);

// Worth another look: something may have slowed it down.
bool looks_slowed(const MeasuredCeiling& ceiling, const Measurement& measurement);

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
